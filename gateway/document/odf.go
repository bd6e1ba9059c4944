package document

import (
	"strconv"
	"strings"
)

// maxRepeat: a cell or a row can say that it stands there millions of times.
const maxRepeat = 200

// readODF reads the formats of OpenDocument. kind is what its MIME type says.
func readODF(t *taker, p *pack, kind string) error {
	w := &odf{t: t, plain: true}
	switch {
	case strings.HasPrefix(kind, "spreadsheet"):
		t.d.Kind, t.d.Unit, w.plain = Sheet, unitSheet, false
	case strings.HasPrefix(kind, "presentation"):
		t.d.Kind, t.d.Unit, w.plain = Slides, unitSlide, false
	default:
		t.d.Kind = Word
	}
	if locked, err := p.all("META-INF/manifest.xml", 4<<20); err == nil && strings.Contains(string(locked), "encryption-data") {
		return problem(Encrypted, "")
	}
	if err := (walk{begin: w.begin, end: w.end, words: w.words}).read(p, "content.xml"); err != nil {
		return err
	}
	if w.plain {
		t.part("", w.b.String())
	}
	t.d.Total = len(t.d.Parts)
	if w.plain {
		t.d.Total = 0
	}
	return nil
}

type odf struct {
	t      *taker
	plain  bool // one text, no sheets or slides
	b      strings.Builder
	name   string
	body   bool
	para   int // paragraphs within paragraphs: in notes and frames
	skip   int
	cell   strings.Builder
	inCell bool
	row    []string
	repeat int
	rows   int
	full   bool
}

// out is where words go now.
func (o *odf) out() *strings.Builder {
	if o.inCell {
		return &o.cell
	}
	return &o.b
}

func (o *odf) begin(n string, attr func(string) string) {
	if n == "body" {
		o.body = true
	}
	switch n {
	case "table":
		if o.t.d.Kind == Sheet {
			o.part(attr("name"))
		}
	case "page":
		if o.t.d.Kind == Slides {
			o.part(attr("name"))
		}
	case "h":
		level, _ := strconv.Atoi(attr("outline-level"))
		o.out().WriteString(strings.Repeat("#", max(1, min(level, 6))) + " ")
		o.para++
	case "p":
		o.para++
	case "list-item":
		o.out().WriteString("- ")
	case "s":
		c, _ := strconv.Atoi(attr("c"))
		o.out().WriteString(strings.Repeat(" ", max(1, min(c, 100))))
	case "tab":
		o.out().WriteByte('\t')
	case "line-break":
		o.out().WriteByte('\n')
	case "tracked-changes", "annotation":
		o.skip++
	case "notes":
		if o.t.d.Kind == Slides {
			o.b.WriteString("Notes: ")
		}
	case "table-row":
		o.row, o.rows = o.row[:0], times(attr("number-rows-repeated"))
	case "table-cell", "covered-table-cell":
		o.cell.Reset()
		o.inCell, o.repeat = true, times(attr("number-columns-repeated"))
	}
}

func times(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return max(1, min(n, maxRepeat))
}

// part ends the part so far and begins another.
func (o *odf) part(name string) {
	o.name = name
	o.b.Reset()
}

func (o *odf) end(n string) {
	switch n {
	case "p", "h":
		o.para--
		if o.inCell {
			o.cell.WriteByte(' ')
		} else {
			o.b.WriteByte('\n')
		}
	case "tracked-changes", "annotation":
		o.skip--
	case "table-cell", "covered-table-cell":
		o.inCell = false
		s := strings.TrimSpace(o.cell.String())
		if s == "" {
			o.repeat = min(o.repeat, 64)
		}
		for range o.repeat {
			if len(o.row) < 16384 {
				o.row = append(o.row, s)
			}
		}
	case "table-row":
		line := strings.TrimRight(strings.Join(o.row, "\t"), "\t")
		if line == "" {
			o.rows = 1
		}
		for range o.rows {
			if o.b.Len() <= maxText {
				o.b.WriteString(line + "\n")
			}
		}
	case "table":
		if o.t.d.Kind == Sheet && !o.full {
			o.full = !o.t.part(o.name, o.b.String())
		}
	case "page":
		if o.t.d.Kind == Slides && !o.full {
			o.full = !o.t.part(o.name, strings.TrimSuffix(strings.TrimRight(o.b.String(), " \n"), "Notes:"))
		}
	}
}

func (o *odf) words(s string) {
	if o.body && o.para > 0 && o.skip == 0 && o.b.Len()+o.cell.Len() <= maxText {
		o.out().WriteString(strings.ReplaceAll(s, "\n", " "))
	}
}
