// Package markup turns the Markdown of an answer into what a network shows. It
// knows dialects, not networks, and takes any text: also one that was cut in its
// middle. What is visible is hardly ever longer than the Markdown was; a network
// that counts strictly cuts once more what it made.
package markup

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Plain takes the marks out: links show their address behind their words, lists and
// quotes keep their signs, code stands as it is. Control characters but line ends
// and tabs are left out.
func Plain(markdown string) string {
	src := []byte(clean(markdown))
	w := &plain{src: src}
	w.blocks(goldmark.New().Parser().Parse(text.NewReader(src)), "")
	return strings.TrimRight(w.out.String(), "\n ")
}

func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

type plain struct {
	src   []byte
	out   strings.Builder
	marks []mark // nil: nobody asks for them
}

// blocks writes the blocks of a node, each on lines that begin with lead. A line
// stays empty between them where one was.
func (w *plain) blocks(parent ast.Node, lead string) {
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

func (w *plain) block(n ast.Node, lead string) {
	switch n := n.(type) {
	case *ast.List:
		w.list(n, lead)
	case *ast.Blockquote:
		w.out.WriteString("> ")
		w.blocks(n, lead+"> ")
	case *ast.ThematicBreak:
		w.out.WriteString("---")
	case *ast.HTMLBlock:
		w.raw(n, lead)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.styled(Monospace, func() { w.raw(n, lead) })
	case *ast.Heading:
		w.styled(Bold, func() { w.inlines(n, lead) })
	default:
		w.inlines(n, lead)
	}
}

func (w *plain) list(l *ast.List, lead string) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			w.out.WriteString("\n" + lead)
		}
		sign := string(l.Marker) + " "
		if l.IsOrdered() {
			sign = strconv.Itoa(number) + string(l.Marker) + " "
			number++
		}
		w.out.WriteString(sign)
		w.blocks(item, lead+strings.Repeat(" ", len(sign)))
	}
}

// raw writes lines as they are.
func (w *plain) raw(n ast.Node, lead string) {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	w.out.WriteString(strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", "\n"+lead))
}

func (w *plain) inlines(parent ast.Node, lead string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			w.out.Write(unescaped(n.Value(w.src)))
			if n.HardLineBreak() || n.SoftLineBreak() {
				w.out.WriteString("\n" + lead)
			}
		case *ast.String:
			w.out.Write(n.Value)
		case *ast.CodeSpan:
			w.styled(Monospace, func() { w.code(n) })
		case *ast.Emphasis:
			w.styled(emphasis(n), func() { w.inlines(n, lead) })
		case *ast.AutoLink:
			w.out.Write(n.URL(w.src))
		case *ast.Link:
			w.link(n, string(n.Destination), lead)
		case *ast.Image:
			w.link(n, string(n.Destination), lead)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				w.out.Write(s.Value(w.src))
			}
		default:
			w.inlines(n, lead)
		}
	}
}

// code writes what stands between the marks of code.
func (w *plain) code(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.out.Write(t.Value(w.src))
		}
	}
}

// link writes the words of a link and its address, once where they are the same.
func (w *plain) link(n ast.Node, address, lead string) {
	at := w.out.Len()
	w.inlines(n, lead)
	words := w.out.String()[at:]
	switch {
	case words == "":
		w.out.WriteString(address)
	case words != address && address != "":
		w.out.WriteString(" (" + address + ")")
	}
}

// unescaped takes the backslash away from before a sign.
func unescaped(b []byte) []byte {
	if !bytes.ContainsRune(b, '\\') {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rune(b[i+1])) {
			continue
		}
		out = append(out, b[i])
	}
	return out
}
