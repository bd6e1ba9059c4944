package tui

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/hearth-assistant/hearth/app/terminal"
)

// markdown draws Markdown as lines. The text must be clean already (package
// terminal); everything that Markdown can hold is drawn as text, nothing is
// fetched and no link is hidden behind other words.
type markdown struct {
	theme  *theme
	parser parser.Parser
}

func newMarkdown(t *theme) *markdown {
	inline := append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0))
	return &markdown{theme: t, parser: parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)}
}

// lines draws a text that is w cells wide.
func (m *markdown) lines(src string, w int) []string {
	b := []byte(strings.Trim(src, "\n"))
	d := &drawing{md: m, src: b}
	d.blocks(m.parser.Parse(text.NewReader(b)), w, "", "", true)
	return d.out
}

// drawing is one text being drawn.
type drawing struct {
	md  *markdown
	src []byte
	out []string
}

// blocks draws the children of a node. first stands before the first line,
// rest before the others; apart puts empty lines between blocks.
func (d *drawing) blocks(n ast.Node, w int, first, rest string, apart bool) {
	prefix := first
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := len(d.out)
		_, paragraph := c.(*ast.Paragraph)
		if c != n.FirstChild() && (apart || paragraph) {
			d.out = append(d.out, strings.TrimRight(rest, " "))
			before++
		}
		d.block(c, w, prefix, rest)
		if len(d.out) > before {
			prefix = rest
		}
	}
	if prefix == first && first != rest { // an empty list item keeps its mark
		d.out = append(d.out, strings.TrimRight(first, " "))
	}
}

func (d *drawing) block(n ast.Node, w int, first, rest string) {
	t := d.md.theme
	switch n := n.(type) {
	case *ast.Heading:
		d.flow(n, t.heading, w, first+t.heading.paint(strings.Repeat("#", n.Level)+" "), rest+strings.Repeat(" ", n.Level+1))
	case *ast.FencedCodeBlock:
		if lang := string(n.Language(d.src)); lang != "" {
			d.out = append(d.out, first+t.dim.paint("┌ "+clip(lang, max(1, w-width(first)-2))))
			first = rest
		}
		d.code(n, w, first, rest)
	case *ast.CodeBlock:
		d.code(n, w, first, rest)
	case *ast.Blockquote:
		bar := t.quote.paint("▌ ")
		if width(rest)+12 > w { // too deep to go on to the right
			bar = ""
		}
		d.blocks(n, w, first+bar, rest+bar, true)
	case *ast.List:
		d.list(n, w, first, rest)
	case *ast.ThematicBreak:
		d.out = append(d.out, first+t.dim.paint(strings.Repeat("─", max(1, min(w-width(first), 40)))))
	case *ast.HTMLBlock:
		d.raw(n, w, first, rest)
	case *east.Table:
		d.table(n, w, first, rest)
	default: // paragraphs, and whatever else holds words
		d.flow(n, t.plain, w, first, rest)
	}
}

func (d *drawing) flow(n ast.Node, l look, w int, first, rest string) {
	d.out = append(d.out, wrap(d.spans(n, l), w, first, rest)...)
}

// linesOf is the text of a block that is not Markdown.
func (d *drawing) linesOf(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(d.src))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (d *drawing) code(n ast.Node, w int, first, rest string) {
	t := d.md.theme
	bar := t.dim.paint("│ ")
	for i, s := range rows(d.linesOf(n), w-width(rest), bar, t.code) {
		if i == 0 {
			s = first + s
		} else {
			s = rest + s
		}
		d.out = append(d.out, s)
	}
}

func (d *drawing) raw(n *ast.HTMLBlock, w int, first, rest string) {
	s := d.linesOf(n)
	if n.HasClosure() {
		s += "\n" + strings.TrimRight(string(n.ClosureLine.Value(d.src)), "\n")
	}
	for i, row := range rows(strings.Trim(s, "\n"), w-width(rest), "", d.md.theme.dim) {
		if i == 0 {
			row = first + row
		} else {
			row = rest + row
		}
		d.out = append(d.out, row)
	}
}

func (d *drawing) list(n *ast.List, w int, first, rest string) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		if width(rest)+12 > w {
			d.blocks(c, w, first+d.md.theme.dim.paint(mark), rest, false)
		} else {
			d.blocks(c, w, first+d.md.theme.dim.paint(mark), rest+strings.Repeat(" ", width(mark)), false)
		}
		first = rest
	}
}

// spans is the words of a block.
func (d *drawing) spans(n ast.Node, l look) (out []span) {
	t := d.md.theme
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out = append(out, span{decode(c.Segment.Value(d.src)), l})
			switch {
			case c.HardLineBreak():
				out = append(out, span{"\n", l})
			case c.SoftLineBreak():
				out = append(out, span{" ", l})
			}
		case *ast.String:
			out = append(out, span{string(c.Value), l})
		case *ast.CodeSpan:
			out = append(out, span{d.plain(c), l.with(t.code)})
		case *ast.Emphasis:
			as := t.italic
			if c.Level > 1 {
				as = t.bold
			}
			out = append(out, d.spans(c, l.with(as))...)
		case *east.Strikethrough:
			out = append(out, d.spans(c, l.with(t.strike))...)
		case *ast.Link:
			out = append(out, d.target(d.spans(c, l.with(t.link)), string(c.Destination), d.plain(c))...)
		case *ast.Image:
			out = append(out, span{"[image] ", l.with(t.dim)})
			out = append(out, d.target(d.spans(c, l), string(c.Destination), "")...)
		case *ast.AutoLink:
			out = append(out, span{string(c.URL(d.src)), l.with(t.link)})
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				seg := c.Segments.At(i)
				out = append(out, span{string(seg.Value(d.src)), l.with(t.dim)})
			}
		case *east.TaskCheckBox:
			box := "☐ "
			if c.IsChecked {
				box = "☑ "
			}
			out = append(out, span{box, l})
		default:
			out = append(out, d.spans(c, l)...)
		}
	}
	return out
}

// decode resolves escapes and character references. A reference can name any
// character, so the result is cleaned once more.
func decode(b []byte) string {
	b = util.ResolveEntityNames(util.ResolveNumericReferences(b))
	return terminal.Clean(string(util.UnescapePunctuations(b)))
}

// target shows where a link really goes, unless its words say so.
func (d *drawing) target(words []span, dest, said string) []span {
	if dest == "" || dest == said {
		return words
	}
	return append(words, span{" (" + dest + ")", d.md.theme.dim})
}

// plain is the words of a node without looks.
func (d *drawing) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(d.src))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(d.plain(c))
		}
	}
	return b.String()
}
