// Package document takes the text out of files that strangers made: PDF, Office
// files of both families, HTML, EPUB, RTF, and text in any usual encoding; it lists
// archives, and says of sound and film what their heads tell. Extract does it for
// the bytes of one file; Reader has that done in a process with limits (package
// apart), because such files are made to take all memory. What a model is given of
// a text, and where files are kept, is decided elsewhere.
package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/document/pdf"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/internal/charset"
)

const (
	// maxText of one file is taken, in bytes.
	maxText = 4 << 20
	// maxParts of one file: pages, sheets, files of an archive.
	maxParts = 20_000
)

// Kinds of files.
const (
	PDF         = "pdf"
	Word        = "word" // texts: docx, odt, rtf
	Sheet       = "sheet"
	Slides      = "slides"
	Web         = "html"
	Book        = "epub"
	Text        = "text"
	Archive     = "archive"
	Audio       = "audio"
	Video       = "video"
	Picture     = "picture"
	Unknown     = "unknown"
	unitPage    = "page"
	unitSheet   = "sheet"
	unitSlide   = "slide"
	unitChapter = "chapter"
	unitFile    = "file"
)

// Why nothing, or not all, of a file can be read. They are told to people.
const (
	Encrypted = "encrypted" // it wants a password
	Broken    = "broken"
	Bomb      = "bomb"    // it unpacks to more than anybody sends
	NoText    = "no-text" // it has pages and none has text: a scan
	TooMuch   = "too-much"
	Foreign   = "foreign" // a kind that nothing here reads
	Empty     = "empty"
)

// Problem says why a file has no text.
type Problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Error is for people, without the file's name in front.
func (p *Problem) Error() string {
	s := map[string]string{
		Encrypted: "it is protected by a password; send a copy without one",
		Broken:    "it is damaged or was not sent whole; open it in its program, save it again and send that",
		Bomb:      "it unpacks to far more than it may; it was not read",
		NoText:    "its pages are pictures without text, as scans are; make the text with OCR, or send its pages as pictures",
		TooMuch:   "reading it takes more time or memory than is allowed; split it",
		Foreign:   "nothing here reads this kind of file; save it as PDF, text or a newer Office file",
		Empty:     "there is no text in it",
	}[p.Code]
	if p.Detail != "" {
		s += " (" + p.Detail + ")"
	}
	return s
}

func problem(code string, detail string, args ...any) error {
	return &Problem{Code: code, Detail: oneLine(fmt.Sprintf(detail, args...), 160)}
}

// Document is what a file says.
type Document struct {
	Kind  string   `json:"kind"`
	Unit  string   `json:"unit,omitempty"`  // what its parts are: page, sheet, slide, chapter, file; "": it has none
	Total int      `json:"total,omitempty"` // parts of the file
	Parts []Part   `json:"parts,omitempty"`
	Cut   bool     `json:"cut,omitempty"`   // there is more text than was taken
	Notes []string `json:"notes,omitempty"` // what is known beside the text, in a few words each
	// Problem is why it has no text; Kind and Notes hold what is known all the same.
	Problem *Problem `json:"problem,omitempty"`
}

// Part is a page, a sheet, a slide.
type Part struct {
	N    int    `json:"n"`
	Name string `json:"name,omitempty"` // cleaned, one line
	Text string `json:"text"`
}

// mark stands before a part's text.
func (d *Document) mark(p Part) string {
	switch {
	case d.Unit == "" || d.Unit == unitFile:
		return ""
	case p.Name != "":
		return fmt.Sprintf("[%s %d: %s]\n", d.Unit, p.N, p.Name)
	}
	return fmt.Sprintf("[%s %d]\n", d.Unit, p.N)
}

// Whole is all of the text with marks between its parts.
func (d *Document) Whole() string {
	text, _ := d.Fit(1 << 40)
	return text
}

// Fit is as much of the text as fits most bytes: whole parts as long as they do.
// Of the first one that does not, nothing is given, unless nothing else was.
func (d *Document) Fit(most int) (text string, parts int) {
	var b strings.Builder
	for _, p := range d.Parts {
		mark := d.mark(p)
		room := most - b.Len() - len(mark) - 1
		if len(p.Text) > room {
			if b.Len() == 0 && room > 0 {
				b.WriteString(mark + cut(p.Text, room))
			}
			break
		}
		b.WriteString(mark + p.Text + "\n")
		parts++
	}
	return strings.TrimRight(b.String(), "\n"), parts
}

// From is a copy that holds only the parts from first to last.
func (d *Document) From(first, last int) *Document {
	out := *d
	out.Parts = nil
	for _, p := range d.Parts {
		if p.N >= first && p.N <= last {
			out.Parts = append(out.Parts, p)
		}
	}
	return &out
}

// taker gathers parts within the limits.
type taker struct {
	d    *Document
	size int
}

// part adds one; false means that no more is taken.
func (t *taker) part(name, text string) bool {
	text = strings.Trim(clean(text), "\n")
	if len(t.d.Parts) >= maxParts || t.size >= maxText {
		t.d.Cut = true
		return false
	}
	if len(text) > maxText-t.size {
		text, t.d.Cut = cut(text, maxText-t.size), true
	}
	t.size += len(text)
	t.d.Parts = append(t.d.Parts, Part{N: len(t.d.Parts) + 1, Name: oneLine(name, 120), Text: text})
	return !t.d.Cut
}

// Extract reads a file. name and mimeType are the sender's words; the bytes decide,
// and the words only where bytes do not tell. The error is a *Problem.
func Extract(name, mimeType string, data []byte) (*Document, error) {
	d := &Document{}
	t := &taker{d: d}
	err := extract(t, strings.ToLower(path.Ext(name)), mimeType, data)
	if err == nil && d.Kind != Archive && readable(d.Kind) {
		err = d.some()
	}
	return d, err
}

func readable(kind string) bool {
	return kind != Audio && kind != Video && kind != Picture && kind != Unknown
}

// some refuses a document without any text.
func (d *Document) some() error {
	for _, p := range d.Parts {
		if strings.TrimSpace(p.Text) != "" {
			return nil
		}
	}
	return problem(Empty, "")
}

func extract(t *taker, ext, mimeType string, data []byte) error {
	head := data[:min(len(data), 1024)]
	switch {
	case len(data) == 0:
		t.d.Kind = Unknown
		return problem(Empty, "")
	case bytes.Contains(head, []byte("%PDF-")):
		return readPDF(t, data)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return readZip(t, data)
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return readOld(t, ext, data)
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		t.d.Kind = Word
		t.part("", fromRTF(data))
		return nil
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return readGzip(t, ext, data)
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return listTar(t, bytes.NewReader(data))
	}
	if kind, notes, ok := media(head, data); ok {
		t.d.Kind, t.d.Notes = kind, notes
		return nil
	}
	text, encoding, ok := charset.Decode(data)
	if !ok {
		t.d.Kind = Unknown
		return problem(Foreign, "%s", strings.TrimPrefix(ext, "."))
	}
	if encoding != "UTF-8" {
		t.d.Notes = append(t.d.Notes, "encoding "+encoding)
	}
	if isHTML(ext, mimeType, text) {
		t.d.Kind = Web
		title, body := fromHTML(text)
		if title != "" {
			t.d.Notes = append(t.d.Notes, "title: "+oneLine(title, 120))
		}
		t.part("", body)
		return nil
	}
	t.d.Kind = Text
	t.part("", text)
	return nil
}

func readPDF(t *taker, data []byte) error {
	t.d.Kind, t.d.Unit = PDF, unitPage
	f, err := pdf.Open(data)
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return problem(Encrypted, "")
	case err != nil:
		return problem(Broken, "")
	}
	t.d.Total = f.Pages()
	some, bad := false, 0
	for n := 1; n <= f.Pages(); n++ {
		text, err := f.Page(n)
		if err != nil {
			bad++
			text = "(this page is damaged)"
		}
		some = some || err == nil && strings.TrimSpace(text) != ""
		if !t.part("", text) {
			break
		}
	}
	if bad > 0 {
		t.d.Notes = append(t.d.Notes, fmt.Sprintf("%d damaged pages", bad))
	}
	if f.Unreadable > 20 {
		t.d.Notes = append(t.d.Notes, fmt.Sprintf("%d letters that its fonts do not name are left out", f.Unreadable))
	}
	switch {
	case some:
		return nil
	case bad == f.Pages():
		return problem(Broken, "")
	case f.Pictures > 0 || f.Unreadable > 0:
		return problem(NoText, "")
	}
	return problem(Empty, "")
}

// Job is the name of Convert among the jobs of package apart.
const Job = "document"

type order struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
}

// Convert does the work of a Reader: a line of JSON, then the file; a Document
// comes back.
func Convert(in []byte) ([]byte, error) {
	line, data, ok := bytes.Cut(in, []byte("\n"))
	var o order
	if !ok || json.Unmarshal(line, &o) != nil {
		return nil, errors.New("the order for a document cannot be read")
	}
	d, err := Extract(o.Name, o.MIME, data)
	if p := (*Problem)(nil); errors.As(err, &p) {
		d.Problem, err = p, nil
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// Runner does jobs in a process of their own.
type Runner interface {
	Do(ctx context.Context, job string, in []byte, l isolate.Limits) ([]byte, error)
}

// Reader reads files within limits of time and memory. It is safe for concurrent use.
type Reader struct{ run Runner }

// New returns a reader; without a runner files are read in this process, within
// the limits of Extract only.
func New(run Runner) *Reader { return &Reader{run} }

// Apart returns a reader that starts a command for each file (apart.New), and reads in
// this process where there is none.
func Apart(command []string) *Reader {
	if command == nil {
		return New(nil)
	}
	return New(isolate.New(command))
}

// limits hold for one file; what is read is at most maxText, and some JSON around it.
var limits = isolate.Limits{Memory: 768 << 20, Output: 6*maxText + 4<<20}

// Read is Extract. What goes over a limit, or takes the process down, is a *Problem
// in the document; its error is ctx's, or that no process can be started.
func (r *Reader) Read(ctx context.Context, name, mimeType string, data []byte) (*Document, error) {
	if r.run == nil {
		d, err := Extract(name, mimeType, data)
		if p := (*Problem)(nil); errors.As(err, &p) {
			d.Problem, err = p, nil
		}
		return d, err
	}
	line, err := json.Marshal(order{oneLine(name, 255), oneLine(mimeType, 255)})
	if err != nil {
		return nil, err
	}
	in := make([]byte, 0, len(line)+1+len(data))
	in = append(append(append(in, line...), '\n'), data...)
	out, err := r.run.Do(ctx, Job, in, limits)
	var much *isolate.TooMuchError
	var said *isolate.JobError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &much):
		return &Document{Kind: guess(name, data), Problem: &Problem{Code: TooMuch, Detail: much.Error()}}, nil
	case errors.As(err, &said):
		return &Document{Kind: guess(name, data), Problem: &Problem{Code: Broken}}, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", oneLine(name, 120), err)
	}
	d := new(Document)
	if err := json.Unmarshal(out, d); err != nil {
		return nil, fmt.Errorf("read %s: %w", oneLine(name, 120), err)
	}
	return d, nil
}

// guess is the kind of a file that could not be read.
func guess(name string, data []byte) string {
	switch ext := strings.ToLower(path.Ext(name)); {
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return PDF
	case ext == ".docx" || ext == ".odt":
		return Word
	case ext == ".xlsx" || ext == ".ods":
		return Sheet
	case ext == ".pptx" || ext == ".odp":
		return Slides
	case bytes.HasPrefix(data, []byte("PK")):
		return Archive
	}
	return Unknown
}
