package imports

import (
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/internal/text"
)

// Line is what strangers wrote as one line for people: without control characters,
// without signs that turn text around or are not seen, and not longer than that.
func Line(s string, most int) string {
	s = text.Prefix(s, most*8)
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return text.Ellipsis(text.Line(s), most)
}
