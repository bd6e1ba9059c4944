package tui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hearth-assistant/hearth/app/tui/picture"
)

// canvas is what frames are written to on their way to the terminal. It draws the
// pictures of terminals that have them over the cells (iTerm2, sixel) in the same
// write as the frame that they belong to: pictures that go or move are erased
// before it, those that come are drawn behind it, so none stands where the frame
// has text.
//
// The frame itself says which pictures it has, by a number in its window title:
// frames are drawn when the program has time, and other ones may have been made
// since. The title never reaches the terminal.
type canvas struct {
	mu     sync.Mutex
	out    io.Writer
	staged map[int][]stroke // the newest two: an older frame cannot be drawn any more
	want   []stroke         // of the frame that was drawn last
	shown  []stroke         // on the terminal
	told   []word           // what the terminal is told before a frame
	away   bool             // the chat's screen is not shown
	w, h   int              // of the terminal, in cells; 0: not known yet
}

// stroke is a part of a picture, and how it is drawn. gone takes it away again,
// where blanks over it do not.
type stroke struct {
	picture.Place
	draw, gone string
	given      int // how often the terminal was given the picture: a new one is put anew
}

// word is what the terminal is told before a frame that has not been drawn.
type word struct {
	frame int
	raw   string
}

// ttyCanvas is a canvas on a terminal, whose size can be asked.
type ttyCanvas struct {
	*os.File
	c *canvas
}

func (t ttyCanvas) Write(p []byte) (int, error)       { return t.c.Write(p) }
func (t ttyCanvas) WriteString(s string) (int, error) { return t.c.Write([]byte(s)) }

func newCanvas(out io.Writer) (*canvas, io.Writer) {
	c := &canvas{out: out, staged: map[int][]stroke{}}
	if f, ok := out.(*os.File); ok {
		return c, ttyCanvas{f, c}
	}
	return c, c
}

const (
	windowTitle = "Hearth"
	markStart   = "\x1b]2;hearth-pictures:"
	markEnd     = "\x07"
)

// titleOf is the title of a frame with pictures.
func titleOf(frame int) string {
	return strings.TrimPrefix(markStart, "\x1b]2;") + strconv.Itoa(frame)
}

// stage says which pictures a frame has that is about to be made, and what the
// terminal must be told before.
func (c *canvas) stage(frame int, list []stroke, told string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told != "" {
		c.told = append(c.told, word{frame, told})
	}
	c.staged[frame] = list
	for n := range c.staged {
		if n < frame-1 {
			delete(c.staged, n)
		}
	}
}

// filter has the canvas know of a new size before a frame is drawn for it. The first of
// those is still one that was made for the size before.
func (c *canvas) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		c.mu.Lock()
		c.w, c.h = size.Width, size.Height
		c.mu.Unlock()
	}
	return msg
}

// beyond: a terminal would scroll for such a picture, or draw it elsewhere.
func (c *canvas) beyond(s stroke) bool { return c.w > 0 && (s.X+s.W > c.w || s.Y+s.H > c.h) }

// Write writes a frame, or anything else.
func (c *canvas) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	enter, leave := bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor)), bytes.Contains(p, []byte(ansi.ResetModeAltScreenSaveCursor))
	var b bytes.Buffer
	frame := c.unmark(&b, p, enter)
	switch {
	case leave:
		c.away = true
	case enter:
		c.away = false
	}
	want := slices.DeleteFunc(slices.Clone(c.want), c.beyond)
	if c.away {
		want = nil
	}
	stay := func(s stroke) bool { return slices.Contains(want, s) }
	if enter || leave || bytes.Contains(p, []byte(ansi.EraseEntireScreen)) || bytes.Contains(p, []byte(ansi.EraseScreenBelow)) {
		stay = func(stroke) bool { return false } // all of it is made anew
	}
	var left []stroke
	for _, s := range c.shown {
		if stay(s) {
			left = append(left, s)
		}
	}
	erase(&b, slices.DeleteFunc(slices.Clone(c.shown), stay))
	frame, done := bytes.CutSuffix(frame, []byte(ansi.ResetModeSynchronizedOutput))
	b.Write(frame)
	paintOver(&b, slices.DeleteFunc(slices.Clone(want), func(s stroke) bool { return slices.Contains(left, s) }))
	if done {
		b.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	c.shown = want
	if b.Len() == 0 {
		return len(p), nil
	}
	if _, err := c.out.Write(b.Bytes()); err != nil {
		return 0, fmt.Errorf("write to the terminal: %w", err)
	}
	return len(p), nil
}

// unmark takes the marks out of a frame, and says before it what the terminal must
// know. One that comes back to the chat's screen sets the title again.
func (c *canvas) unmark(before *bytes.Buffer, p []byte, enter bool) []byte {
	at := bytes.Index(p, []byte(markStart))
	if at < 0 {
		return p
	}
	var b bytes.Buffer
	for ; at >= 0; at = bytes.Index(p, []byte(markStart)) {
		end := bytes.Index(p[at:], []byte(markEnd))
		if end < 0 {
			break
		}
		if n, err := strconv.Atoi(string(p[at+len(markStart) : at+end])); err == nil {
			if list, ok := c.staged[n]; ok {
				c.want = list
			}
			for len(c.told) > 0 && c.told[0].frame <= n {
				before.WriteString(c.told[0].raw)
				c.told = c.told[1:]
			}
		}
		b.Write(p[:at])
		if enter {
			b.WriteString(ansi.SetWindowTitle(windowTitle))
		}
		p = p[at+end+len(markEnd):]
	}
	b.Write(p)
	return b.Bytes()
}

// erase blanks the cells of pictures, as the frame's owner believes them to be. It
// writes blanks: xterm takes no sixel away for being told to erase characters.
func erase(b *bytes.Buffer, list []stroke) {
	if len(list) == 0 {
		return
	}
	b.WriteString(ansi.SaveCursor + ansi.ResetStyle)
	for _, s := range list {
		b.WriteString(s.gone)
		for y := range s.H {
			b.WriteString(ansi.CursorPosition(s.X+1, s.Y+y+1) + strings.Repeat(" ", s.W))
		}
	}
	b.WriteString(ansi.RestoreCursor)
}

func paintOver(b *bytes.Buffer, list []stroke) {
	if len(list) == 0 {
		return
	}
	b.WriteString(ansi.SaveCursor)
	for _, s := range list {
		b.WriteString(ansi.CursorPosition(s.X+1, s.Y+1) + s.draw)
	}
	b.WriteString(ansi.RestoreCursor)
}
