package file

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	maxShown = 12      // lines of a text that a message quotes
	maxLooks = 200_000 // lines that are compared to find the closest
)

// several says where a text stands that should be there once.
func several(flat, want string) error {
	var lines []string
	n := 0
	for at := 0; ; {
		i := strings.Index(flat[at:], want)
		if i < 0 {
			break
		}
		n++
		if n <= 10 {
			lines = append(lines, fmt.Sprint(lineAt(flat, at+i)))
		}
		at += i + len(want)
	}
	if n > 10 {
		lines = append(lines, "…")
	}
	return fmt.Errorf("oldText was found %d times, at lines %s. Take more lines around it, so that it is there once", n,
		strings.Join(lines, ", "))
}

func lineAt(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }

// mismatch says why a text was not found, and what stands nearest to it.
func mismatch(flat, want string) error {
	lines := strings.Split(flat, "\n")
	wanted := strings.Split(strings.Trim(want, "\n"), "\n")
	for _, look := range looks() {
		if at := findLines(lines, wanted, look.fold); at >= 0 {
			return fmt.Errorf("oldText was not found. The text from line %d differs only in %s:\n%s\nCopy it from the file exactly",
				at+1, look.name, compare(wanted, lines[at:at+len(wanted)]))
		}
	}
	if strings.TrimSpace(flat) == "" {
		return errors.New("oldText was not found: the file is empty. Use write")
	}
	at, score := closest(lines, wanted)
	if score < 0.4 {
		return errors.New("oldText was not found, and nothing in the file is like it. Read the file and copy the text from it")
	}
	end := min(at+len(wanted), len(lines))
	return fmt.Errorf("oldText was not found. The nearest is at line %d (− oldText, + the file):\n%s\n"+
		"Read the file there and copy the text exactly",
		at+1, compare(wanted, lines[at:end]))
}

// look is one way of comparing lines.
type look struct {
	name string
	fold func(string) string
}

// looks go from the smallest difference to larger ones.
func looks() []look {
	return []look{
		{"spaces at the ends of lines", func(s string) string { return strings.TrimRight(s, " \t\r") }},
		{"how lines are indented", strings.TrimSpace},
		{"quotation marks, dashes or other look-alikes", func(s string) string { return strings.TrimRight(plainSigns(s), " \t\r") }},
		{"spaces and signs", func(s string) string { return strings.Join(strings.Fields(plainSigns(s)), " ") }},
	}
}

// plainSigns turns typographic signs into those of a keyboard.
func plainSigns(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("‘’‚‛′ʼ", r):
			return '\''
		case strings.ContainsRune("“”„‟″«»", r):
			return '"'
		case unicode.Is(unicode.Pd, r) || r == '−':
			return '-'
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, s)
	return norm.NFKC.String(s)
}

// findLines returns where wanted stands among lines, -1 when nowhere.
func findLines(lines, wanted []string, fold func(string) string) int {
	w := make([]string, len(wanted))
	some := false
	for i, s := range wanted {
		w[i] = fold(s)
		some = some || w[i] != ""
	}
	if !some || len(lines) > maxLooks {
		return -1
	}
	f := make([]string, len(lines))
	for i, s := range lines {
		f[i] = fold(s)
	}
next:
	for at := 0; at+len(w) <= len(f); at++ {
		for i := range w {
			if f[at+i] != w[i] {
				continue next
			}
		}
		return at
	}
	return -1
}

// closest returns the window of lines that is most like wanted, and how much,
// from 0 to 1.
func closest(lines, wanted []string) (at int, score float64) {
	places := map[string][]int{} // of the wanted lines
	for i, s := range wanted[:min(len(wanted), 200)] {
		if k := letters(s); k != "" {
			places[k] = append(places[k], i)
		}
	}
	votes, best := map[int]int{}, 0
	for i, s := range lines[:min(len(lines), maxLooks)] {
		for _, j := range places[letters(s)] {
			votes[i-j]++
			if n := votes[i-j]; n > best && i >= j {
				best, at = n, i-j
			}
		}
	}
	if best > 0 {
		return at, 1
	}
	first := ""
	for _, s := range wanted {
		if first = strings.TrimSpace(s); first != "" {
			break
		}
	}
	grams := pairs(first)
	for i, s := range lines[:min(len(lines), 20_000)] {
		if sc := alike(grams, pairs(strings.TrimSpace(s))); sc > score {
			at, score = i, sc
		}
	}
	return at, score
}

// pairs are the letters of a line two by two.
func pairs(s string) map[[2]byte]int {
	if len(s) > 400 {
		s = s[:400]
	}
	m := make(map[[2]byte]int, len(s))
	for i := 0; i+1 < len(s); i++ {
		m[[2]byte{s[i], s[i+1]}]++
	}
	return m
}

func alike(a, b map[[2]byte]int) float64 {
	both, all := 0, 0
	for k, n := range a {
		both += min(n, b[k])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}

// compare shows what was wanted against what is there, with blanks visible
// where only they differ.
func compare(wanted, there []string) string {
	var b strings.Builder
	n := 0
	for i := 0; i < max(len(wanted), len(there)) && n < maxShown; i++ {
		w, ok := at(wanted, i)
		h, ok2 := at(there, i)
		switch {
		case ok && ok2 && w == h:
			fmt.Fprintf(&b, "  %s\n", text.Ellipsis(w, 200))
		default:
			if strings.Join(strings.Fields(w), "") == strings.Join(strings.Fields(h), "") {
				w, h = visible(w), visible(h)
			}
			if ok {
				fmt.Fprintf(&b, "- %s\n", text.Ellipsis(w, 200))
			}
			if ok2 {
				fmt.Fprintf(&b, "+ %s\n", text.Ellipsis(h, 200))
			}
		}
		n++
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func at(lines []string, i int) (string, bool) {
	if i < len(lines) {
		return lines[i], true
	}
	return "", false
}

func visible(s string) string {
	return strings.NewReplacer("\t", "→", " ", "·", "\u00a0", "⍽", "\r", "␍").Replace(s)
}
