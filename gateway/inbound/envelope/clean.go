package envelope

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestLabel of a name, in characters.
const longestLabel = 80

// Label makes a name that others chose fit to stand in an envelope: one short
// line without brackets, colons or invisible characters.
func Label(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		switch {
		case r == utf8.RuneError || invisible(r) || unicode.IsControl(r) && !unicode.IsSpace(r):
			continue
		case unicode.IsSpace(r):
			r = ' '
		default:
			switch f := fold(r); {
			case opening(r):
				r = '('
			case closing(r):
				r = ')'
			case f == ':' || r == '։' || r == '꞉' || r == '∶' || r == '˸':
				r = ' '
			}
		}
		if n++; n > longestLabel {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return breakMarks(strings.Join(strings.Fields(b.String()), " "))
}

// Clean makes a text that others wrote fit to stand in a prompt: what only
// machines can see is taken out, and what looks like a mark of Hearth's, or
// like the head of another message of the channel, is broken.
func Clean(text, channel string) string {
	return breakHeads(breakMarks(visible(text)), channel)
}

// visible drops control characters and the invisible code points in which
// text can be hidden from people (A-INJ-10).
func visible(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	var prev rune
	flag := false // within the tag letters of a flag emoji
	for _, r := range s {
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			r = '\n'
		case r == '\n' || r == '\t':
		case unicode.IsControl(r):
			continue
		case r >= 0xE0000 && r <= 0xE007F:
			if !flag && prev != 0x1F3F4 {
				continue
			}
			flag = true
			b.WriteRune(r)
			continue
		case selector(r) && (selector(prev) || prev == 0):
			continue
		case r >= 0xE0100 && r <= 0xE01EF && !unicode.Is(unicode.Han, prev):
			continue
		}
		flag = false
		prev = r
		b.WriteRune(r)
	}
	return b.String()
}

// selector reports whether r is a variation selector: one may follow a
// character, a row of them is a hiding place.
func selector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// marks are the letters of Hearth's marks; nothing but them is compared, so
// that spaces, dashes, brackets or invisible characters cannot hide one.
func marks() []string {
	return []string{"chatmessagessinceyourlastreply", "currentmessagerespondtothis", "replyingtountrustedquote", "untrustednotthesenderswords"}
}

// brokenMark stands where a text held a mark.
const brokenMark = "(a quoted mark)"

// breakMarks replaces every look-alike of a mark.
func breakMarks(s string) string {
	letters := make([]byte, 0, len(s))
	at := make([]int, 0, len(s)) // where each letter stands in s
	for i, r := range s {
		if f := fold(r); f >= 'a' && f <= 'z' {
			letters, at = append(letters, byte(f)), append(at, i)
		}
	}
	var b strings.Builder
	done := 0
	flat := string(letters)
	for i := 0; i < len(flat); {
		m := ""
		for _, mark := range marks() {
			if strings.HasPrefix(flat[i:], mark) && standsApart(s[done:at[i]]) {
				m = mark
			}
		}
		if m == "" {
			i++
			continue
		}
		last := at[i+len(m)-1]
		_, n := utf8.DecodeRuneInString(s[last:])
		b.WriteString(s[done:at[i]] + brokenMark)
		done = last + n
		i += len(m)
	}
	return b.String() + s[done:]
}

// standsApart says whether what follows before could be a mark: it is at the
// start of a line or behind punctuation, not within a sentence.
func standsApart(before string) bool {
	for before != "" {
		r, n := utf8.DecodeLastRuneInString(before)
		switch {
		case r == '\n':
			return true
		case r == ' ' || r == '\t' || invisible(r) || unicode.Is(unicode.Mn, r) || unicode.IsSpace(r):
			before = before[:len(before)-n]
		default:
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ',' && r != '.'
		}
	}
	return true
}

// breakHeads turns the bracket of a line that begins like an envelope of the
// channel, "[Network ", into a parenthesis.
func breakHeads(s, channel string) string {
	want := letters(channel)
	if want == "" || !strings.ContainsFunc(s, opening) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		rest := strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || invisible(r) })
		r, n := utf8.DecodeRuneInString(rest)
		if opening(r) && strings.HasPrefix(letters(rest[n:min(len(rest), n+4*len(want)+64)]), want) {
			lines[i] = line[:len(line)-len(rest)] + "(" + rest[n:]
		}
	}
	return strings.Join(lines, "\n")
}

// letters are the folded Latin letters of s.
func letters(s string) string {
	var b strings.Builder
	for _, r := range s {
		if f := fold(r); f >= 'a' && f <= 'z' {
			b.WriteRune(f)
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || selector(r) || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0'
}

func opening(r rune) bool {
	return r == '[' || r == '［' || unicode.Is(unicode.Ps, r) && r != '(' && r != '{'
}

func closing(r rune) bool {
	return r == ']' || r == '］' || unicode.Is(unicode.Pe, r) && r != ')' && r != '}'
}
