package tui

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// strict is a terminal that keeps which picture stands in which cell, by the rules
// of the strictest one there is: like xterm, it takes a sixel away only where text
// is written or the screen is cleared, never where characters are erased; pictures
// scroll with their lines; like kitty, it takes what was placed away only when it
// is told. What it does not know fails the test.
type strict struct {
	t      *testing.T
	parser *ansi.Parser
	told   chan struct{} // something was written

	mu       sync.Mutex
	w, h     int
	cell     [2]int // pixels
	screens  [2][][]square
	alt      int // 1 on the second screen
	x, y     int
	wrap     bool // the next character goes to the next line
	top, end int  // of the part that scrolls
	saved    [2][2]int
	last     rune
	title    string
	images   map[int]bool // kitty has them
	beyond   string       // a picture that did not fit, and was not erased since: drawn for another size, or wrongly
	placed   map[string]bool
	odd      []string // what it did not know
}

// square is one cell.
type square struct {
	ch  string
	pic pixels
	put string // what kitty was told to put here
}

// pixels are a part of a picture: which, and which cell of it.
type pixels struct {
	of   string
	x, y int
}

func newStrict(t *testing.T, w, h int) *strict {
	s := &strict{t: t, told: make(chan struct{}, 1), cell: [2]int{10, 20}, images: map[int]bool{}, placed: map[string]bool{}}
	s.resize(w, h)
	s.parser = ansi.NewParser()
	s.parser.SetParamsSize(32)
	s.parser.SetDataSize(8 << 20)
	s.parser.SetHandler(ansi.Handler{
		Print: s.print, Execute: s.control,
		HandleCsi: s.csi, HandleEsc: s.esc, HandleDcs: s.dcs, HandleOsc: s.osc, HandleApc: s.apc,
	})
	return s
}

func (s *strict) resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w, s.h, s.top, s.end = w, h, 0, h-1
	for i := range s.screens {
		s.screens[i] = make([][]square, h)
		for y := range s.screens[i] {
			s.screens[i][y] = make([]square, w)
		}
	}
	s.x, s.y, s.wrap = min(s.x, w-1), min(s.y, h-1), false
}

func (s *strict) Write(p []byte) (int, error) {
	s.mu.Lock()
	for _, b := range p {
		s.parser.Advance(b)
	}
	s.mu.Unlock()
	select {
	case s.told <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *strict) at(y int) []square { return s.screens[s.alt][y] }

func (s *strict) print(r rune) {
	n := ansi.StringWidth(string(r))
	if n == 0 { // it belongs to the one before
		x := s.x - 1
		if s.wrap {
			x = s.x
		}
		if x >= 0 {
			s.at(s.y)[x].ch += string(r)
		}
		return
	}
	if s.wrap || s.x+n > s.w {
		s.x, s.wrap = 0, false
		s.down()
	}
	s.last = r
	row := s.at(s.y)
	row[s.x] = square{ch: string(r), put: row[s.x].put}
	if n == 2 && s.x+1 < s.w {
		row[s.x+1] = square{put: row[s.x+1].put}
	}
	if s.x += n; s.x >= s.w {
		s.x, s.wrap = s.w-1, true
	}
}

func (s *strict) control(b byte) {
	s.wrap = false
	switch b {
	case '\r':
		s.x = 0
	case '\n': // as terminals write the ends of lines of programs that are not told otherwise
		s.x = 0
		s.down()
	case '\b':
		s.x = max(0, s.x-1)
	case '\t':
		s.x = min(s.w-1, (s.x/8+1)*8)
	case 0x07, 0x0e, 0x0f:
	default:
		s.unknown("control %#x", b)
	}
}

func (s *strict) unknown(format string, args ...any) {
	s.odd = append(s.odd, fmt.Sprintf(format, args...))
}

func (s *strict) down() {
	if s.y == s.end {
		s.scroll(s.top, s.end, 1)
	} else if s.y < s.h-1 {
		s.y++
	}
}

// scroll moves the lines of a part up by n, or down.
func (s *strict) scroll(top, end, n int) {
	lines := s.screens[s.alt]
	for ; n > 0; n-- {
		copy(lines[top:end+1], lines[top+1:end+1])
		lines[end] = make([]square, s.w)
	}
	for ; n < 0; n++ {
		copy(lines[top+1:end+1], lines[top:end])
		lines[top] = make([]square, s.w)
	}
}

func (s *strict) esc(cmd ansi.Cmd) {
	switch cmd.Final() {
	case '7':
		s.saved[s.alt] = [2]int{s.x, s.y}
	case '8':
		s.x, s.y, s.wrap = s.saved[s.alt][0], s.saved[s.alt][1], false
	case 'M':
		if s.y == s.top {
			s.scroll(s.top, s.end, -1)
		} else if s.y > 0 {
			s.y--
		}
	case 'D':
		s.down()
	case '\\':
	default:
		s.unknown("ESC %c", cmd.Final())
	}
}

func (s *strict) csi(cmd ansi.Cmd, params ansi.Params) {
	arg := func(i, standard int) int {
		n, _, ok := params.Param(i, standard)
		if !ok || n == 0 {
			return standard
		}
		return n
	}
	if cmd.Prefix() != 0 || cmd.Intermediate() != 0 {
		s.mode(cmd, params)
		return
	}
	n := arg(0, 1)
	s.wrap = s.wrap && cmd.Final() == 'm'
	switch cmd.Final() {
	case 'm', 't', 'c', 'n': // colours; questions
	case 'A':
		s.y = max(0, s.y-n)
	case 'B':
		s.y = min(s.h-1, s.y+n)
	case 'C':
		s.x = min(s.w-1, s.x+n)
	case 'D':
		s.x = max(0, s.x-n)
	case 'G', '`':
		s.x = min(s.w, n) - 1
	case 'd':
		s.y = min(s.h, n) - 1
	case 'H', 'f':
		s.y, s.x = min(s.h, n)-1, min(s.w, arg(1, 1))-1
	case 'I':
		for range n {
			s.x = min(s.w-1, (s.x/8+1)*8)
		}
	case 'Z':
		for range n {
			s.x = max(0, (s.x-1)/8*8)
		}
	case 'b':
		for range n {
			s.print(s.last)
		}
	case 'r':
		if top, end := arg(0, 1)-1, min(arg(1, s.h), s.h)-1; top < end {
			s.top, s.end = top, end
			s.x, s.y = 0, 0
		}
	default:
		s.change(cmd.Final(), n, arg(0, 0))
	}
}

// change is a sequence that changes cells.
func (s *strict) change(final byte, n, kind int) {
	row := s.at(s.y)
	switch final {
	case 'S':
		s.scroll(s.top, s.end, n)
	case 'T':
		s.scroll(s.top, s.end, -n)
	case 'L':
		s.scroll(s.y, s.end, -n)
	case 'M':
		s.scroll(s.y, s.end, n)
	case '@':
		n = min(n, s.w-s.x)
		copy(row[s.x+n:], row[s.x:s.w-n])
		s.blank(row[s.x : s.x+n])
	case 'P':
		n = min(n, s.w-s.x)
		copy(row[s.x:], row[s.x+n:])
		s.blank(row[s.w-n:])
	case 'X':
		s.blank(row[s.x:min(s.w, s.x+n)])
	case 'K':
		switch kind {
		case 0:
			s.blank(row[s.x:])
		case 1:
			s.blank(row[:s.x+1])
		default:
			s.blank(row)
		}
	case 'J':
		from := 0
		switch kind {
		case 0:
			s.blank(row[s.x:])
			from = s.y + 1
		case 2:
			s.beyond = ""
		default:
			s.unknown("CSI %d J", kind)
		}
		for y := from; y < s.h; y++ {
			clear(s.at(y))
		}
	default:
		s.unknown("CSI %c", final)
	}
}

// blank erases characters, and no pictures.
func (s *strict) blank(row []square) {
	for i := range row {
		row[i].ch = ""
	}
}

func (s *strict) mode(cmd ansi.Cmd, params ansi.Params) {
	n, _, _ := params.Param(0, 0)
	switch on := cmd.Final() == 'h'; {
	case cmd.Prefix() != '?' || cmd.Final() != 'h' && cmd.Final() != 'l': // keyboards, questions
	case n == 1049 && on:
		s.saved[0] = [2]int{s.x, s.y}
		s.alt = 1
		for y := range s.h {
			clear(s.at(y))
		}
	case n == 1049:
		s.alt = 0
		s.x, s.y = s.saved[0][0], s.saved[0][1]
	}
}

func (s *strict) osc(cmd int, data []byte) {
	switch cmd {
	case 0, 2:
		_, s.title, _ = strings.Cut(string(data), ";")
	case 1337:
		options, content, _ := strings.Cut(string(data), ":")
		w, h := optionOf(options, "width="), optionOf(options, "height=")
		s.show(content, w, h)
	default:
		s.unknown("OSC %d", cmd)
	}
}

func optionOf(options, name string) int {
	for _, o := range strings.FieldsFunc(options, func(r rune) bool { return r == ';' || r == ',' }) {
		if v, ok := strings.CutPrefix(o, name); ok {
			n, _ := strconv.Atoi(v)
			return n
		}
	}
	return 0
}

func (s *strict) dcs(cmd ansi.Cmd, _ ansi.Params, data []byte) {
	var w, h int
	if n, err := fmt.Sscanf(string(data), `"1;1;%d;%d`, &w, &h); cmd.Final() != 'q' || n != 2 || err != nil {
		s.unknown("DCS %c", cmd.Final())
		return
	}
	s.show(string(data), w/s.cell[0], h/s.cell[1])
}

// show puts a picture over cells.
func (s *strict) show(of string, w, h int) {
	if w < 1 || h < 1 || s.x+w > s.w || s.y+h > s.h {
		s.beyond = fmt.Sprintf("a picture of %d×%d at %d, %d of %d×%d", w, h, s.x, s.y, s.w, s.h)
	}
	for y := range min(h, s.h-s.y) {
		for x := range min(w, s.w-s.x) {
			s.at(s.y + y)[s.x+x].pic = pixels{of, x, y}
		}
	}
	s.x, s.y = 0, min(s.h-1, s.y+h) // wherever it is now
}

// apc is kitty's protocol.
func (s *strict) apc(data []byte) {
	options, _, _ := strings.Cut(strings.TrimPrefix(string(data), "G"), ";")
	opt := func(name string) string {
		for o := range strings.SplitSeq(options, ",") {
			if v, ok := strings.CutPrefix(o, name+"="); ok {
				return v
			}
		}
		return ""
	}
	number, _ := strconv.Atoi(opt("i"))
	key := opt("i") + "/" + opt("p")
	switch opt("a") {
	case "q":
	case "t", "T", "": // without a number it is more of the same
		if number > 0 {
			s.images[number] = true
		}
	case "p":
		w, _ := strconv.Atoi(opt("c"))
		h, _ := strconv.Atoi(opt("r"))
		if !s.images[number] || s.placed[key] {
			s.unknown("put of %s: there %v, before %v", key, s.images, s.placed)
		}
		s.placed[key] = true
		for y := range min(h, s.h-s.y) {
			for x := range min(w, s.w-s.x) {
				s.at(s.y + y)[s.x+x].put = fmt.Sprint(key, "/", x, "/", y)
			}
		}
	case "d":
		if opt("d") == "I" {
			delete(s.images, number)
			key = opt("i") + "/"
		}
		for y := range s.h {
			for x := range s.w {
				if c := &s.at(y)[x]; strings.HasPrefix(c.put, key) {
					c.put = ""
				}
			}
		}
		for k := range s.placed {
			if strings.HasPrefix(k, key) {
				delete(s.placed, k)
			}
		}
	default:
		s.unknown("APC %s", options)
	}
}

// plainBlanks has all blanks look the same, as they do to people.
var plainBlanks = strings.NewReplacer("\u00a0", " ", "\u2002", " ", "\u2005", " ", "\u2007", " ")

// text is what can be read.
func (s *strict) text() string {
	var b strings.Builder
	for y := range s.h {
		line := ""
		for x := 0; x < s.w; x++ {
			ch := s.at(y)[x].ch
			if ch == "" {
				ch = " "
			}
			line += plainBlanks.Replace(ch)
			if ansi.StringWidth(ch) == 2 {
				x++
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// pictures counts the cells that have a part of one, on both screens.
func (s *strict) pictures() (n int) {
	for _, screen := range s.screens {
		for _, row := range screen {
			for _, c := range row {
				if c.pic != (pixels{}) || c.put != "" {
					n++
				}
			}
		}
	}
	return n
}
