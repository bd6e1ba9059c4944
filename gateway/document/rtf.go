package document

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// maxGroups may nest.
const maxGroups = 512

// fromRTF is the text of an RTF file: what its groups for fonts, colours, pictures
// and properties hold is left out.
func fromRTF(b []byte) string {
	r := rtf{b: b, state: rtfState{skip: 1}, page: charmap.Windows1252}
	for r.i < len(r.b) && r.out.Len() <= maxText {
		r.step()
	}
	return r.out.String()
}

type rtfState struct {
	hidden bool
	skip   int // letters behind a \u that older programs read
}

type rtf struct {
	b     []byte
	i     int
	state rtfState
	kept  []rtfState
	out   strings.Builder
	page  *charmap.Charmap
	drop  int  // letters still to be left out
	high  rune // the first half of a pair
}

func (r *rtf) step() {
	c := r.b[r.i]
	r.i++
	switch c {
	case '{':
		if len(r.kept) < maxGroups {
			r.kept = append(r.kept, r.state)
		}
		r.drop = 0
	case '}':
		if n := len(r.kept); n > 0 {
			r.state, r.kept = r.kept[n-1], r.kept[:n-1]
		}
		r.drop = 0
	case '\\':
		r.control()
	case '\r', '\n', 0:
	default:
		r.letter(r.page.DecodeByte(c))
	}
}

func (r *rtf) letter(c rune) {
	if r.drop > 0 {
		r.drop--
		return
	}
	if !r.state.hidden {
		r.out.WriteRune(c)
	}
}

func (r *rtf) control() {
	if r.i >= len(r.b) {
		return
	}
	c := r.b[r.i]
	if c < 'a' || c > 'z' {
		r.symbol(c)
		return
	}
	from := r.i
	for r.i < len(r.b) && r.b[r.i] >= 'a' && r.b[r.i] <= 'z' || r.i < len(r.b) && r.b[r.i] >= 'A' && r.b[r.i] <= 'Z' {
		r.i++
	}
	word := string(r.b[from:min(r.i, from+32)])
	from = r.i
	if r.i < len(r.b) && r.b[r.i] == '-' {
		r.i++
	}
	for r.i < len(r.b) && r.b[r.i] >= '0' && r.b[r.i] <= '9' {
		r.i++
	}
	n, err := strconv.Atoi(string(r.b[from:min(r.i, from+11)]))
	if r.i < len(r.b) && r.b[r.i] == ' ' {
		r.i++
	}
	r.word(word, n, err == nil)
}

func (r *rtf) symbol(c byte) {
	r.i++
	switch c {
	case '\'':
		if r.i+2 <= len(r.b) {
			if n, err := strconv.ParseUint(string(r.b[r.i:r.i+2]), 16, 8); err == nil {
				r.letter(r.page.DecodeByte(byte(n)))
			}
			r.i += 2
		}
	case '*':
		r.state.hidden = true
	case '~':
		r.letter(' ')
	case '_':
		r.letter('-')
	case '\\', '{', '}':
		r.letter(rune(c))
	case '\n', '\r':
		r.letter('\n')
	}
}

func (r *rtf) word(word string, n int, has bool) {
	switch word {
	case "par", "line", "sect", "page", "row":
		r.letter('\n')
	case "tab", "cell":
		r.letter('\t')
	case "emdash":
		r.letter('—')
	case "endash":
		r.letter('–')
	case "bullet":
		r.letter('•')
	case "lquote":
		r.letter('‘')
	case "rquote":
		r.letter('’')
	case "ldblquote":
		r.letter('“')
	case "rdblquote":
		r.letter('”')
	case "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "header", "footer", "listtable", "xmlnstbl":
		r.state.hidden = true
	case "uc":
		r.state.skip = max(0, min(n, 8))
	case "u":
		r.unicode(rune(uint16(n)), has)
	case "bin": // bytes of its own follow
		r.i = min(len(r.b), r.i+max(n, 0))
	case "ansicpg":
		for _, p := range []struct {
			n  int
			of *charmap.Charmap
		}{{1250, charmap.Windows1250}, {1251, charmap.Windows1251}, {1253, charmap.Windows1253}, {1254, charmap.Windows1254},
			{1255, charmap.Windows1255}, {1256, charmap.Windows1256}, {1257, charmap.Windows1257}, {1258, charmap.Windows1258}} {
			if p.n == n {
				r.page = p.of
			}
		}
	}
}

func (r *rtf) unicode(c rune, has bool) {
	if !has {
		return
	}
	r.drop = 0
	switch {
	case c >= 0xD800 && c < 0xDC00:
		r.high = c
	case c >= 0xDC00 && c < 0xE000:
		r.letter(utf16.DecodeRune(r.high, c))
		r.high = 0
	default:
		r.letter(c)
	}
	r.drop = r.state.skip
}
