package file

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

const (
	maxLines = 2000     // of one read
	maxBytes = 50 << 10 // of one read
	inMemory = 32 << 20 // larger files are read line by line
	maxImage = 5 << 20  // of a picture for a model
	maxDots  = 40 * 1000 * 1000
	maxNames = 200 // of a folder
)

//go:embed read.md
var readDescription string

type readTool struct{ *files }

func (t *readTool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "read", Description: strings.TrimSpace(readDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"File to read: relative to the workspace, or absolute"},` +
			`"offset":{"type":"integer","minimum":1,"description":"First line to read, from 1"},` +
			`"limit":{"type":"integer","minimum":1,"description":"How many lines to read"},` +
			`"pages":{"type":"string","description":"Of a PDF, slides, sheets or a book: which, as 3 or 3-7"},` +
			`"numbers":{"type":"boolean","description":"Put line numbers before the lines"}},"required":["path"]}`),
	}
}

type readArgs struct {
	Path     string
	FilePath string `json:"file_path"`
	Offset   int
	Limit    int
	Pages    string
	Numbers  bool
}

func (a readArgs) path() string {
	if a.Path == "" {
		return a.FilePath
	}
	return a.Path
}

func (t *readTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a readArgs
	if err := arguments(call, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Offset < 0 || a.Limit < 0 {
		return tool.Result{}, errors.New("offset and limit count from 1")
	}
	p, err := t.find(call, a.path())
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	if err := t.allow(ctx, call, p, Ask{Tool: "read", Written: a.path()}); err != nil {
		return tool.Result{}, err
	}
	h, st, err := p.Open()
	if err != nil {
		return t.noFile(p, err)
	}
	defer h.Close()
	res, err := t.show(ctx, call, p, h, st, a)
	if err != nil {
		return tool.Result{}, fmt.Errorf("read %s: %w", p.Name(), err)
	}
	now, err := h.Stat()
	if err != nil {
		return tool.Result{}, fmt.Errorf("read %s: %w", p.Name(), err)
	}
	if now.Size() != st.Size() || !now.ModTime().Equal(st.ModTime()) {
		res.Text += "\n\n[The file changed while it was read; read it again before you rely on it.]"
	}
	return res, nil
}

// noFile helps on: a folder is listed, near names are told.
func (t *readTool) noFile(p *safepath.Path, err error) (tool.Result, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Result{}, notFound(p)
	}
	if st, serr := p.Stat(); serr == nil && st != nil && st.IsDir() {
		names, lerr := p.List(maxNames)
		if lerr != nil {
			return tool.Result{}, fmt.Errorf("list %s: %w", p.Name(), lerr)
		}
		more := ""
		if len(names) == maxNames {
			more = "\n[there may be more]"
		}
		return tool.Text(fmt.Sprintf("%s is a folder:\n%s%s", p.Name(), strings.Join(names, "\n"), more)), nil
	}
	return tool.Result{}, fmt.Errorf("%s: %w", p.Name(), err)
}

func (t *readTool) show(ctx context.Context, call tool.Call, p *safepath.Path, h *os.File, st fs.FileInfo, a readArgs) (tool.Result,
	error) {
	head := make([]byte, min(st.Size(), sample+1))
	if _, err := io.ReadFull(h, head); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return tool.Result{}, err
	}
	enc, mime := kindOf(head)
	switch {
	case mime != "" && isPicture(mime):
		return t.picture(call, p, h, head, st, mime)
	case t.Document != nil && (mime != "" || a.Pages != "" || isDocument(p.Name())) && st.Size() <= inMemory:
		return t.document(ctx, p, head, h, st, a)
	case mime != "":
		return tool.Text(fmt.Sprintf("%s is a binary file, %s, %s; it is not shown.", p.Name(), size(st.Size()), mime)), nil
	}
	rest := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), h), 256<<10)
	out := page{first: max(a.Offset, 1), limit: a.Limit, numbers: a.Numbers}
	wide := enc == utf16LE || enc == utf16BE
	if st.Size() > inMemory && wide {
		return tool.Result{}, fmt.Errorf("it is %s of %s, and only up to %s of that can be read", size(st.Size()), enc, size(inMemory))
	}
	if wide {
		raw, err := io.ReadAll(io.LimitReader(rest, inMemory))
		if err != nil {
			return tool.Result{}, err
		}
		rest, enc = bufio.NewReader(strings.NewReader(enc.decode(raw))), utf8Plain
	}
	if enc == utf8BOM {
		if _, err := rest.Discard(len(bom)); err != nil {
			return tool.Result{}, err
		}
	}
	if err := out.read(ctx, rest, enc == latin1, st.Size() <= inMemory); err != nil {
		return tool.Result{}, err
	}
	return tool.Text(out.String(st.Size())), nil
}

func (t *readTool) picture(call tool.Call, p *safepath.Path, h io.Reader, head []byte, st fs.FileInfo, mime string) (tool.Result, error) {
	said := fmt.Sprintf("%s is a picture, %s, %s", p.Name(), size(st.Size()), mime)
	w, ht, ok := dimensions(head, mime)
	if ok {
		said += fmt.Sprintf(", %d × %d", w, ht)
	}
	switch {
	case t.Sees == nil || !t.Sees(call.Model):
		return tool.Text(said + ". This model is not shown pictures."), nil
	case st.Size() > maxImage:
		return tool.Text(said + fmt.Sprintf(". It is too large to be shown; the most is %s.", size(maxImage))), nil
	case !ok || int64(w)*int64(ht) > maxDots:
		return tool.Text(said + ". It is not shown: it has too many dots, or does not say how many."), nil
	}
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), h), maxImage))
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: said + ".", Images: []model.Image{{MIME: mime, Data: data}}}, nil
}

// page is a part of a text, whole lines of it.
type page struct {
	first, limit int
	numbers      bool

	b     strings.Builder
	next  int  // the first line that was not shown
	total int  // lines of the file, when all were counted
	more  bool // there is a line after what was shown
	cut   bool // the limits of a read ended it, not the caller's
	long  int  // a line that was cut
}

// read takes the lines it wants and, for files that are not large, counts the
// others. It never holds more than it shows.
func (g *page) read(ctx context.Context, r *bufio.Reader, isLatin1, count bool) error {
	want := maxLines
	if g.limit > 0 {
		want = min(want, g.limit)
	}
	g.next = 1
	for g.next < g.first {
		ok, err := skipLine(ctx, r)
		if err != nil {
			return err
		}
		if !ok {
			g.total = g.next - 1
			return nil
		}
		g.next++
	}
	for shown := 0; shown < want; shown++ {
		line, whole, err := takeLine(r, maxBytes)
		if err != nil {
			return err
		}
		if line == nil {
			g.total = g.next - 1
			return nil
		}
		if !g.add(line, whole, isLatin1) {
			break
		}
		if !whole {
			if _, err := skipLine(ctx, r); err != nil {
				return err
			}
		}
		g.next++
	}
	return g.countRest(ctx, r, count)
}

// add shows a line if it has room.
func (g *page) add(line []byte, whole, isLatin1 bool) bool {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if isLatin1 {
		text = latin1.decode(line)
	}
	if g.b.Len() > 0 && g.b.Len()+len(text) > maxBytes {
		g.more, g.cut, g.total = true, true, -1
		return false
	}
	if g.numbers {
		fmt.Fprintf(&g.b, "%6d\t", g.next)
	}
	g.b.WriteString(text)
	if !whole {
		g.long = g.next
		g.b.WriteString(" […]\n")
	}
	return true
}

func (g *page) countRest(ctx context.Context, r *bufio.Reader, count bool) error {
	lines := 0
	if g.total == -1 { // the line that had no room was read already
		lines, g.total = 1, 0
	} else if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		g.total = g.next - 1
		return nil
	}
	g.more = true
	if !count {
		return nil
	}
	for {
		ok, err := skipLine(ctx, r)
		if err != nil {
			return err
		}
		if !ok {
			g.total = g.next - 1 + lines
			return nil
		}
		lines++
	}
}

func (g *page) String(bytes int64) string {
	shown := g.b.String()
	switch {
	case shown == "" && g.total == 0 && !g.more:
		return "The file is empty."
	case shown == "" && g.first > g.total && !g.more:
		return fmt.Sprintf("The file has %d lines; there is none at offset %d.", g.total, g.first)
	}
	var notes []string
	if g.long > 0 {
		notes = append(notes, fmt.Sprintf("Line %d is longer than %s and was cut.", g.long, size(maxBytes)))
	}
	if g.more {
		of := "of a file of " + size(bytes)
		if g.total > 0 {
			of = fmt.Sprintf("of %d", g.total)
		}
		notes = append(notes, fmt.Sprintf("Lines %d-%d %s. Go on with offset=%d.", g.first, g.next-1, of, g.next))
	}
	if len(notes) > 0 {
		shown = strings.TrimSuffix(shown, "\n") + "\n\n[" + strings.Join(notes, " ") + "]"
	}
	return shown
}

// takeLine returns the next line, at most about limit bytes of it; nil at the end.
func takeLine(r *bufio.Reader, limit int) (line []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) || err == nil:
			return append(line, part...), true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
		line = append(line, part...)
		if len(line) >= limit {
			line = line[:limit]
			for len(line) > 0 && !utf8.RuneStart(line[len(line)-1]) {
				line = line[:len(line)-1]
			}
			return line[:max(len(line)-1, 0)], false, nil
		}
	}
}

// skipLine passes one line; false at the end.
func skipLine(ctx context.Context, r *bufio.Reader) (bool, error) {
	some := false
	for {
		part, err := r.ReadSlice('\n')
		some = some || len(part) > 0
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, io.EOF):
			return some, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}
