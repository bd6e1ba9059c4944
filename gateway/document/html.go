package document

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func isHTML(ext, mimeType, text string) bool {
	if ext == ".html" || ext == ".htm" || ext == ".xhtml" || strings.HasPrefix(mimeType, "text/html") ||
		strings.HasPrefix(mimeType, "application/xhtml") {
		return true
	}
	head := strings.ToLower(strings.TrimSpace(text[:min(len(text), 512)]))
	return ext == "" && (strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html"))
}

// fromHTML is the text of a page, read token by token: no tree is built, so that
// depth costs nothing. What people do not see is left out.
func fromHTML(s string) (title, body string) {
	z := html.NewTokenizer(strings.NewReader(s))
	z.SetMaxBuf(16 << 20)
	var b lines
	var skip atom.Atom // the element whose content is not shown
	inTitle := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return title, b.String()
		case html.TextToken:
			switch {
			case inTitle:
				title += string(z.Text())
			case skip == 0:
				b.words(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case skip != 0:
			case a == atom.Script || a == atom.Style || a == atom.Noscript || a == atom.Template || a == atom.Svg:
				skip = a
			case a == atom.Title:
				inTitle = true
			default:
				b.begin(a)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case a == skip:
				skip = 0
			case a == atom.Title:
				inTitle = false
			case skip == 0:
				b.end(a)
			}
		}
	}
}

// lines gathers words into lines.
type lines struct {
	b    strings.Builder
	pre  int
	cell int // of tables: what begins a line elsewhere does not in one
}

func (l *lines) words(s string) {
	if l.pre > 0 {
		l.b.WriteString(s)
		return
	}
	fields := strings.Fields(s)
	if len(fields) == 0 {
		l.space()
		return
	}
	if strings.ContainsAny(s[:1], " \t\r\n") {
		l.space()
	}
	l.b.WriteString(strings.Join(fields, " "))
	if strings.ContainsAny(s[len(s)-1:], " \t\r\n") {
		l.b.WriteByte(' ')
	}
}

func (l *lines) last() byte {
	if s := l.b.String(); s != "" {
		return s[len(s)-1]
	}
	return '\n'
}

func (l *lines) space() {
	if c := l.last(); c != ' ' && c != '\n' && c != '\t' {
		l.b.WriteByte(' ')
	}
}

func (l *lines) line() {
	if l.cell > 0 {
		l.space()
		return
	}
	if l.last() != '\n' {
		l.b.WriteByte('\n')
	}
}

func (l *lines) paragraph() {
	l.line()
	if l.cell > 0 {
		return
	}
	if s := l.b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		l.b.WriteByte('\n')
	}
}

func (l *lines) begin(a atom.Atom) {
	if a == atom.Tr || a == atom.Table {
		l.cell = 0
	}
	switch a {
	case atom.Br, atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Option, atom.Figcaption:
		l.line()
	case atom.P, atom.Table, atom.Ul, atom.Ol, atom.Blockquote, atom.Hr:
		l.paragraph()
	case atom.Pre:
		l.paragraph()
		l.pre++
	case atom.Li:
		l.line()
		l.b.WriteString("- ")
	case atom.Td, atom.Th:
		if l.last() != '\n' {
			l.b.WriteByte('\t')
		}
		l.cell = 1
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		l.paragraph()
		l.b.WriteString(strings.Repeat("#", int(a.String()[1]-'0')) + " ")
	}
}

func (l *lines) end(a atom.Atom) {
	if a == atom.Td || a == atom.Th || a == atom.Tr || a == atom.Table {
		l.cell = 0
	}
	switch a {
	case atom.Pre:
		l.pre = max(l.pre-1, 0)
		l.line()
	case atom.Div, atom.Tr, atom.Li, atom.Dt, atom.Dd, atom.Section, atom.Article:
		l.line()
	case atom.P, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote:
		l.paragraph()
	}
}

func (l *lines) String() string {
	s := l.b.String()
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return strings.ReplaceAll(s, " \n", "\n")
}
