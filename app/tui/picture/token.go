package picture

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// A token is one row of a picture as cells of text: kitty's Unicode placeholders,
// each with its row and column, in a colour that is the picture's number. kitty
// draws the picture there. For other terminals the screen is searched for tokens
// when it is whole, so that a picture stands exactly where its cells do, whatever
// lies over them; in their place come blanks.

// MaxNumber is the highest number of a picture: what fits into a colour.
const MaxNumber = 1<<24 - 1

const colour = "\x1b[38;2;"

// Rows are the tokens of a picture.
func Rows(number int, size Size) []string {
	lines := make([]string, size.H)
	for y := range lines {
		var b strings.Builder
		fmt.Fprintf(&b, "%s%d;%d;%dm", colour, number>>16&255, number>>8&255, number&255)
		for x := range size.W {
			b.WriteRune(kitty.Placeholder)
			b.WriteRune(kitty.Diacritic(y))
			b.WriteRune(kitty.Diacritic(x))
		}
		b.WriteString("\x1b[39m")
		lines[y] = b.String()
	}
	return lines
}

// Place is a part of a picture on the screen.
type Place struct {
	Number     int
	X, Y, W, H int // cells
	From       int // the picture's row that stands in the first one
}

// Find finds the pictures of a screen. A row that is cut off is none.
func Find(lines []string, wide func(number int) int) (places []Place) {
	for y, line := range lines {
		for at := strings.IndexRune(line, kitty.Placeholder); at >= 0; {
			t := parse(line, at)
			if t.number > 0 && t.cols == wide(t.number) {
				places = put(places, Place{t.number, ansi.StringWidth(line[:t.start]), y, t.cols, 1, t.row})
			}
			next := strings.IndexRune(line[t.end:], kitty.Placeholder)
			if next < 0 {
				break
			}
			at = t.end + next
		}
	}
	return places
}

// put joins a row with the rows above it.
func put(places []Place, p Place) []Place {
	for i := range places {
		q := &places[i]
		if q.Number == p.Number && q.X == p.X && q.Y+q.H == p.Y && q.From+q.H == p.From {
			q.H++
			return places
		}
	}
	return append(places, p)
}

// Blank puts blanks where tokens are. They are not the same in any two rows of a
// picture: who draws a screen by what changed on it would else take one row for
// another, and move what lies over them.
func Blank(lines []string) {
	for i, line := range lines {
		if !strings.ContainsRune(line, kitty.Placeholder) {
			continue
		}
		var b strings.Builder
		for {
			at := strings.IndexRune(line, kitty.Placeholder)
			if at < 0 {
				break
			}
			t := parse(line, at)
			b.WriteString(line[:t.start])
			b.WriteString(blanks(t))
			line = line[t.end:]
		}
		b.WriteString(line)
		lines[i] = b.String()
	}
}

// blanks write a token's number and row with characters that show nothing.
func blanks(t token) string {
	digits := []rune{'\u00a0', '\u2002', '\u2005', '\u2007'}
	n := t.row | t.number<<8
	var b strings.Builder
	for range t.cols {
		b.WriteRune(digits[n&3])
		n >>= 2
	}
	return b.String()
}

// token is a row of a picture in a line, from byte start to end.
type token struct {
	start, end        int
	number, row, cols int
}

// parse reads the token whose first placeholder is at a byte of a line. What is
// no whole token has the number 0.
func parse(line string, at int) token {
	t := token{start: at, end: at}
	if esc := strings.LastIndex(line[:at], colour); esc >= 0 {
		if n, ok := numberOf(line[esc+len(colour) : at]); ok {
			t.number, t.start = n, esc
		}
	}
	for {
		mark, n := utf8.DecodeRuneInString(line[t.end:])
		row, k := utf8.DecodeRuneInString(line[t.end+n:])
		_, l := utf8.DecodeRuneInString(line[t.end+n+k:])
		if mark != kitty.Placeholder || l == 0 {
			break
		}
		if t.cols++; t.cols == 1 {
			t.row = rowOf(row)
		}
		t.end += n + k + l
	}
	if t.end == at { // a placeholder without its marks
		t.end, t.number, t.cols = at+utf8.RuneLen(kitty.Placeholder), 0, 1
	}
	return t
}

func rowOf(mark rune) int {
	for i := range most {
		if kitty.Diacritic(i) == mark {
			return i
		}
	}
	return 0
}

// numberOf reads "r;g;bm".
func numberOf(s string) (n int, ok bool) {
	s, ok = strings.CutSuffix(s, "m")
	parts := strings.Split(s, ";")
	if !ok || len(parts) != 3 {
		return 0, false
	}
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return 0, false
		}
		n = n<<8 | int(v)
	}
	return n, true
}
