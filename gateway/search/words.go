package search

import (
	"iter"
	"unicode/utf8"
)

const (
	// maxTerm is how many bytes of a word the index tells apart.
	maxTerm = 24
	// maxText bounds how much of one message is read.
	maxText = 1 << 20
)

// token is a word of a text, or a run of a script without spaces. folded is
// valid until the next one.
type token struct {
	folded     []byte
	start, end int // in the text
	dense      bool
}

// tokens yields the words of a text.
func tokens(text string) iter.Seq[token] {
	return func(yield func(token) bool) {
		var buf []byte
		t, kind := token{}, gap
		flush := func(end int) bool {
			t.folded, t.end, t.dense = buf, end, kind == dense
			return kind == gap || len(buf) == 0 || yield(t)
		}
		for i := 0; i < len(text); {
			r, n := rune(text[i]), 1
			if r >= utf8.RuneSelf {
				r, n = utf8.DecodeRuneInString(text[i:])
			}
			k := classOf(r)
			if k == word && kind == dense && isAccent(r) {
				k = dense // a mark goes with what it stands on
			}
			if k != kind {
				if !flush(i) {
					return
				}
				buf, kind, t.start = buf[:0], k, i
			}
			if k != gap {
				buf = appendFolded(buf, r)
			}
			i += n
		}
		flush(len(text))
	}
}

// addTerms calls add with every term of a token: a word is one; a dense run has
// each two neighbours, and its last rune alone, so that every rune begins one.
func (t token) addTerms(add func(term []byte)) {
	if !t.dense {
		add(clipTerm(t.folded))
		return
	}
	for i := 0; i < len(t.folded); {
		_, n := utf8.DecodeRune(t.folded[i:])
		_, m := utf8.DecodeRune(t.folded[i+n:])
		add(t.folded[i : i+n+m])
		i += n
	}
}

// clipTerm cuts a long word between runes.
func clipTerm(w []byte) []byte {
	if len(w) <= maxTerm {
		return w
	}
	n := maxTerm
	for n > 0 && !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// Term is one entry that a text has in an index of words.
type Term struct {
	Text []byte // folded; valid until the next one
	// Tail: the last sign of a run of a script without spaces. Everything that
	// begins with it holds it as well.
	Tail bool
	// Only: there is nothing else in its run.
	Only bool
}

// Terms calls add with the words of a text, without case and accents; runs of
// scripts without spaces come as pairs of neighbours and the last sign alone.
// Other indexes read text in the same way.
func Terms(text string, add func(Term)) {
	for tok := range tokens(text) {
		count := 0
		tok.addTerms(func(term []byte) {
			count++
			_, n := utf8.DecodeRune(term)
			tail := tok.dense && n == len(term)
			add(Term{Text: term, Tail: tail, Only: !tok.dense || tail && count == 1})
		})
	}
}
