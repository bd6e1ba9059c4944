package document

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

const (
	// maxDeep elements may nest, and maxElements stand in one file.
	maxDeep     = 256
	maxElements = 20_000_000
)

// walk reads an XML file element by element: begin and end get names without
// spaces of names, words what stands between. attr gives an attribute; r:id is the
// one that refers to another part. Entities of a file's own are not known
// to the parser, so that none can multiply (a billion laughs).
type walk struct {
	begin func(name string, attr func(string) string)
	end   func(name string)
	words func(s string)
}

func (w walk) read(p *pack, name string) error {
	f := p.find(name)
	if f == nil {
		return problem(Broken, "%s is missing", name)
	}
	r, err := p.open(f)
	if err != nil {
		return err
	}
	defer r.Close()
	return w.from(r, name)
}

func (w walk) from(r io.Reader, name string) error {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	deep, all := 0, 0
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if p := (*Problem)(nil); errors.As(err, &p) {
				return err
			}
			return problem(Broken, "%s", name)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if deep++; deep > maxDeep {
				return problem(Bomb, "%s nests too deep", name)
			}
			if all++; all > maxElements {
				return problem(TooMuch, "%s", name)
			}
			if w.begin != nil {
				w.begin(tok.Name.Local, func(k string) string {
					for _, a := range tok.Attr {
						if a.Name.Local == k && a.Name.Space != "xmlns" || k == "r:id" && a.Name.Local == "id" && a.Name.Space != "" {
							return a.Value
						}
					}
					return ""
				})
			}
		case xml.EndElement:
			deep--
			if w.end != nil {
				w.end(tok.Name.Local)
			}
		case xml.CharData:
			if w.words != nil {
				w.words(string(tok))
			}
		}
	}
}

// relations are what a part of an Office file refers to, by id.
func relations(p *pack, of string) map[string]string {
	dir, file := "", of
	if i := strings.LastIndexByte(of, '/'); i >= 0 {
		dir, file = of[:i+1], of[i+1:]
	}
	out := map[string]string{}
	name := dir + "_rels/" + file + ".rels"
	if p.find(name) == nil {
		return out
	}
	_ = walk{begin: func(n string, attr func(string) string) {
		if n == "Relationship" && attr("TargetMode") != "External" && len(out) < maxParts {
			target := attr("Target")
			if !strings.HasPrefix(target, "/") {
				target = "/" + dir + target
			}
			out[attr("Id")] = within(target)
		}
	}}.read(p, name)
	return out
}
