package document

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// within is an absolute path of a package as its files are named.
func within(target string) string { return strings.TrimPrefix(path.Clean(target), "/") }

// readDOCX reads the text of a document, with its notes behind it.
func readDOCX(t *taker, p *pack) error {
	t.d.Kind = Word
	var b strings.Builder
	if err := paragraphs(&b).read(p, "word/document.xml"); err != nil {
		return err
	}
	for _, part := range []struct{ file, title string }{
		{"word/footnotes.xml", "Footnotes"}, {"word/endnotes.xml", "Endnotes"}, {"word/comments.xml", "Comments"},
	} {
		var more strings.Builder
		if p.find(part.file) == nil || paragraphs(&more).read(p, part.file) != nil {
			continue
		}
		if s := strings.TrimSpace(more.String()); s != "" {
			b.WriteString("\n" + part.title + ":\n" + s + "\n")
		}
	}
	t.part("", b.String())
	return nil
}

// paragraphs reads WordprocessingML and the text of DrawingML.
func paragraphs(b *strings.Builder) walk {
	text, cells, skip, look := false, 0, 0, false // look: how a paragraph looks is told
	return walk{
		begin: func(n string, attr func(string) string) {
			switch n {
			case "t":
				text = true
			case "pPr":
				look = true
			case "tab":
				if !look { // else where tabs stop
					b.WriteByte('\t')
				}
			case "br", "cr":
				b.WriteByte('\n')
			case "tr":
				cells = 0
			case "tc":
				if cells++; cells > 1 {
					b.WriteByte('\t')
				}
			case "pStyle":
				if v := attr("val"); strings.HasPrefix(v, "Heading") && len(v) == 8 && v[7] >= '1' && v[7] <= '6' {
					b.WriteString(strings.Repeat("#", int(v[7]-'0')) + " ")
				}
			case "numId":
				if v := attr("val"); v != "0" && v != "" {
					b.WriteString("- ")
				}
			case "Fallback", "del": // what is said once already, and what was deleted
				skip++
			}
		},
		end: func(n string) {
			switch n {
			case "t":
				text = false
			case "pPr":
				look = false
			case "p":
				if cells == 0 {
					b.WriteByte('\n')
				} else if b.Len() > 0 {
					b.WriteByte(' ')
				}
			case "tr":
				cells = 0
				b.WriteByte('\n')
			case "Fallback", "del":
				skip--
			}
		},
		words: func(s string) {
			if text && skip == 0 && b.Len() < maxText+1 {
				b.WriteString(s)
			}
		},
	}
}

// readPPTX reads slide by slide, with the speaker's notes.
func readPPTX(t *taker, p *pack) error {
	t.d.Kind, t.d.Unit = Slides, unitSlide
	const main = "ppt/presentation.xml"
	rel := relations(p, main)
	var slides []string
	err := walk{begin: func(n string, attr func(string) string) {
		if n == "sldId" && len(slides) < maxParts {
			slides = append(slides, rel[attr("r:id")])
		}
	}}.read(p, main)
	if err != nil {
		return err
	}
	t.d.Total = len(slides)
	for _, name := range slides {
		var b strings.Builder
		if err := paragraphs(&b).read(p, name); err != nil {
			return err
		}
		for _, more := range relations(p, name) {
			if !strings.HasPrefix(more, "ppt/notesSlides/") || p.find(more) == nil {
				continue
			}
			var notes strings.Builder
			if paragraphs(&notes).read(p, more) == nil && strings.TrimSpace(notes.String()) != "" {
				b.WriteString("Notes: " + strings.TrimSpace(notes.String()) + "\n")
			}
		}
		if !t.part("", b.String()) {
			break
		}
	}
	return nil
}

// readXLSX reads sheet by sheet, a line a row, with tabs between cells.
func readXLSX(t *taker, p *pack) error {
	t.d.Kind, t.d.Unit = Sheet, unitSheet
	const main = "xl/workbook.xml"
	rel := relations(p, main)
	type sheet struct{ name, file string }
	var sheets []sheet
	from1904 := false
	err := walk{begin: func(n string, attr func(string) string) {
		switch n {
		case "sheet":
			if file := rel[attr("r:id")]; file != "" && len(sheets) < maxParts {
				sheets = append(sheets, sheet{attr("name"), file})
			}
		case "workbookPr":
			from1904 = attr("date1904") == "1" || attr("date1904") == "true"
		}
	}}.read(p, main)
	if err != nil {
		return err
	}
	c := cells{dates: dateStyles(p), from1904: from1904}
	if c.shared, err = sharedStrings(p); err != nil {
		return err
	}
	t.d.Total = len(sheets)
	for _, s := range sheets {
		if p.find(s.file) == nil || !strings.HasPrefix(s.file, "xl/worksheets/") { // a sheet of a chart
			t.part(s.name, "")
			continue
		}
		c.b.Reset()
		if err := c.walk().read(p, s.file); err != nil {
			return err
		}
		if !t.part(s.name, c.b.String()) {
			break
		}
	}
	return nil
}

// sharedStrings are the texts that cells refer to by number.
func sharedStrings(p *pack) (all []string, err error) {
	const name = "xl/sharedStrings.xml"
	if p.find(name) == nil {
		return nil, nil
	}
	var b strings.Builder
	text, phonetic, size := false, false, 0
	err = walk{
		begin: func(n string, _ func(string) string) {
			switch n {
			case "si":
				b.Reset()
			case "t":
				text = !phonetic
			case "rPh":
				phonetic = true
			}
		},
		end: func(n string) {
			switch n {
			case "t":
				text = false
			case "rPh":
				phonetic = false
			case "si":
				if size += b.Len(); size < 8*maxText {
					all = append(all, strings.ReplaceAll(b.String(), "\n", " "))
				}
			}
		},
		words: func(s string) {
			if text {
				b.WriteString(s)
			}
		},
	}.read(p, name)
	return all, err
}

// dateStyles are the numbers of the styles that show a date, and how.
func dateStyles(p *pack) map[int]string {
	out, custom := map[int]string{}, map[int]string{}
	in, n := false, 0
	if p.find("xl/styles.xml") == nil {
		return out
	}
	_ = walk{
		begin: func(name string, attr func(string) string) {
			id, _ := strconv.Atoi(attr("numFmtId"))
			switch name {
			case "numFmt":
				custom[id] = dateLayout(attr("formatCode"))
			case "cellXfs":
				in = true
			case "xf":
				if !in {
					return
				}
				switch {
				case id >= 14 && id <= 17:
					out[n] = time.DateOnly
				case id >= 18 && id <= 21 || id >= 45 && id <= 47:
					out[n] = time.TimeOnly
				case id == 22:
					out[n] = time.DateTime
				case custom[id] != "":
					out[n] = custom[id]
				}
				n++
			}
		},
		end: func(name string) { in = in && name != "cellXfs" },
	}.read(p, "xl/styles.xml")
	return out
}

// dateLayout tells whether a format of numbers shows a date or a time.
func dateLayout(code string) string {
	code = strings.ToLower(code)
	var b strings.Builder
	quoted, bracket := false, false
	for _, r := range code {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '[':
			bracket = true
		case r == ']':
			bracket = false
		case !quoted && !bracket:
			b.WriteRune(r)
		}
	}
	code = b.String()
	day := strings.ContainsAny(code, "yd") && !strings.Contains(code, "general")
	clock := strings.Contains(code, "h") && !strings.Contains(code, "#")
	switch {
	case day && clock:
		return time.DateTime
	case day:
		return time.DateOnly
	case clock:
		return time.TimeOnly
	}
	return ""
}

// cells reads the rows of a sheet.
type cells struct {
	shared   []string
	dates    map[int]string
	from1904 bool
	b        strings.Builder
}

func (c *cells) walk() walk {
	var value strings.Builder
	kind, style, column, at, take := "", 0, 0, 0, false
	return walk{
		begin: func(n string, attr func(string) string) {
			switch n {
			case "row":
				column = 0
			case "c":
				value.Reset()
				kind = attr("t")
				style, _ = strconv.Atoi(attr("s"))
				if at = columnOf(attr("r")); at < 0 {
					at = column
				}
			case "v", "t":
				take = true
			}
		},
		end: func(n string) {
			switch n {
			case "v", "t":
				take = false
			case "c":
				if s := c.value(kind, style, value.String()); s != "" && c.b.Len() <= maxText {
					if at > column {
						c.b.WriteString(strings.Repeat("\t", min(at-column, 64)))
					}
					c.b.WriteString(s)
					column = at
				}
			case "row":
				c.b.WriteByte('\n')
			}
		},
		words: func(s string) {
			if take {
				value.WriteString(s)
			}
		},
	}
}

func (c *cells) value(kind string, style int, s string) string {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(c.shared) {
			return c.shared[i]
		}
		return ""
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[s]
	case "", "n":
		layout, ok := c.dates[style]
		n, err := strconv.ParseFloat(s, 64)
		if !ok || err != nil || n < 0 || n > 3_000_000 {
			return s
		}
		first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if c.from1904 {
			first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return first.AddDate(0, 0, int(n)).Add(time.Duration((n - float64(int(n))) * 86400 * 1e9).Round(time.Second)).Format(layout)
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// columnOf is the column of a cell's name, from 0; -1 for what is none.
func columnOf(ref string) int {
	n := 0
	for i, r := range ref {
		if r < 'A' || r > 'Z' || i > 3 {
			break
		}
		n = n*26 + int(r-'A') + 1
	}
	return n - 1
}
