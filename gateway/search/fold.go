package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// appendFolded adds r without case and accent; a bare accent adds nothing.
func appendFolded(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, byte(r))
	case isAccent(r):
		return dst
	}
	var one [utf8.UTFMax]byte
	raw := one[:utf8.EncodeRune(one[:], r)]
	if classOf(r) == dense {
		return norm.NFKC.Append(dst, raw...) // kana of half width; marks and syllables stay whole
	}
	parts := norm.NFKD.Properties(raw).Decomposition()
	if parts == nil {
		return appendBase(dst, unicode.ToLower(r))
	}
	for _, part := range string(parts) {
		if !isAccent(part) && classOf(part) != gap {
			dst = appendBase(dst, unicode.ToLower(part))
		}
	}
	return dst
}

// appendBase adds a small letter as people type it who do not have it: Unicode
// takes no stroke apart from its letter, and some letters are two.
func appendBase(dst []byte, r rune) []byte {
	switch r {
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'þ':
		return append(dst, "th"...)
	case 'ð', 'đ':
		r = 'd'
	case 'ø':
		r = 'o'
	case 'ł':
		r = 'l'
	case 'ħ':
		r = 'h'
	case 'ŧ':
		r = 't'
	case 'ı':
		r = 'i'
	case 'ς': // at the end of a word
		r = 'σ'
	}
	return utf8.AppendRune(dst, r)
}

// isAccent reports marks that people leave out when they type: accents, and
// the vowel points of Hebrew and Arabic.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36f, r >= 0x591 && r <= 0x5c7 && r != 0x5be && r != 0x5c0 && r != 0x5c3, r >= 0x64b && r <= 0x65f, r == 0x670,
		r >= 0x1ab0 && r <= 0x1aff, r >= 0x1dc0 && r <= 0x1dff, r >= 0x20d0 && r <= 0x20ff, r >= 0xfe20 && r <= 0xfe2f:
		return true
	}
	return false
}

// class sorts runes by how words are made of them.
type class int

const (
	gap   class = iota
	word        // letters and digits that stand in words with spaces between
	dense       // scripts without spaces
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return word
		}
		return gap
	case isAccent(r):
		return word
	case r >= 0x0e00 && r <= 0x0eff || r >= 0x1000 && r <= 0x109f || r >= 0x1780 && r <= 0x17ff, // Thai, Lao, Myanmar, Khmer
		r >= 0x3040 && r <= 0x30ff || r >= 0x31f0 && r <= 0x31ff || r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff,
		r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xff66 && r <= 0xff9d || r >= 0x20000 && r <= 0x3ffff:
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == 0x30fc {
			return dense
		}
		return gap
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return word
	}
	return gap
}
