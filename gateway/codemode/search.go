package codemode

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxQuery = 1000 // bytes that are looked at
	maxWords = 32
)

// search finds tools by words, the best first. Without words it is the
// beginning of the list.
func (c *catalog) search(query string, limit int) []Entry {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	words := tokens(query)
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	type hit struct {
		l     *listed
		score int
	}
	var hits []hit
	whole := strings.ToLower(strings.TrimSpace(query))
	for _, l := range c.list {
		n := l.score(words)
		if whole != "" && (whole == strings.ToLower(l.ID) || whole == strings.ToLower(l.Name) || whole == l.spec.Name) {
			n += 1000
		}
		if n > 0 || len(words) == 0 {
			hits = append(hits, hit{l, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := []Entry{}
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.l.Entry)
	}
	return out
}

// score says how well a tool fits the words: its name counts most, and a tool
// that fits all words more than one that fits one of them well.
func (l *listed) score(words []string) (sum int) {
	fit := 0
	for _, w := range words {
		best := 0
		for _, name := range l.words {
			switch {
			case name == w:
				best = max(best, 30)
			case same(name, w):
				best = max(best, 25)
			case len(w) > 2 && strings.HasPrefix(name, w), len(name) > 2 && strings.HasPrefix(w, name):
				best = max(best, 12)
			case len(w) > 2 && strings.Contains(name, w):
				best = max(best, 8)
			}
		}
		if best == 0 {
			best = l.about[w]
		}
		if best > 0 {
			fit++
		}
		sum += best
	}
	return sum + 10*fit*fit*boolInt(len(words) > 1)/max(len(words), 1)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// aboutWords weighs the words of a description, the first ones more. Words that
// every description has are left out.
func aboutWords(s string) map[string]int {
	out := map[string]int{}
	for i, w := range tokens(s) {
		if len(w) < 3 || slices.Contains([]string{"the", "and", "that", "this", "what", "with", "for", "from", "not", "are", "can", "you", "its",
			"all", "when"}, w) {
			continue
		}
		for _, form := range []string{w, strings.TrimSuffix(w, "s"), w + "s"} {
			if weight := 4 + 2*boolInt(i < 30); out[form] < weight {
				out[form] = weight
			}
		}
	}
	return out
}

// same takes singular and plural for one word.
func same(a, b string) bool {
	return strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") && len(a) > 2 && len(b) > 2
}

// tokens are the words of a name or a question, in lower case: at signs that are
// no letters, and inside of camelCase.
func tokens(s string) (out []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			end()
		}
		b.WriteRune(r)
		lower = !unicode.IsUpper(r)
	}
	end()
	return out
}
