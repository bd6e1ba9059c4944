package client

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// unseen stands between an @ and what follows it, so that nobody is called: it has no
// width, and ends a word for the server. The API has no switch for it.
const unseen = "\u200b"

// defused is a text that calls nobody: neither a person, nor a group, nor all. Code is
// left as it is, because nobody is called from there.
func defused(markdown string) string {
	markdown = strings.ToValidUTF8(markdown, "\uFFFD")
	if !strings.ContainsAny(markdown, "@＠") {
		return markdown
	}
	code := codeIn(markdown)
	var b strings.Builder
	for i, r := range markdown {
		b.WriteRune(r)
		if r != '@' && r != '＠' || code.has(i) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(markdown[:i]); i > 0 && (unicode.IsLetter(before) || unicode.IsNumber(before)) {
			continue // an address of mail
		}
		b.WriteString(unseen)
	}
	return b.String()
}

// spans are parts of a text.
type spans [][2]int

func (s spans) has(at int) bool {
	for _, p := range s {
		if at >= p[0] && at < p[1] {
			return true
		}
	}
	return false
}

// codeIn finds what is code: spans, and blocks with fences. Indented text is left out,
// which servers may see otherwise.
func codeIn(markdown string) (out spans) {
	src := []byte(markdown)
	_ = ast.Walk(goldmark.New().Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				out = append(out, [2]int{line.Start, line.Stop})
			}
		case *ast.CodeSpan:
			for t := n.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					out = append(out, [2]int{t.Segment.Start, t.Segment.Stop})
				}
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}
