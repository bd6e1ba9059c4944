package markup

import (
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// HTML makes HTML of few tags, which is well-formed XML too: p, br, b, i, s, code, pre,
// blockquote, ul, ol, li, and a with an href to the web or to a mail address. All that a
// text says is escaped, tags in it too. Headings are bold lines, tables lines with bars
// between.
func HTML(markdown string) string {
	src := []byte(strings.NewReplacer("\uFFFE", "", "\uFFFF", "").Replace(clean(markdown))) // XML has no such signs
	w := &htmlWriter{src: src}
	p := goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table)).Parser()
	w.blocks(p.Parse(text.NewReader(src)))
	return strings.TrimRight(w.out.String(), "\n ")
}

type htmlWriter struct {
	src []byte
	out strings.Builder
}

// say writes text as what it is.
func (w *htmlWriter) say(s string) { w.out.WriteString(html.EscapeString(s)) }

func (w *htmlWriter) within(tag string, write func()) {
	w.out.WriteString("<" + tag + ">")
	write()
	w.out.WriteString("</" + tag + ">")
}

func (w *htmlWriter) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n)
	}
}

func (w *htmlWriter) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.within("p", func() { w.within("b", func() { w.inlines(n) }) })
	case *ast.Paragraph:
		w.within("p", func() { w.inlines(n) })
	case *ast.TextBlock:
		w.inlines(n)
		if next := n.NextSibling(); next != nil && next.Kind() == ast.KindTextBlock {
			w.out.WriteString("<br/>")
		}
	case *ast.List:
		w.list(n)
	case *ast.Blockquote:
		w.within("blockquote", func() { w.blocks(n) })
	case *ast.ThematicBreak:
		w.within("p", func() { w.out.WriteString("———") })
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.within("pre", func() { w.raw(n) })
	case *ast.HTMLBlock:
		w.within("p", func() { w.raw(n) })
	case *east.Table:
		w.within("p", func() { w.table(n) })
	default:
		w.inlines(n)
	}
}

func (w *htmlWriter) list(l *ast.List) {
	tag, begin := "ul", "ul"
	if l.IsOrdered() {
		tag, begin = "ol", "ol"
		if l.Start > 1 {
			begin = `ol start="` + strconv.Itoa(l.Start) + `"`
		}
	}
	w.out.WriteString("<" + begin + ">")
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		w.within("li", func() { w.blocks(item) })
	}
	w.out.WriteString("</" + tag + ">")
}

// table writes rows as lines.
func (w *htmlWriter) table(n ast.Node) {
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		if line.PreviousSibling() != nil {
			w.out.WriteString("<br/>")
		}
		for cell := line.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if cell.PreviousSibling() != nil {
				w.out.WriteString(" | ")
			}
			w.inlines(cell)
		}
	}
}

// raw writes lines as they are. Behind a line end stands a tag too, where line ends are
// not shown.
func (w *htmlWriter) raw(n ast.Node) {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	s := html.EscapeString(strings.TrimRight(b.String(), "\n"))
	w.out.WriteString(strings.ReplaceAll(s, "\n", "<br/>"))
}

func (w *htmlWriter) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			w.say(string(unescaped(n.Value(w.src))))
			if n.HardLineBreak() || n.SoftLineBreak() {
				w.out.WriteString("<br/>")
			}
		case *ast.String:
			w.say(string(n.Value))
		case *ast.CodeSpan:
			w.within("code", func() { w.code(n) })
		case *ast.Emphasis:
			w.within(map[bool]string{true: "b", false: "i"}[n.Level > 1], func() { w.inlines(n) })
		case *east.Strikethrough:
			w.within("s", func() { w.inlines(n) })
		case *ast.AutoLink:
			address := string(n.URL(w.src))
			w.link(address, func() { w.say(string(n.Label(w.src))) }, true)
		case *ast.Link:
			w.link(string(n.Destination), func() { w.inlines(n) }, n.FirstChild() != nil)
		case *ast.Image:
			w.link(string(n.Destination), func() { w.inlines(n) }, n.FirstChild() != nil)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				w.say(string(s.Value(w.src)))
			}
		default:
			w.inlines(n)
		}
	}
}

func (w *htmlWriter) code(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.say(strings.ReplaceAll(string(t.Value(w.src)), "\n", " "))
		}
	}
}

// link writes one to the web or to a mail address; any other as words and the address.
func (w *htmlWriter) link(address string, words func(), has bool) {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "" && strings.Contains(address, "@") && !strings.ContainsAny(address, "/?# "):
		address = "mailto:" + address
	case err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto":
		words()
		if has && address != "" {
			w.say(" (" + address + ")")
		} else {
			w.say(address)
		}
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(address) + `">`)
	if has {
		words()
	} else {
		w.say(address)
	}
	w.out.WriteString("</a>")
}
