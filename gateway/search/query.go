package search

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/internal/text"
)

// maxWords bounds a query.
const maxWords = 16

// query is what a person looks for.
type query struct {
	words []wanted
}

type wanted struct {
	folded []byte
	prefix bool // the beginning of a word is enough
	dense  bool
}

// parse reads the words of a query. The last one may be unfinished, unless a
// space follows it.
func parse(s string) query {
	var q query
	for t := range tokens(s) {
		if len(q.words) == maxWords {
			break
		}
		w := wanted{folded: bytes.Clone(t.folded), dense: t.dense, prefix: !t.dense && t.end == len(s)}
		if !q.has(w) {
			q.words = append(q.words, w)
		}
	}
	return q
}

func (q query) has(w wanted) bool {
	for _, x := range q.words {
		if bytes.Equal(x.folded, w.folded) && x.prefix == w.prefix {
			return true
		}
	}
	return false
}

// span is a part of a text, in bytes.
type span struct{ start, end int }

// maxSpans bounds how many places of one message are marked.
const maxSpans = 64

// match finds the query in a text: where its words stand, and whether all do.
func (q query) match(body string) (spans []span, ok bool) {
	body = text.Prefix(body, maxText)
	seen := make([]bool, len(q.words))
	left := len(q.words)
	for t := range tokens(body) {
		for i, w := range q.words {
			at, found := w.in(t, body)
			if !found {
				continue
			}
			if !seen[i] {
				seen[i] = true
				left--
			}
			if len(spans) < maxSpans && (len(spans) == 0 || spans[len(spans)-1].end <= at.start) {
				spans = append(spans, at)
			}
		}
		if left == 0 && len(spans) == maxSpans {
			break
		}
	}
	return spans, left == 0
}

// in tells whether a token holds the word, and where in the text.
func (w wanted) in(t token, text string) (span, bool) {
	switch {
	case w.dense != t.dense:
		return span{}, false
	case w.dense:
		n := bytes.Index(t.folded, w.folded)
		if n < 0 {
			return span{}, false
		}
		return span{unfold(text, t, n), unfold(text, t, n+len(w.folded))}, true
	case w.prefix:
		if !bytes.HasPrefix(t.folded, w.folded) {
			return span{}, false
		}
		return span{t.start, unfold(text, t, len(w.folded))}, true
	}
	return span{t.start, t.end}, bytes.Equal(t.folded, w.folded)
}

// unfold is the place in the text where n bytes of a token's folded form end.
func unfold(text string, t token, n int) int {
	var buf []byte
	for i, r := range text[t.start:t.end] {
		if len(buf) >= n && !isAccent(r) {
			return t.start + i
		}
		buf = appendFolded(buf, r)
	}
	return t.end
}

// snippetRunes is about how long a snippet is, in runes.
const snippetRunes = 160

// snippet cuts a text around the first words that were found. Line ends become
// spaces; ranges count UTF-16 units of the snippet, as browsers do.
func snippet(text string, spans []span) (s string, ranges [][2]int) {
	from := 0
	if len(spans) > 0 {
		from = back(text, spans[0].start, snippetRunes/4)
	}
	var b strings.Builder
	units, runes, k := 0, 0, 0
	put := func(r rune) {
		b.WriteRune(r)
		units++
		if r > 0xffff {
			units++
		}
	}
	if from > 0 {
		put('…')
	}
	blank := true
	for i, r := range text[from:] {
		at := from + i
		ranges = closeRanges(ranges, spans[:k], at, units) // before the next one begins right behind it
		if k < len(spans) && spans[k].start <= at {
			ranges = append(ranges, [2]int{units, -1})
			k++
		}
		if runes++; runes > snippetRunes {
			put('…')
			return b.String(), trimRanges(ranges, units-1)
		}
		if r <= ' ' || r == 0x85 || r == 0xa0 || r == 0x2028 || r == 0x2029 {
			if !blank {
				put(' ')
			}
			blank = true
			continue
		}
		blank = false
		put(r)
	}
	return b.String(), trimRanges(ranges, units)
}

// closeRanges ends the open range once its span has passed.
func closeRanges(ranges [][2]int, spans []span, at, units int) [][2]int {
	if n := len(ranges); n > 0 && ranges[n-1][1] < 0 && spans[len(spans)-1].end <= at {
		ranges[n-1][1] = units
	}
	return ranges
}

func trimRanges(ranges [][2]int, end int) [][2]int {
	out := make([][2]int, 0, len(ranges))
	for _, r := range ranges {
		if r[1] < 0 || r[1] > end {
			r[1] = end
		}
		if r[0] < r[1] {
			out = append(out, r)
		}
	}
	return out
}

// back goes n runes back from i, at a word's beginning if one is near.
func back(text string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	if i > 0 {
		if k := strings.IndexAny(text[i:min(len(text), i+30)], " \n\t"); k >= 0 {
			i += k + 1
		}
	}
	return i
}
