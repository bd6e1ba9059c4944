package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// look is a set of SGR parameters; "" is plain. Only the sixteen colours that
// every terminal lets its owner choose are used, so light and dark both work
// and the terminal need not be asked for its background.
type look string

// theme holds every look. Without colour the attributes stay: NO_COLOR asks
// for no colour, not for less structure.
type theme struct {
	plain, bold, dim, italic, strike    look
	brand, you, heading, code, link     look
	quote, good, warn, bad, busy, title look
	selected                            look
}

// themeNames are what a person may choose.
func themeNames() []string { return []string{"auto", "light", "dark", "contrast", "none"} }

// newTheme is the theme of a name; a strange name is auto, which looks well on light and dark.
func newTheme(name string) theme {
	t := theme{
		bold: "1", dim: "2", italic: "3", strike: "9",
		brand: "1", you: "1", heading: "1", link: "4", quote: "2", title: "1;7", bad: "1", selected: "7",
	}
	switch name {
	case "none":
	case "light": // yellow and cyan are hard to read on white
		t.brand, t.you, t.heading, t.code, t.link = "1;35", "1;34", "1;34", "34", "4;34"
		t.good, t.warn, t.bad, t.busy = "32", "35", "31", "35"
	case "dark":
		t.brand, t.you, t.heading, t.code, t.link = "1;93", "1;96", "1;94", "96", "4;94"
		t.good, t.warn, t.bad, t.busy = "92", "93", "91", "93"
	case "contrast": // nothing is faint, and what matters is more than a colour
		t.dim, t.quote = "", ""
		t.brand, t.you, t.heading, t.code, t.link = "1;97", "1;4;97", "1;97", "1", "1;4"
		t.good, t.warn, t.bad, t.busy = "1;92", "1;93", "1;91;7", "1;93"
	default:
		t.brand, t.you, t.heading, t.code, t.link = "1;33", "1;36", "1;34", "36", "4;34"
		t.good, t.warn, t.bad, t.busy = "32", "33", "31", "33"
	}
	return t
}

// with joins two looks.
func (l look) with(m look) look {
	switch {
	case l == "":
		return m
	case m == "":
		return l
	}
	return l + ";" + m
}

// paint gives text a look.
func (l look) paint(s string) string {
	if l == "" || s == "" {
		return s
	}
	return "\x1b[" + string(l) + "m" + s + "\x1b[0m"
}

// width is how many cells a line takes.
func width(s string) int { return ansi.StringWidth(s) }

// fit cuts or fills a line to exactly w cells.
func fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := width(s)
	if n > w {
		s = clip(s, w)
		n = width(s)
	}
	return s + strings.Repeat(" ", max(0, w-n))
}

// clip cuts a line to at most w cells.
func clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, "…")
}

// ends puts left and right on one line of w cells; left gives way.
func ends(left, right string, w int) string {
	if r := width(right); r >= w-1 {
		return fit(right, w)
	}
	return fit(left, w-width(right)) + right
}

// chooseTheme draws everything in another theme.
func (m *Model) chooseTheme(name string) {
	if !slices.Contains(themeNames(), name) {
		m.notice = "The themes are " + strings.Join(themeNames(), ", ") + "."
		return
	}
	m.theme = newTheme(name)
	for _, r := range m.rooms {
		r.cache, r.stream = map[string]drawn{}, stream{md: m.md}
	}
}
