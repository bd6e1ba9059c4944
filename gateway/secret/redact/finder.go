package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// finder looks for many texts at once (after Wu and Manber): three bytes at the
// end of a window as long as the shortest text say how far it can move on.
type finder struct {
	window  int
	shift   [1 << tableBits]uint8
	ends    map[uint32][]string // texts by the last three bytes of their window
	first   [256][]string       // texts by their first byte, for streams
	longest int

	generation uint64 // counts the finders of a Redactor
}

const tableBits = 14

func block(s string, end int) uint32 {
	return uint32(s[end-3])<<16 | uint32(s[end-2])<<8 | uint32(s[end-1])
}

func slot(b uint32) uint32 { return (b * 2654435761) >> (32 - tableBits) }

// newFinder finds the values in every form that they are written in.
func newFinder(values []string) *finder {
	seen := map[string]bool{}
	f := &finder{window: minValue, ends: map[uint32][]string{}}
	var texts []string
	for _, v := range values {
		for _, t := range forms(v) {
			if len(t) >= minValue && !seen[t] {
				seen[t] = true
				texts = append(texts, t)
			}
		}
	}
	for i := range f.shift {
		f.shift[i] = uint8(f.window - 2)
	}
	for _, t := range texts {
		for end := 3; end <= f.window; end++ {
			k := slot(block(t, end))
			f.shift[k] = min(f.shift[k], uint8(f.window-end))
		}
		b := block(t, f.window)
		f.ends[b] = append(f.ends[b], t)
		f.first[t[0]] = append(f.first[t[0]], t)
		f.longest = max(f.longest, len(t))
	}
	return f
}

// find adds where the texts are in s; the longest at a place counts.
func (f *finder) find(s string, out []span) []span {
	for end := f.window; end <= len(s); {
		b := block(s, end)
		if skip := f.shift[slot(b)]; skip > 0 {
			end += int(skip)
			continue
		}
		start, longest := end-f.window, 0
		for _, t := range f.ends[b] {
			if len(t) > longest && strings.HasPrefix(s[start:], t) {
				longest = len(t)
			}
		}
		if longest > 0 {
			out = append(out, span{start, start + longest})
		}
		end++
	}
	return out
}

// forms are the ways in which programs write a value: as it is, escaped for
// JSON and for addresses, in hexadecimal, and in base64 wherever it begins
// within three bytes (there its first and last signs depend on what is beside
// it and are left out).
func forms(v string) []string {
	out := []string{v, url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))}
	if j, err := json.Marshal(v); err == nil {
		out = append(out, string(j[1:len(j)-1]))
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) == nil {
		j := strings.TrimSuffix(plain.String(), "\n")
		out = append(out, j[1:len(j)-1])
	}
	for lead := range 3 {
		padded := append(make([]byte, lead, lead+len(v)), v...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			t := e.EncodeToString(padded)
			skip := (lead*8 + 5) / 6
			if len(padded)%3 != 0 {
				t = t[:len(t)-1]
			}
			out = append(out, t[skip:])
		}
	}
	return out
}
