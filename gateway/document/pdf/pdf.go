// Package pdf takes the text out of PDF files, page by page, in reading order as
// far as the file tells it. The objects of a file are read by pdfcpu; this package
// reads what stands on the pages: which glyphs, where, and which letters they are.
// It draws nothing, runs nothing of a file, and reads no pictures. It is meant for
// a process with limits: a file of strangers may take all that it is given.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// Why a file has no text.
var (
	ErrEncrypted = errors.New("it is protected by a password")
	ErrBroken    = errors.New("it is damaged")
)

const (
	// maxPages are walked; a page tree can name one page for ever.
	maxPages = 50_000
	// maxStream bounds one stream, unpacked.
	maxStream = 64 << 20
	// maxDepth of the page tree and of forms within forms.
	maxDepth = 12
)

// File is an open PDF. It is not safe for concurrent use.
type File struct {
	x     *model.XRefTable
	pages []node
	fonts map[int]*font // by object
	// Unreadable counts glyphs that the file gives no letters for.
	Unreadable int
	// Pictures counts pictures on the pages read so far.
	Pictures int
}

type node struct {
	dict      types.Dict
	resources types.Dict
}

// Open reads the objects of a file. Its error is ErrEncrypted, or wraps ErrBroken.
func Open(data []byte) (f *File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("%w: %v", ErrBroken, r)
		}
	}()
	limits := model.DefaultResourceLimits()
	limits.MaxStreamBytes, limits.MaxDecodeBytes = maxStream, maxStream
	c := &model.Configuration{ // not the default one, which reads and writes a settings file
		Reader15: true, ValidationMode: model.ValidationRelaxed, UnsupportedResourcePolicy: model.UnsupportedResourceSkip, Offline: true,
		Version: model.VersionStr, Limits: limits,
	}
	ctx, err := pdfcpu.Read(bytes.NewReader(data), c)
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword), errors.Is(err, pdfcpu.ErrUnsupportedEncryptionFeature):
		return nil, ErrEncrypted
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	f = &File{x: ctx.XRefTable, fonts: map[int]*font{}}
	root, err := f.x.Pages()
	if err != nil || root == nil {
		return nil, fmt.Errorf("%w: it has no pages", ErrBroken)
	}
	f.walk(*root, nil, 0, map[int]bool{})
	if len(f.pages) == 0 {
		return nil, fmt.Errorf("%w: it has no pages", ErrBroken)
	}
	return f, nil
}

// walk gathers the pages below a node of the page tree.
func (f *File) walk(at types.Object, resources types.Dict, depth int, seen map[int]bool) {
	if ref, ok := at.(types.IndirectRef); ok {
		n := ref.ObjectNumber.Value()
		if seen[n] {
			return
		}
		seen[n] = true
	}
	d := f.dict(at)
	if d == nil || depth > 4*maxDepth || len(f.pages) >= maxPages {
		return
	}
	if r := f.dict(d["Resources"]); r != nil {
		resources = r
	}
	kids := f.array(d["Kids"])
	if kids == nil {
		f.pages = append(f.pages, node{d, resources})
	}
	for _, k := range kids {
		f.walk(k, resources, depth+1, seen)
	}
}

// Pages is how many there are.
func (f *File) Pages() int { return len(f.pages) }

// Page is the text of page n, from 1. A page that cannot be read is an error, and
// the others can be.
func (f *File) Page(n int) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: page %d: %v", ErrBroken, n, r)
		}
	}()
	p := f.pages[n-1]
	content, err := f.content(p.dict["Contents"])
	if err != nil {
		return "", fmt.Errorf("%w: page %d: %w", ErrBroken, n, err)
	}
	var out page
	w := writer{f: f, out: &out}
	w.run(content, p.resources, 0)
	f.Unreadable += w.unreadable
	f.Pictures += w.pictures
	return out.text(), nil
}

// content joins the streams of a page.
func (f *File) content(o types.Object) ([]byte, error) {
	if list := f.array(o); list != nil {
		var all []byte
		for _, part := range list {
			b, err := f.stream(part)
			if err != nil {
				return all, err
			}
			if len(all)+len(b) > maxStream {
				return all, io.ErrShortBuffer
			}
			all = append(append(all, b...), '\n')
		}
		return all, nil
	}
	if o == nil {
		return nil, nil
	}
	return f.stream(o)
}

// stream unpacks one; a filter that is no text is an error.
func (f *File) stream(o types.Object) ([]byte, error) {
	sd, _, err := f.x.DereferenceStreamDict(o)
	if err != nil || sd == nil {
		return nil, err
	}
	if sd.Content == nil {
		if err := sd.DecodeWithLimit(maxStream); err != nil {
			return nil, err
		}
	}
	return sd.Content, nil
}

// The following are nil or zero for what a file has otherwise than it should.

func (f *File) at(o types.Object) types.Object {
	o, err := f.x.Dereference(o)
	if err != nil {
		slog.Debug("a part of a PDF cannot be read", "err", err)
		return nil
	}
	return o
}

func (f *File) dict(o types.Object) types.Dict {
	switch d := f.at(o).(type) {
	case types.Dict:
		return d
	case types.StreamDict:
		return d.Dict
	}
	return nil
}

func (f *File) array(o types.Object) types.Array {
	a, _ := f.at(o).(types.Array)
	return a
}

func (f *File) name(o types.Object) string {
	n, _ := f.at(o).(types.Name)
	return string(n)
}

func (f *File) number(o types.Object) (float64, bool) {
	switch n := f.at(o).(type) {
	case types.Integer:
		return float64(n), true
	case types.Float:
		return float64(n), true
	}
	return 0, false
}
