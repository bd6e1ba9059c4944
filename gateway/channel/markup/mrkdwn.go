package markup

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Mrkdwn makes Slack's own kind of Markdown. All that a text says is escaped, so that
// no part of it is a call of people or channels; links are those to the web and to
// mail addresses. Tables become lines with bars between.
func Mrkdwn(markdown string) string {
	src := []byte(clean(markdown))
	w := &mrkdwn{src: src}
	p := goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table)).Parser()
	w.blocks(p.Parse(text.NewReader(src)), "")
	return strings.TrimRight(w.out.String(), "\n ")
}

// MrkdwnEscape writes the signs that mean something to Slack as what they are.
func MrkdwnEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

type mrkdwn struct {
	src []byte
	out strings.Builder
}

// blocks writes the blocks of a node, each on lines that begin with lead.
func (w *mrkdwn) blocks(parent ast.Node, lead string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			w.out.WriteString("\n")
			if n.HasBlankPreviousLines() {
				w.out.WriteString(strings.TrimRight(lead, " ") + "\n")
			}
			w.out.WriteString(lead)
		}
		w.block(n, lead)
	}
}

func (w *mrkdwn) block(n ast.Node, lead string) {
	switch n := n.(type) {
	case *ast.Heading:
		w.around("*", n, lead)
	case *ast.List:
		w.list(n, lead)
	case *ast.Blockquote:
		w.out.WriteString("> ")
		w.blocks(n, lead+"> ")
	case *ast.ThematicBreak:
		w.out.WriteString("———")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.out.WriteString("```\n" + lead)
		w.raw(n, lead)
		w.out.WriteString("\n" + lead + "```")
	case *ast.HTMLBlock:
		w.raw(n, lead)
	case *east.Table, *east.TableHeader, *east.TableRow:
		w.table(n, lead)
	default:
		w.inlines(n, lead)
	}
}

// table writes rows as lines.
func (w *mrkdwn) table(n ast.Node, lead string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		_, cell := c.(*east.TableCell)
		switch {
		case c.PreviousSibling() == nil:
		case cell:
			w.out.WriteString(" | ")
		default:
			w.out.WriteString("\n" + lead)
		}
		if cell {
			w.inlines(c, lead)
			continue
		}
		w.table(c, lead)
	}
}

func (w *mrkdwn) list(l *ast.List, lead string) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			w.out.WriteString("\n" + lead)
		}
		sign := "• "
		if l.IsOrdered() {
			sign = strconv.Itoa(number) + ". "
			number++
		}
		w.out.WriteString(sign)
		w.blocks(item, lead+"    ")
	}
}

// raw writes lines as they are.
func (w *mrkdwn) raw(n ast.Node, lead string) {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	s := strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "```", "`\u200b``")
	w.out.WriteString(strings.ReplaceAll(MrkdwnEscape(s), "\n", "\n"+lead))
}

// around writes a node between signs, if it says something.
func (w *mrkdwn) around(sign string, n ast.Node, lead string) {
	at := w.out.Len()
	w.inlines(n, lead)
	words := w.out.String()
	inner := words[at:]
	if strings.TrimSpace(inner) == "" || strings.Contains(inner, "\n") || strings.HasPrefix(inner, sign) {
		return
	}
	w.out.Reset()
	w.out.WriteString(words[:at] + sign + inner + sign)
}

func (w *mrkdwn) inlines(parent ast.Node, lead string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			w.out.WriteString(MrkdwnEscape(string(unescaped(n.Value(w.src)))))
			if n.HardLineBreak() || n.SoftLineBreak() {
				w.out.WriteString("\n" + lead)
			}
		case *ast.String:
			w.out.WriteString(MrkdwnEscape(string(n.Value)))
		case *ast.CodeSpan:
			w.code(n)
		case *ast.Emphasis:
			w.around(map[bool]string{true: "*", false: "_"}[n.Level > 1], n, lead)
		case *east.Strikethrough:
			w.around("~", n, lead)
		case *ast.AutoLink:
			w.link(string(n.URL(w.src)), "")
		case *ast.Link:
			w.link(string(n.Destination), w.words(n))
		case *ast.Image:
			w.link(string(n.Destination), w.words(n))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				w.out.WriteString(MrkdwnEscape(string(s.Value(w.src))))
			}
		default:
			w.inlines(n, lead)
		}
	}
}

func (w *mrkdwn) code(n *ast.CodeSpan) {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(w.src))
		}
	}
	inner := strings.ReplaceAll(strings.ReplaceAll(b.String(), "\n", " "), "`", "'")
	w.out.WriteString("`" + MrkdwnEscape(inner) + "`")
}

// words are those of a node, without signs.
func (w *mrkdwn) words(n ast.Node) string {
	own := &mrkdwn{src: w.src}
	own.inlines(n, "")
	return strings.ReplaceAll(own.out.String(), "\n", " ")
}

// link writes a link that Slack shows, or the words and the address.
func (w *mrkdwn) link(address, words string) {
	u, err := url.Parse(address)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto") && strings.HasPrefix(address, u.Scheme)
	if !web || strings.ContainsAny(address, "<>| \n") {
		if words != "" && address != "" {
			words += " (" + MrkdwnEscape(address) + ")"
		} else if words == "" {
			words = MrkdwnEscape(address)
		}
		w.out.WriteString(words)
		return
	}
	w.out.WriteString("<" + strings.ReplaceAll(address, "&", "&amp;"))
	if label := strings.NewReplacer("|", "¦", "<", "‹", ">", "›").Replace(words); strings.TrimSpace(label) != "" && label != address {
		w.out.WriteString("|" + label)
	}
	w.out.WriteString(">")
}
