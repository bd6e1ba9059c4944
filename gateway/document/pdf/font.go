package pdf

import (
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// usualWidth of a glyph whose font does not say it, in thousandths of its size.
const usualWidth = 500

// font tells which letters the codes of a font are.
type font struct {
	wide    bool // two bytes a glyph, unless the map says otherwise
	names   *[256]string
	mapped  *cmap
	decoder *encoding.Decoder // of wide fonts without a map, nil: nobody knows
	widths  map[int]float64
	usual   float64
	made    map[string]string // letters by code, where decoder made them
}

type glyph struct {
	bytes int
	code  int
	text  string
	width float64
}

// glyph reads the first one of b, which is not empty.
func (t *font) glyph(b []byte) glyph {
	g := glyph{bytes: 1}
	switch {
	case t.mapped != nil && t.wide:
		g.bytes = t.mapped.length(b)
	case t.wide:
		g.bytes = 2
	}
	g.bytes = min(g.bytes, len(b))
	for _, c := range b[:g.bytes] {
		g.code = g.code<<8 | int(c)
	}
	g.text = t.letters(g, b[:g.bytes])
	var ok bool
	if g.width, ok = t.widths[g.code]; !ok {
		g.width = t.usual
	}
	return g
}

func (t *font) letters(g glyph, b []byte) string {
	if t.mapped != nil {
		if s, ok := t.mapped.find(g.code, g.bytes); ok {
			return s
		}
	}
	if !t.wide {
		return t.names[g.code&0xff]
	}
	if t.decoder == nil {
		return ""
	}
	key := string(b)
	s, ok := t.made[key]
	if !ok {
		if out, err := t.decoder.Bytes(b); err == nil {
			s = string(out)
		}
		t.made[key] = s
	}
	return s
}

// font finds one of a page's resources by name, nil for none.
func (f *File) font(resources types.Dict, name string) *font {
	o, ok := f.dict(resources["Font"]).Find(name)
	if !ok {
		return nil
	}
	ref, isRef := o.(types.IndirectRef)
	if isRef {
		if t, ok := f.fonts[ref.ObjectNumber.Value()]; ok {
			return t
		}
	}
	d := f.dict(o)
	if d == nil {
		return nil
	}
	t := &font{widths: map[int]float64{}, usual: usualWidth, made: map[string]string{}}
	if f.name(d["Subtype"]) == "Type0" {
		f.composite(t, d)
	} else {
		f.simple(t, d)
	}
	if m, ok := d.Find("ToUnicode"); ok {
		if b, err := f.stream(m); err == nil && len(b) > 0 {
			t.mapped = readCMap(b)
		}
	}
	if isRef {
		f.fonts[ref.ObjectNumber.Value()] = t
	}
	return t
}

func (f *File) simple(t *font, d types.Dict) {
	first, _ := f.number(d["FirstChar"])
	scale := 1.0
	if f.name(d["Subtype"]) == "Type3" { // its widths are measured by its own scale
		if m := f.array(d["FontMatrix"]); len(m) == 6 {
			if a, ok := f.number(m[0]); ok {
				scale = a * 1000
			}
		}
	}
	for i, w := range f.array(d["Widths"]) {
		if n, ok := f.number(w); ok && i < 256 {
			t.widths[int(first)+i] = n * scale
		}
	}
	if n, ok := f.number(f.dict(d["FontDescriptor"])["MissingWidth"]); ok {
		t.usual = n
	}
	base := f.name(d["Encoding"])
	enc := f.dict(d["Encoding"])
	if enc != nil {
		base = f.name(enc["BaseEncoding"])
	}
	from := charmap.Windows1252
	if base == "MacRomanEncoding" {
		from = charmap.Macintosh
	}
	t.names = new([256]string)
	for c := 0x20; c < 256; c++ {
		if r := from.DecodeByte(byte(c)); r != 0xFFFD {
			t.names[c] = string(r)
		}
	}
	code := 0
	for _, o := range f.array(enc["Differences"]) {
		if n, ok := f.number(o); ok {
			code = int(n)
		} else if code >= 0 && code < 256 {
			t.names[code] = named(f.name(o))
			code++
		}
	}
}

func (f *File) composite(t *font, d types.Dict) {
	t.wide, t.usual = true, 1000
	enc := f.name(d["Encoding"])
	for _, row := range []struct {
		like string
		of   encoding.Encoding
	}{
		{"UCS2", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, {"UTF16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"GB", simplifiedchinese.GBK}, {"RKSJ", japanese.ShiftJIS}, {"B5", traditionalchinese.Big5}, {"KSC", korean.EUCKR},
		{"EUC-", japanese.EUCJP},
	} {
		if t.decoder == nil && strings.Contains(enc, row.like) {
			t.decoder = row.of.NewDecoder()
		}
	}
	list := f.array(d["DescendantFonts"])
	if len(list) == 0 {
		return
	}
	under := f.dict(list[0])
	if n, ok := f.number(under["DW"]); ok {
		t.usual = n
	}
	f.wideWidths(t, f.array(under["W"]))
}

// wideWidths reads the widths of a composite font: a code and a list, or a range
// and what holds for it.
func (f *File) wideWidths(t *font, w types.Array) {
	for i := 0; i+1 < len(w) && len(t.widths) < 1<<16; {
		from, _ := f.number(w[i])
		if list := f.array(w[i+1]); list != nil {
			for k, o := range list {
				if n, ok := f.number(o); ok {
					t.widths[int(from)+k] = n
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		to, _ := f.number(w[i+1])
		n, _ := f.number(w[i+2])
		for c := int(from); c <= int(to) && c < int(from)+1<<16; c++ {
			t.widths[c] = n
		}
		i += 3
	}
}
