package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// isDocument names text formats that are better read as what they show.
func isDocument(name string) bool { return strings.ToLower(path.Ext(name)) == ".rtf" }

// lastRead keeps the document that was read last: a model reads one in parts.
type lastRead struct {
	mu   sync.Mutex
	path string
	size int64
	at   time.Time
	doc  *document.Document
}

func (l *lastRead) get(p string, st fs.FileInfo) *document.Document {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == p && l.size == st.Size() && l.at.Equal(st.ModTime()) {
		return l.doc
	}
	return nil
}

func (l *lastRead) put(p string, st fs.FileInfo, d *document.Document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path, l.size, l.at, l.doc = p, st.Size(), st.ModTime(), d
}

// document shows the text of a file that is no text itself, in lines as other text.
// Others made it, mostly, so it is marked.
func (t *readTool) document(ctx context.Context, p *safepath.Path, head []byte, h *os.File, st fs.FileInfo,
	a readArgs) (tool.Result, error) {
	d := t.last.get(p.Path, st)
	if d == nil {
		data, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), h), inMemory))
		if err != nil {
			return tool.Result{}, err
		}
		if d, err = t.Document(ctx, path.Base(p.Name()), "", data); err != nil {
			return tool.Result{}, err
		}
		t.last.put(p.Path, st, d)
	}
	said := fmt.Sprintf("%s, %s, %s", p.Name(), size(st.Size()), d.Kind)
	if d.Unit != "" {
		said += fmt.Sprintf(", %d %ss", d.Total, d.Unit)
	}
	if len(d.Notes) > 0 {
		said += " (" + untrusted.Clean(strings.Join(d.Notes, "; ")) + ")"
	}
	switch {
	case d.Kind == document.Unknown:
		_, mime := kindOf(head)
		return tool.Text(fmt.Sprintf("%s is a binary file, %s, %s; it is not shown.", p.Name(), size(st.Size()), mime)), nil
	case d.Problem != nil:
		return tool.Text(said + ". Its text cannot be read: " + d.Problem.Error() + "."), nil
	case len(d.Parts) == 0:
		return tool.Text(said + ". It is a binary file; it is not shown."), nil
	}
	if a.Pages != "" {
		first, last, err := pageRange(a.Pages)
		if err != nil {
			return tool.Result{}, err
		}
		if d.Unit == "" || d.Kind == document.Archive {
			return tool.Result{}, fmt.Errorf("%s has no pages; use offset and limit", p.Name())
		}
		if d = d.From(first, last); len(d.Parts) == 0 {
			return tool.Result{}, fmt.Errorf("%s has %d %ss, so there is no %s %d", p.Name(), d.Total, d.Unit, d.Unit, first)
		}
		said += ", of them " + a.Pages
	}
	text := d.Whole() + "\n"
	out := page{first: max(a.Offset, 1), limit: a.Limit, numbers: a.Numbers}
	if err := out.read(ctx, bufio.NewReaderSize(strings.NewReader(text), 256<<10), false, true); err != nil {
		return tool.Result{}, err
	}
	if d.Cut {
		said += ", cut after much text"
	}
	return tool.Text(said + ":\n" + untrusted.Wrapper{}.Wrap("the file "+p.Name(), out.String(int64(len(text))))), nil
}

// pageRange reads 3 or 3-7.
func pageRange(s string) (first, last int, err error) {
	from, to, ok := strings.Cut(strings.ReplaceAll(s, " ", ""), "-")
	if !ok {
		to = from
	}
	first, err = strconv.Atoi(from)
	if err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil || first < 1 || last < first {
		return 0, 0, errors.New("pages is one number, from 1, or two such as 3-7")
	}
	return first, last, nil
}
