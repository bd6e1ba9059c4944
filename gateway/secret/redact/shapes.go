package redact

import "strings"

// shape is how keys of one kind begin and go on.
type shape struct {
	begin string
	least int  // signs after the beginning
	dots  bool // dots belong to it
	upper bool // capital letters and digits only
	any   bool // a digit is not needed
}

// shapesOf lists the shapes whose beginning starts with a byte. A digit among
// the signs tells a key from words joined with hyphens.
func shapesOf(c byte) []shape {
	switch c {
	case 's':
		return shapesS
	case 'A':
		return shapesA
	case 'g':
		return shapesG
	case 'x':
		return shapesX
	case 'e':
		return shapesE
	case 'h':
		return shapesH
	case 'n':
		return shapesN
	case 'r':
		return shapesR
	case 'p':
		return shapesP
	case 'B', 'b':
		return shapesB
	case 't':
		return shapesT
	}
	return nil
}

var (
	shapesS = []shape{{begin: "sk-", least: 16}, {begin: "sk_live_", least: 12}, {begin: "sk_test_", least: 12}}
	shapesA = []shape{{begin: "AIza", least: 30, any: true}, {begin: "AKIA", least: 16, upper: true}, {begin: "ASIA", least: 16, upper: true}}
	shapesG = []shape{
		{begin: "ghp_", least: 20}, {begin: "gho_", least: 20}, {begin: "ghu_", least: 20}, {begin: "ghs_", least: 20},
		{begin: "ghr_", least: 20},
		{begin: "github_pat_", least: 20}, {begin: "gsk_", least: 20}, {begin: "glpat-", least: 16},
	}
	shapesX = []shape{
		{begin: "xoxb-", least: 16}, {begin: "xoxa-", least: 16}, {begin: "xoxp-", least: 16}, {begin: "xoxr-", least: 16},
		{begin: "xoxs-", least: 16},
		{begin: "xapp-", least: 16}, {begin: "xai-", least: 20},
	}
	shapesE = []shape{{begin: "eyJ", least: 30, dots: true, any: true}}
	shapesH = []shape{{begin: "hf_", least: 20, any: true}, {begin: "hearth_", least: 40}}
	shapesN = []shape{{begin: "npm_", least: 30, any: true}, {begin: "nvapi-", least: 20}}
	shapesR = []shape{{begin: "r8_", least: 20}, {begin: "rk_live_", least: 12}}
	shapesP = []shape{{begin: "pplx-", least: 20}, {begin: "pk_live_", least: 12}}
	shapesB = []shape{{begin: "Bearer ", least: 20, dots: true}, {begin: "bearer ", least: 20, dots: true}}
	shapesT = []shape{{begin: "tvly-", least: 16}}
)

// Classes of a byte.
const (
	wordByte  = 1 << iota // part of a word: nothing begins after it
	keyByte               // may be in a key
	beginByte             // a shape may begin with it
	dashByte
)

var classes = classOf()

func classOf() (t [256]uint8) {
	for i := range 256 {
		c := byte(i)
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		digit := c >= '0' && c <= '9'
		if letter || digit || c == '_' {
			t[i] |= wordByte | keyByte
		}
		if c == '-' {
			t[i] |= keyByte | dashByte
		}
		if digit || shapesOf(c) != nil {
			t[i] |= beginByte
		}
	}
	return t
}

// shapes adds what looks like a secret.
func shapes(s string, out []span) []span {
	word := false // the byte before belongs to a word
	for i := 0; i < len(s); i++ {
		k := classes[s[i]]
		if !word && k&(beginByte|dashByte) != 0 {
			if end := shapeAt(s, i); end > 0 {
				out = append(out, span{i, end})
				i, word = end-1, true
				continue
			}
		}
		word = k&wordByte != 0
	}
	return out
}

// shapeAt returns where the secret that begins at i ends, 0 when none does.
func shapeAt(s string, i int) int {
	c := s[i]
	switch {
	case c == '-':
		return pemAt(s, i)
	case c >= '0' && c <= '9':
		return botTokenAt(s, i)
	}
	for _, sh := range shapesOf(c) {
		if !strings.HasPrefix(s[i:], sh.begin) {
			continue
		}
		end, digit := i+len(sh.begin), sh.any
		from := end
		for ; end < len(s); end++ {
			b := s[end]
			switch {
			case b >= '0' && b <= '9':
				digit = true
			case sh.upper && (b < 'A' || b > 'Z'),
				classes[b]&keyByte == 0 && !(sh.dots && b == '.'):
				goto done
			}
		}
	done:
		if end-from >= sh.least && digit {
			return end
		}
	}
	return 0
}

// botTokenAt finds what bots of messaging networks log in with: a number, a colon
// and thirty letters or more.
func botTokenAt(s string, i int) int {
	j := i
	for j < len(s) && j-i < 14 && s[j] >= '0' && s[j] <= '9' {
		j++
	}
	if j-i < 6 || j >= len(s) || s[j] != ':' {
		return 0
	}
	end := j + 1
	for end < len(s) && classes[s[end]]&keyByte != 0 {
		end++
	}
	if end-j-1 < 30 {
		return 0
	}
	return end
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemMax   = 16 << 10
)

// pemAt finds a private key in PEM, to its end or, when that is missing, to the
// end of the text. In JSON its lines are joined with \n, which changes nothing.
func pemAt(s string, i int) int {
	if !strings.HasPrefix(s[i:], pemBegin) {
		return 0
	}
	head := s[i+len(pemBegin):]
	head = head[:min(len(head), 48)]
	label, _, ok := strings.Cut(head, "-----")
	if !ok || !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return 0
	}
	rest := s[i:min(len(s), i+pemMax)]
	foot, open := strings.Index(rest, pemEnd+label+"-----"), pemOpen(rest)
	if foot < 0 || foot > open {
		return i + open
	}
	return i + foot + len(pemEnd) + len(label) + 5
}

// pemOpen is the length of a key whose end is missing: as far as its signs go,
// so that what follows in a JSON text stays whole.
func pemOpen(s string) int {
	if q := strings.IndexByte(s, '"'); q >= 0 {
		return len(strings.TrimRight(s[:q], `\`))
	}
	return len(s)
}
