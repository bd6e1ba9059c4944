package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errBinary   = errors.New("it is not text")
	errEncoding = errors.New("its text is not UTF-8; save it as UTF-8")
)

// decode makes harmless text of a file's bytes: UTF-8, or UTF-16 with its mark.
func decode(raw []byte) (string, error) {
	whole := len(raw) < maxRead
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return harmless(utf16Text(raw[2:], binary.LittleEndian)), nil
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return harmless(utf16Text(raw[2:], binary.BigEndian)), nil
	case bytes.IndexByte(raw, 0) >= 0:
		return "", errBinary
	}
	for i := 0; !whole && i < utf8.UTFMax && len(raw) > 0 && !utf8.Valid(raw[max(0, len(raw)-utf8.UTFMax):]); i++ {
		raw = raw[:len(raw)-1] // a character that was cut in two
	}
	if !utf8.Valid(raw) {
		return "", errEncoding
	}
	return harmless(string(raw)), nil
}

func utf16Text(raw []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

// harmless takes out what steers a screen or is not seen on it, so that a person
// who looks at the file sees what the model reads (A-INJ-10).
func harmless(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == 0x200c, r == 0x200d:
			return r
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xe0000 && r <= 0xe0fff:
			return -1
		}
		return r
	}, s)
}

// cut returns at most limit characters of a text: its beginning and its end,
// with a mark between them that says so.
func cut(name, text string, limit int) (out string, kept, chars int) {
	text = strings.TrimSpace(text)
	if chars = utf8.RuneCountInString(text); chars <= limit {
		return text, chars, chars
	}
	mark := "\n\n[… cut: read " + name + " for the rest …]\n\n"
	room := limit - utf8.RuneCountInString(mark)
	if room <= 0 {
		return strings.TrimSpace(mark), 0, chars
	}
	tail := room * 2 / 9
	head := room - tail
	return text[:offset(text, head)] + mark + text[offset(text, chars-tail):], room, chars
}

// offset is where the n-th character begins.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Shown is a text as a file of a prompt: harmless, and cut.
func Shown(name, text string, limits Limits) (f File) {
	f.Name = name
	f.Text, f.Kept, f.Chars = cut(name, harmless(text), min(limits.File, limits.Total))
	return f
}
