package markup

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Style is how a part of a text looks.
type Style string

// Styles.
const (
	Bold      Style = "bold"
	Italic    Style = "italic"
	Monospace Style = "monospace"
)

// Styled is a part of a text with a style, in UTF-16 code units.
type Styled struct {
	Style         Style
	Start, Length int
}

// mostStyled is how many parts of one text have a style.
const mostStyled = 200

// PlainStyled is Plain with what the marks said beside it, in the order of the text.
func PlainStyled(markdown string) (string, []Styled) {
	src := []byte(clean(markdown))
	w := &plain{src: src, marks: []mark{}}
	w.blocks(goldmark.New().Parser().Parse(text.NewReader(src)), "")
	words := w.out.String()
	whole := strings.TrimRight(words, "\n ")
	slices.SortStableFunc(w.marks, func(a, b mark) int { return a.from - b.from })
	var out []Styled
	for _, m := range w.marks {
		to := min(m.to, len(whole))
		if to <= m.from || len(out) == mostStyled {
			continue
		}
		out = append(out, Styled{m.style, channel.UTF16.Len(whole[:m.from]), channel.UTF16.Len(whole[m.from:to])})
	}
	return whole, out
}

// mark is a part of what is written with a style, in bytes.
type mark struct {
	style    Style
	from, to int
}

// styled writes something, and keeps that it has a style where that is asked for.
func (w *plain) styled(s Style, write func()) {
	from := w.out.Len()
	write()
	if w.marks != nil && w.out.Len() > from {
		w.marks = append(w.marks, mark{s, from, w.out.Len()})
	}
}

func emphasis(n *ast.Emphasis) Style {
	if n.Level > 1 {
		return Bold
	}
	return Italic
}
