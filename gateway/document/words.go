package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean takes out what cannot be seen and could turn or hide text, and makes line
// ends one.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || hidden(r) {
			return -1
		}
		return r
	}, s)
}

// hidden: marks that turn the direction of text around, tags, and byte order marks.
// Those that only say which way a letter goes (LRM, RLM, ALM) are part of a text.
func hidden(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0xFEFF || r >= 0xE0000 && r <= 0xE007F
}

// oneLine makes a name of what a file says of itself.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if len(s) > most {
		s = cut(s, most-3) + "…"
	}
	return s
}

// cut shortens at a letter's beginning.
func cut(s string, most int) string {
	if most >= len(s) {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:max(most, 0)]
}
