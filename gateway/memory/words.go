package memory

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/search"
)

// maxQueryWords bounds what one question looks up.
const maxQueryWords = 32

// eachTerm calls fn with the words of a text as the index has them.
func eachTerm(text string, fn func(term []byte)) {
	search.Terms(text, func(t search.Term) {
		w := t.Text
		if len(w) > maxTermBytes {
			w = w[:maxTermBytes]
		}
		fn(w)
	})
}

// queryWord is a word that is looked for.
type queryWord struct {
	text   string
	prefix bool // everything that begins so
}

// queryWords are the words of a question, each once.
func queryWords(q string) (out []queryWord) {
	search.Terms(q, func(t search.Term) {
		if t.Tail && !t.Only || len(out) >= maxQueryWords {
			return // the pair before it says more
		}
		w := queryWord{string(t.Text[:min(len(t.Text), maxTermBytes)]), t.Tail}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	})
	return out
}

// contextWords are the words of a file's name: "what did we say on the 3rd"
// finds the notes of that day.
func contextWords(rel string) (out []string) {
	eachTerm(strings.TrimSuffix(rel, ".md"), func(t []byte) {
		if w := string(t); w != "memory" && w != "people" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	})
	return out
}
