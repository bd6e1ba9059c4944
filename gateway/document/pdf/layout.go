package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// maxGlyphs of one page are kept.
const maxGlyphs = 1_000_000

// glyph is a piece of text with its place along and across the direction in which
// it is written, in the page's units.
type placed struct {
	text      string
	x, end, y float64
	size      float64
	turned    int // the direction, in degrees
}

// page gathers what stands on one.
type page struct{ all []placed }

func (p *page) add(s string, at affine, wide float64) {
	size := math.Hypot(at[2], at[3])
	along := math.Hypot(at[0], at[1])
	if s == "" || size == 0 || along == 0 || !finite(size+along+at[4]+at[5]) || len(p.all) >= maxGlyphs {
		return
	}
	dx, dy := at[0]/along, at[1]/along
	x := at[4]*dx + at[5]*dy
	y := -at[4]*dy + at[5]*dx
	p.all = append(p.all, placed{s, x, x + wide*along, y, size, int(math.Round(math.Atan2(dy, dx) * 180 / math.Pi))})
}

// Distances, in sizes of the letters.
const (
	sameLine  = 0.5  // so far across, it is still the same line
	gap       = 0.18 // so far along, there is a space
	column    = 1.6  // and here another column
	paragraph = 1.9  // so far across, a paragraph ends
)

// text puts the glyphs into lines, in the order in which the page writes them.
func (p *page) text() string {
	var out strings.Builder
	for from := 0; from < len(p.all); {
		to := from + 1
		for to < len(p.all) && p.all[to].near(p.all[to-1]) {
			to++
		}
		line := strings.TrimRight(lineOf(p.all[from:to]), " \t")
		if line != "" || out.Len() > 0 {
			out.WriteString(line)
			out.WriteByte('\n')
		}
		if to < len(p.all) && math.Abs(p.all[to].y-p.all[to-1].y) > paragraph*max(p.all[to].size, p.all[to-1].size) {
			out.WriteByte('\n')
		}
		from = to
	}
	return tidy(out.String())
}

func (g placed) near(before placed) bool {
	return g.turned == before.turned && math.Abs(g.y-before.y) <= sameLine*max(g.size, before.size)
}

// lineOf joins glyphs of one line. Where it is written from right to left it is put
// into the order in which it is read.
func lineOf(g []placed) string {
	right := false
	for _, p := range g {
		right = right || rightToLeft(p.text)
	}
	if right {
		g = slices.Clone(g)
		slices.SortStableFunc(g, func(a, b placed) int { return cmp.Compare(a.x, b.x) })
	}
	var parts []string
	for i, p := range g {
		if i > 0 {
			if s := between(g[i-1], p, right); s != "" {
				parts = append(parts, s)
			}
		}
		parts = append(parts, p.text)
	}
	if right {
		parts = readingOrder(parts)
	}
	return strings.Join(parts, "")
}

// between is what stands between two glyphs of a line.
func between(a, b placed, sorted bool) string {
	size := max(a.size, b.size)
	d := b.x - a.end
	switch {
	case strings.HasSuffix(a.text, " ") || strings.HasPrefix(b.text, " "):
		return ""
	case d > column*size:
		return "\t"
	case d > gap*size, d < -2*size && !sorted:
		return " "
	}
	return ""
}

func rightToLeft(s string) bool {
	p, _ := bidi.LookupString(s)
	c := p.Class()
	return c == bidi.R || c == bidi.AL
}

// readingOrder turns what stands from left to right into the order in which it is
// read from right to left: all around, and words of letters and numbers that go the
// other way around once more.
func readingOrder(parts []string) []string {
	slices.Reverse(parts)
	for i := 0; i < len(parts); {
		if !leftToRight(parts[i]) {
			i++
			continue
		}
		end := i + 1
		for j := i + 1; j < len(parts) && !rightToLeft(parts[j]); j++ {
			if leftToRight(parts[j]) {
				end = j + 1
			}
		}
		slices.Reverse(parts[i:end])
		i = end
	}
	return parts
}

func leftToRight(s string) bool {
	p, _ := bidi.LookupString(s)
	switch p.Class() {
	case bidi.L, bidi.EN, bidi.AN:
		return true
	}
	return false
}

// tidy makes letters of ligatures and of forms that only fonts need, and takes out
// what cannot be seen.
func tidy(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r >= 0xFB00 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC || r >= 0x2E80 && r <= 0x2FDF:
			b.WriteString(norm.NFKC.String(string(r)))
		case r == 0xA0:
			b.WriteByte(' ')
		case r == 0xAD || r == unicode.ReplacementChar || unicode.Is(unicode.Co, r) || unicode.IsControl(r) && r != '\n' && r != '\t':
		default:
			b.WriteRune(r)
		}
	}
	return strings.Trim(b.String(), "\n")
}
