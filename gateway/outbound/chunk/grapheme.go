package chunk

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// plain runes neither extend the one before nor take in the one after, so
// between two of them there is always a boundary. It is a shortcut only: most
// text never reaches the tables.
func plain(r rune) bool {
	switch {
	case r < 0x80:
		return r >= ' ' && r != 0x7f || r == '\t'
	case r < 0x300:
		return r >= 0xc0
	}
	return r >= 0x400 && r <= 0x47f || // Cyrillic
		r >= 0x5d0 && r <= 0x5ea || // Hebrew
		r >= 0x620 && r <= 0x64a || // Arabic
		r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fa || // kana
		r >= 0x3001 && r <= 0x3029 || r >= 0xff01 && r <= 0xff0f || // CJK marks
		r >= 0x4e00 && r <= 0x9fff // CJK
}

// picture: an emoji that starts a cluster unless a joiner comes before it.
func picture(r rune) bool { return r >= 0x1f300 && r <= 0x1faff && (r < 0x1f3fb || r > 0x1f3ff) }

// joined runes belong to the one before and not to the one after.
func joined(r rune) bool {
	return r == 0xfe0f || r >= 0x300 && r <= 0x36f || r >= 0x1f3fb && r <= 0x1f3ff
}

// boundary says whether b may be cut at p.
func boundary(b []byte, p int) bool {
	if p <= 0 || p >= len(b) {
		return true
	}
	if b[p-1] < 0x80 && b[p] < 0x80 {
		return b[p-1] != '\r' || b[p] != '\n'
	}
	return boundaryBefore(b, p) == p
}

// boundaryBefore is the last place not after p where b may be cut.
func boundaryBefore(b []byte, p int) int {
	if p >= len(b) {
		return len(b)
	}
	if p <= 0 {
		return 0
	}
	if b[p-1] == '\n' {
		return p
	}
	last, _ := utf8.DecodeLastRune(b[:p])
	next, n := utf8.DecodeRune(b[p:])
	if plain(last) && plain(next) {
		return p
	}
	at := anchor(b, p)
	b = b[:p+n] // what follows does not matter, and a cluster can be endless
	state := -1
	for at < p {
		var cluster []byte
		cluster, _, _, state = uniseg.FirstGraphemeCluster(b[at:], state)
		if at+len(cluster) > p {
			break
		}
		at += len(cluster)
	}
	return at
}

// anchor is a place before p where there is a boundary for certain.
func anchor(b []byte, p int) int {
	_, n := utf8.DecodeLastRune(b[:p])
	at := p - n
	for at > 0 {
		if b[at-1] == '\n' {
			return at
		}
		here, _ := utf8.DecodeRune(b[at:])
		before, n := utf8.DecodeLastRune(b[:at])
		if plain(here) && plain(before) || picture(here) && (plain(before) || picture(before) || joined(before)) {
			return at
		}
		at -= n
	}
	return 0
}

// walk goes over at most n runes of b; it tells how many bytes and runes.
func walk(b []byte, n int) (size, runes int) {
	for runes < n && size < len(b) {
		if n-runes >= 8 && len(b)-size >= 8 && binary.LittleEndian.Uint64(b[size:])&0x8080808080808080 == 0 {
			size += 8
			runes += 8
			continue
		}
		w := 1
		if b[size] >= utf8.RuneSelf {
			_, w = utf8.DecodeRune(b[size:])
		}
		size += w
		runes++
	}
	return size, runes
}

// offset is the length in bytes of the first n runes of b.
func offset(b []byte, n int) int {
	size, _ := walk(b, n)
	return size
}

// whole is the length of b without a rune at its end that is not complete.
func whole(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// previous is the last place before p where b may be cut.
func previous(b []byte, p int) int {
	_, n := utf8.DecodeLastRune(b[:p])
	return boundaryBefore(b, p-n)
}
