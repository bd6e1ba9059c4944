package prompt

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What others named is written as JSON, so that it cannot end its line and go
// on as an instruction (A-INJ-03).

// longest is the most of one name, in bytes.
const longest = 1024

// quoted is s as a JSON string, without anything that a person would not see.
func quoted(s string) string {
	s = oneLine(s)
	if plain(s) && !strings.ContainsAny(s, "\"\\<>&") {
		return `"` + s + `"`
	}
	raw, err := json.Marshal(s)
	if err != nil { // a string always can be
		return `""`
	}
	return string(raw)
}

// oneLine leaves what can be seen on one line.
func oneLine(s string) string {
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	s = strings.TrimSpace(s)
	if plain(s) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case Hidden(r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s))
}

// plain reports text of nothing but printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Hidden reports characters that steer a screen or are not seen on it: control
// characters, those that turn the direction of writing around, and tags. What
// joins letters and emoji is left.
func Hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return r != '\n' && r != '\t'
	case r < 0xad:
		return false
	case r == 0x200c, r == 0x200d: // joiners, which scripts and emoji need
		return false
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and selectors that can carry text
		return true
	}
	return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// list is a JSON array of names.
func list(names []string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = quoted(n)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// object is a JSON object on one line, in the given order and without what is
// empty: name, value, name, value.
func object(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(pairs[i]))
		b.WriteByte(':')
		b.WriteString(quoted(pairs[i+1]))
	}
	b.WriteByte('}')
	return b.String()
}

// escape makes text safe between tags.
func escape(s string) string {
	if s = oneLine(s); !strings.ContainsAny(s, "&<>") {
		return s
	}
	s = strings.ReplaceAll(s, "&", "&amp;")
	s = strings.ReplaceAll(s, "<", "&lt;")
	return strings.ReplaceAll(s, ">", "&gt;")
}
