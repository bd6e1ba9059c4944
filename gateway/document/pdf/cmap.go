package pdf

import (
	"unicode/utf16"
)

// maxRanges of one map are kept.
const maxRanges = 1 << 16

// cmap tells which letters codes stand for (ToUnicode).
type cmap struct {
	lengths [5]bool // how many bytes codes have
	one     map[int]string
	ranges  []codeRange
}

type codeRange struct {
	from, to int
	text     string // of from; the last letter counts up
}

// readCMap reads one; what it does not understand it leaves out.
func readCMap(b []byte) *cmap {
	m := &cmap{one: map[int]string{}}
	l := lexer{b: b}
	var got []token
	list := false // inside of an array of a range
	for {
		t := l.next()
		switch t.kind {
		case ending:
			return m
		case text:
			if len(got) < 3*maxRanges {
				got = append(got, t)
			}
		case open:
			list = true
			got = append(got, t)
		case closed:
			if list {
				list = false
				got = append(got, t)
			}
		case operator:
			switch string(t.word) {
			case "endcodespacerange":
				for _, g := range got {
					if n := len(g.word); g.kind == text && n > 0 && n < len(m.lengths) {
						m.lengths[n] = true
					}
				}
			case "endbfchar":
				m.chars(got)
			case "endbfrange":
				m.between(got)
			}
			got = got[:0]
		}
	}
}

func (m *cmap) chars(got []token) {
	for i := 0; i+1 < len(got) && len(m.one) < maxRanges; i += 2 {
		m.one[codeOf(got[i].word)] = fromUTF16(got[i+1].word)
	}
}

func (m *cmap) between(got []token) {
	for i := 0; i+2 < len(got) && len(m.ranges) < maxRanges; {
		from, to := codeOf(got[i].word), codeOf(got[i+1].word)
		if got[i+2].kind != open {
			m.ranges = append(m.ranges, codeRange{from, to, fromUTF16(got[i+2].word)})
			i += 3
			continue
		}
		for i += 3; i < len(got) && got[i].kind != closed; i++ {
			if from <= to && len(m.one) < maxRanges {
				m.one[from] = fromUTF16(got[i].word)
				from++
			}
		}
		i++
	}
}

// length is how many bytes the first code of b has.
func (m *cmap) length(b []byte) int {
	if m.lengths[1] && m.lengths[2] { // which it is only the map itself tells
		if _, ok := m.find(int(b[0]), 1); ok {
			return 1
		}
	}
	for n := 2; n < len(m.lengths); n++ {
		if m.lengths[n] {
			return n
		}
	}
	if m.lengths[1] {
		return 1
	}
	return 2
}

func (m *cmap) find(code, _ int) (string, bool) {
	if s, ok := m.one[code]; ok {
		return s, true
	}
	for _, r := range m.ranges {
		if code < r.from || code > r.to || r.text == "" {
			continue
		}
		all := []rune(r.text)
		all[len(all)-1] += rune(code - r.from)
		s := string(all)
		if len(m.one) < maxRanges {
			m.one[code] = s
		}
		return s, true
	}
	return "", false
}

func codeOf(b []byte) (n int) {
	for _, c := range b[:min(len(b), 4)] {
		n = n<<8 | int(c)
	}
	return n
}

func fromUTF16(b []byte) string {
	if len(b) == 1 {
		return string(rune(b[0]))
	}
	units := make([]uint16, min(len(b)/2, 64))
	for i := range units {
		units[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
	return string(utf16.Decode(units))
}
