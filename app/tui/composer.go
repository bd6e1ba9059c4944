package tui

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/hearth-assistant/hearth/app/terminal"
)

// composer is the text that a person writes: lines of any length, moved
// through by character, word, line and row.
type composer struct {
	text string
	at   int // the cursor, a byte offset between two characters

	laid     []row // the rows of laidText at laidW: they are asked for often
	laidText string
	laidW    int
}

func (c *composer) set(s string) { c.text, c.at = s, len(s) }

// insert puts typed or pasted text at the cursor. What a terminal could act on
// is dropped: it would be shown again.
func (c *composer) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = strings.ReplaceAll(terminal.Clean(strings.ToValidUTF8(s, "")), "\t", "    ")
	c.text = c.text[:c.at] + s + c.text[c.at:]
	c.at += len(s)
}

// before and after are the neighbours of the cursor, "" at the ends.
func (c *composer) before() string {
	start := strings.LastIndexByte(c.text[:c.at], '\n')
	if start == c.at-1 && c.at > 0 {
		return "\n"
	}
	last := ""
	for g := uniseg.NewGraphemes(c.text[start+1 : c.at]); g.Next(); {
		last = g.Str()
	}
	return last
}

func (c *composer) after() string {
	s, _, _, _ := uniseg.FirstGraphemeClusterInString(c.text[c.at:], -1)
	return s
}

func (c *composer) left()  { c.at -= len(c.before()) }
func (c *composer) right() { c.at += len(c.after()) }

func (c *composer) backspace() {
	n := len(c.before())
	c.text = c.text[:c.at-n] + c.text[c.at:]
	c.at -= n
}

func (c *composer) remove() { c.text = c.text[:c.at] + c.text[c.at+len(c.after()):] }

func (c *composer) wordLeft() {
	for c.at > 0 && blank(c.before()) {
		c.left()
	}
	for c.at > 0 && !blank(c.before()) {
		c.left()
	}
}

func (c *composer) wordRight() {
	for c.at < len(c.text) && blank(c.after()) {
		c.right()
	}
	for c.at < len(c.text) && !blank(c.after()) {
		c.right()
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (c *composer) home() { c.at = strings.LastIndexByte(c.text[:c.at], '\n') + 1 }

func (c *composer) end() {
	if n := strings.IndexByte(c.text[c.at:], '\n'); n >= 0 {
		c.at += n
		return
	}
	c.at = len(c.text)
}

// cut removes what lies between the cursor and where move leads.
func (c *composer) cut(move func()) {
	from := c.at
	move()
	lo, hi := min(from, c.at), max(from, c.at)
	c.text, c.at = c.text[:lo]+c.text[hi:], lo
}

// row is one row of the text on the screen, [from, to) of its bytes.
type row struct{ from, to int }

// rows lays the text out in rows of w cells.
func (c *composer) rows(w int) (out []row) {
	w = max(2, w)
	if c.laidW == w && c.laidText == c.text {
		return c.laid
	}
	defer func() { c.laid, c.laidText, c.laidW = out, c.text, w }()
	from := 0
	for _, line := range strings.SplitAfter(c.text, "\n") {
		body := strings.TrimSuffix(line, "\n")
		at := from
		for {
			head, rest := cutCells(body, w)
			out = append(out, row{at, at + len(head)})
			at += len(head)
			if rest == "" {
				break
			}
			body = rest
		}
		if body != "" && at == len(c.text) && width(c.text[out[len(out)-1].from:at]) >= w {
			out = append(out, row{at, at}) // room for the cursor
		}
		from += len(line)
	}
	return out
}

// place is the row and column of the cursor.
func (c *composer) place(rows []row) (y, x int) {
	for i, r := range rows {
		if c.at >= r.from && (c.at <= r.to) {
			y = i
		}
	}
	return y, width(c.text[rows[y].from:min(c.at, rows[y].to)])
}

// up and down move by rows; they report false at the first and the last one.
func (c *composer) vertical(w, by int) bool {
	rows := c.rows(w)
	y, x := c.place(rows)
	if y+by < 0 || y+by >= len(rows) {
		return false
	}
	r := rows[y+by]
	head, _ := cutCells(c.text[r.from:r.to], max(x, 0))
	if x == 0 {
		head = ""
	}
	c.at = r.from + len(head)
	return true
}

// key does what an editing key does and reports whether it was one.
func (c *composer) key(k string, w int) bool {
	switch k {
	case "left", "ctrl+f":
		if k == "left" {
			c.left()
		} else {
			c.right()
		}
	case "right":
		c.right()
	case "alt+left", "ctrl+left", "alt+b":
		c.wordLeft()
	case "alt+right", "ctrl+right", "alt+f":
		c.wordRight()
	case "home", "ctrl+a":
		c.home()
	case "end", "ctrl+e":
		c.end()
	case "backspace", "ctrl+h":
		c.backspace()
	case "delete", "ctrl+d":
		c.remove()
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		c.cut(c.wordLeft)
	case "alt+d", "alt+delete", "ctrl+delete":
		c.cut(c.wordRight)
	case "ctrl+u":
		c.cut(c.home)
	case "ctrl+k":
		c.cut(c.end)
	case "up":
		return c.vertical(w, -1)
	case "down":
		return c.vertical(w, 1)
	default:
		return false
	}
	return true
}
