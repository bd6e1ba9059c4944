package policy

import (
	"strings"
	"unicode"
)

// Trigger is a message that asks for a new session.
type Trigger struct {
	Word string // the trigger, as configured
	Rest string // what else the message says
}

// Alone reports whether the message says nothing else: the new session is
// then confirmed with a greeting.
func (t Trigger) Alone() bool { return t.Rest == "" }

// FindTrigger reads a message's command body. /new and /reset always work;
// extra are the ones that were added. A trigger stands at the start and is a
// whole word; groups may add the bot's name to it: /new@hearth.
func FindTrigger(body string, extra []string) (Trigger, bool) {
	body = strings.TrimSpace(body)
	for _, word := range append([]string{"/new", "/reset"}, extra...) {
		word = strings.TrimSpace(word)
		if word == "" || len(body) < len(word) || !strings.EqualFold(body[:len(word)], word) {
			continue
		}
		rest := body[len(word):]
		if word[0] == '/' && strings.HasPrefix(rest, "@") {
			i := strings.IndexFunc(rest, unicode.IsSpace)
			if i < 0 {
				i = len(rest)
			}
			rest = rest[i:]
		}
		if trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace); rest == "" || len(trimmed) < len(rest) {
			return Trigger{Word: word, Rest: trimmed}, true
		}
	}
	return Trigger{}, false
}

// Catalogue is what a model can be named by.
type Catalogue struct {
	Aliases map[string]string // alias → "provider/model"
	Models  []string          // "provider/model", the preferred one of a provider first
}

// SplitModel takes the model from what follows /new and returns it as
// "provider/model" with the rest. An alias or a full name may be followed by a
// message; a provider's name or an unsure spelling counts only when it stands
// alone, because the first word of a message could be one by chance. ok is
// false when no model is meant.
func (c Catalogue) SplitModel(rest string) (ref, message string, ok bool) {
	word, message := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		word, message = rest[:i], strings.TrimSpace(rest[i:])
	}
	if ref, ok := c.exact(word); ok {
		return ref, message, true
	}
	if word == "" || message != "" && !strings.Contains(word, "/") {
		return "", rest, false
	}
	if ref, ok := c.near(word); ok {
		return ref, message, true
	}
	return "", rest, false
}

// exact finds an alias, a full name, or a model that only one provider has.
func (c Catalogue) exact(word string) (string, bool) {
	for alias, ref := range c.Aliases {
		if strings.EqualFold(alias, word) {
			return ref, true
		}
	}
	for _, ref := range c.Models {
		if strings.EqualFold(ref, word) {
			return ref, true
		}
	}
	return "", false
}

// near finds what an unsure spelling most likely means: the provider's first
// model, or the model that fits best. Two that fit equally well are no answer,
// except that the earlier one of the same provider wins.
func (c Catalogue) near(word string) (string, bool) {
	wantProvider, wantModel, full := strings.Cut(strings.ToLower(word), "/")
	best, bestScore, tie := "", 0, false
	for _, ref := range c.Models {
		provider, name, _ := strings.Cut(strings.ToLower(ref), "/")
		s := 0
		if full {
			p, m := likeness(wantProvider, provider), likeness(wantModel, name)
			if p > 0 && m > 0 {
				s = p*10 + m
			}
		} else {
			s = max(likeness(wantProvider, provider)*2+1, likeness(wantProvider, name)*2)
			if s == 1 {
				s = 0
			}
		}
		bestProvider, _, _ := strings.Cut(strings.ToLower(best), "/")
		switch {
		case s > bestScore:
			best, bestScore, tie = ref, s, false
		case s == bestScore && s > 0 && bestProvider != provider:
			tie = true
		}
	}
	return best, bestScore > 0 && !tie
}

// likeness is 0 (no) to 4 (the same).
func likeness(want, have string) int {
	switch {
	case want == "" || have == "":
		return 0
	case want == have:
		return 4
	case len(want) >= 3 && strings.HasPrefix(have, want):
		return 3
	case len(want) >= 3 && hasSegments(have, want):
		return 2
	case len(want) >= 4 && len(want) <= 64 && len(have) <= 64 && edits(want, have) <= len(want)/4:
		return 1
	}
	return 0
}

// hasSegments finds want in have where a part of the name begins:
// "opus" in "claude-opus-4".
func hasSegments(have, want string) bool {
	for i := 1; i < len(have); i++ {
		if strings.IndexByte("-_./: ", have[i-1]) >= 0 && strings.HasPrefix(have[i:], want) {
			return true
		}
	}
	return false
}

// edits is the number of letters to change, add, drop or swap with a
// neighbour between a and b.
func edits(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
