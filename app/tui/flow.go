package tui

import (
	"strings"

	"github.com/rivo/uniseg"
)

// span is text of one look. A span whose text is "\n" breaks the line.
type span struct {
	text string
	look look
}

// flow lays spans out in lines of at most w cells: between words where there
// is room, inside a long word where there is none. first stands before the
// first line, rest before the others; both are painted already.
type flow struct {
	w           int
	first, rest string

	lines []string
	line  strings.Builder
	used  int // cells of the line behind its prefix
	room  int
	word  []span
	long  int  // cells of the word
	gap   span // the blank before the word
}

// wrap lays spans out.
func wrap(spans []span, w int, first, rest string) []string {
	f := &flow{w: max(w, 4), first: first, rest: rest}
	f.open()
	for _, s := range spans {
		f.add(s)
	}
	f.endWord()
	f.close()
	return f.lines
}

func (f *flow) open() {
	prefix := f.rest
	if len(f.lines) == 0 {
		prefix = f.first
	}
	f.line.Reset()
	f.line.WriteString(prefix)
	f.room = max(2, f.w-width(prefix))
	f.used = 0
	f.gap = span{}
}

func (f *flow) close() {
	f.lines = append(f.lines, strings.TrimRight(f.line.String(), " "))
}

func (f *flow) add(s span) {
	state := -1
	rest := s.text
	for rest != "" {
		var c string
		var n int
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		n = cells(c)
		switch c {
		case "\n", "\r\n":
			f.endWord()
			f.close()
			f.open()
		case " ", "\t":
			f.endWord()
			f.gap = span{" ", s.look}
		default:
			f.grow(c, n, s.look)
		}
	}
}

func (f *flow) grow(c string, n int, l look) {
	if f.long+n > f.room { // longer than a line: cut it
		f.endWord()
	}
	if k := len(f.word); k > 0 && f.word[k-1].look == l {
		f.word[k-1].text += c
	} else {
		f.word = append(f.word, span{c, l})
	}
	f.long += n
	if n == 2 { // wide scripts break anywhere
		f.endWord()
	}
}

// endWord puts the word on this line or the next.
func (f *flow) endWord() {
	if len(f.word) == 0 {
		return
	}
	gap := 0
	if f.used > 0 && f.gap.text != "" {
		gap = 1
	}
	if f.used > 0 && f.used+gap+f.long > f.room {
		f.close()
		f.open()
		gap = 0
	}
	if gap > 0 {
		f.line.WriteString(f.gap.look.paint(" "))
	}
	for _, s := range f.word {
		f.line.WriteString(s.look.paint(s.text))
	}
	f.used += gap + f.long
	f.word, f.long, f.gap = f.word[:0], 0, span{}
}

// rows lays out text that keeps its spaces, such as code: lines that are too
// long go on below.
func rows(text string, w int, prefix string, l look) []string {
	w = max(2, w-width(prefix))
	var out []string
	for _, s := range strings.Split(expand(text), "\n") {
		for {
			head, rest := cutCells(s, w)
			out = append(out, prefix+l.paint(head))
			if rest == "" {
				break
			}
			s = rest
		}
	}
	return out
}

// expand writes tabs as blanks.
func expand(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// cutCells splits s behind at most w cells, never inside of a character.
func cutCells(s string, w int) (head, rest string) {
	used, state := 0, -1
	rest = s
	for rest != "" {
		c, next, _, st := uniseg.FirstGraphemeClusterInString(rest, state)
		if n := cells(c); used+n > w && used > 0 {
			break
		} else {
			used += n
		}
		rest, state = next, st
	}
	return s[:len(s)-len(rest)], rest
}

// cells is the width of one character. Segments are uniseg's, widths are those
// of the library that draws.
func cells(c string) int {
	if len(c) == 1 {
		return 1
	}
	return width(c)
}
