// Package text makes texts short: for lists, errors and limits of protocols,
// never inside of a character. What may be shown at all (control characters,
// secrets) is for others to say.
package text

import (
	"strings"
	"unicode/utf8"
)

const more = "…"

// Ellipsis is s in at most n characters; the last one is … when something is
// left out.
func Ellipsis(s string, n int) string {
	if len(s) <= n {
		return s
	}
	short := First(s, n)
	if len(short) == len(s) || n <= 0 {
		return short
	}
	return First(short, n-1) + more
}

// First is the first n characters of s.
func First(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Prefix is as much of the beginning of s as fits into n bytes.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for back := 1; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}

// Line is s on one line, with one space wherever it has some.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }
