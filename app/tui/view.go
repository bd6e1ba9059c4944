package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/app/tui/picture"
)

// View draws the screen.
func (m *Model) View() tea.View {
	s := m.shot
	if m.shot = nil; s == nil {
		s = m.shoot()
	}
	x, y := s.x, s.y
	v := tea.NewView(strings.Join(s.lines, "\n"))
	v.AltScreen = true
	v.WindowTitle = m.paintPhotos(s.places)
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if x >= 0 {
		v.Cursor = tea.NewCursor(x, y)
		v.Cursor.Blink = false
	}
	return v
}

// shot is the screen as it is drawn, and the pictures that stand on it.
type shot struct {
	lines  []string
	x, y   int
	places []picture.Place
}

func (m *Model) shoot() *shot {
	s := new(shot)
	s.lines, s.x, s.y = m.screen()
	if m.pics.showing() {
		s.places = picture.Find(s.lines, m.pics.wide)
		if m.pics.means != picture.Kitty {
			picture.Blank(s.lines)
		}
	}
	return s
}

// screen is exactly h lines of at most w cells, and where the cursor is;
// x is -1 when there is none.
func (m *Model) screen() (lines []string, x, y int) {
	w, h := max(m.w, 1), max(m.h, 1)
	side := m.sidebarWidth()
	left := side
	if side > 0 {
		left += 3 // a line between
	}
	body, x, y := m.chatScreen(w-left, h)
	if m.asks.open {
		body, x = m.asksScreen(w-left, h), -1
	} else if d := m.doorOpen(); d != nil {
		body, x = m.doorScreen(*d, w-left, h), -1
	}
	if m.help {
		body, x = m.helpScreen(w-left, h), -1
	}
	if side > 0 {
		list := m.drawList(side, h)
		for i := range body {
			body[i] = list[i] + m.theme.dim.paint(" │ ") + body[i]
		}
		if x >= 0 {
			x += left
		}
	} else if m.list.open {
		body, x = m.drawList(w, h), -1
		if m.rename != nil {
			body, x, y = m.renameLine(body, w, h)
		}
	}
	if m.list.open && m.rename == nil {
		x = -1
	}
	for len(body) < h {
		body = append(body, "")
	}
	for i := range body {
		body[i] = clipTo(body[i], w)
	}
	return body[:h], min(x, w-1), min(y, h-1)
}

func clipTo(s string, w int) string {
	if width(s) > w {
		return clip(s, w)
	}
	return s
}

// renameLine puts the name that is being written on the last line.
func (m *Model) renameLine(lines []string, w, h int) ([]string, int, int) {
	label := "Name: "
	text := m.rename.text
	lines[h-1] = fit(m.theme.bold.paint(label)+text, w)
	return lines, width(label) + width(m.rename.text[:m.rename.at]), h - 1
}

const maxComposer = 8

func (m *Model) composerWidth() int {
	w := m.w
	if s := m.sidebarWidth(); s > 0 {
		w -= s + 3
	}
	return max(4, w-2)
}

// parts is how the height of the screen is divided.
type parts struct{ transcript, queue, popup, files, composer int }

func (m *Model) divide() (p parts) {
	if m.room == nil {
		p.composer = 1
		p.transcript = max(0, m.h-4)
		return p
	}
	free := m.h - 3 // heading, rule, status
	p.composer = max(1, min(len(m.room.draft.rows(m.composerWidth())), maxComposer, free/3))
	free -= p.composer
	p.queue = min(len(m.room.queue()), 3, max(0, free/3))
	free -= p.queue
	p.files = min(len(m.room.files), 1, max(0, free-2))
	free -= p.files
	p.popup = min(len(m.choices()), 8, max(0, free-2))
	free -= p.popup
	p.transcript = max(0, free)
	return p
}

func (m *Model) transcriptHeight() int { return m.divide().transcript }

func (m *Model) chatScreen(w, h int) (lines []string, x, y int) {
	p := m.divide()
	lines = append(lines, m.headLine(w))
	lines = append(lines, m.drawTranscript(w, p.transcript)...)
	lines = append(lines, m.ruleLine(w))
	lines = append(lines, m.drawQueue(w, p.queue)...)
	lines = append(lines, m.drawPopup(w, p.popup)...)
	lines = append(lines, m.drawFiles(w, p.files)...)
	if m.rename != nil {
		lines = append(lines, clip(m.theme.bold.paint("Name: ")+m.rename.text, w))
		x, y = 6+width(m.rename.text[:m.rename.at]), len(lines)-1
	} else if m.fill != nil {
		var line string
		line, x = m.drawFill(w)
		lines, y = append(lines, line), len(lines)
	} else {
		var box []string
		box, x, y = m.drawComposer(w, p.composer)
		y += len(lines)
		lines = append(lines, box...)
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	if len(lines) >= h && h > 0 {
		lines = lines[:h-1]
	}
	return append(lines, m.statusLine(w)), x, y
}

func (m *Model) headLine(w int) string {
	t := &m.theme
	if m.room == nil {
		return fit(t.brand.paint("Hearth"), w)
	}
	name := m.fallback
	for i := range m.rows {
		if s := &m.rows[i]; s.Key == m.room.key && s.Model != "" {
			name = strings.TrimPrefix(s.ModelProvider+"/"+s.Model, "/")
		}
	}
	name = terminal.Line(name)
	title := m.title(m.room.key)
	if width(title)+width(name)+14 > w {
		name = clip(name, max(0, w/3))
	}
	return ends(t.brand.paint("Hearth")+t.dim.paint(" · ")+t.bold.paint(title), t.dim.paint(name), w)
}

// drawTranscript shows the part of the conversation that scrolling is at.
func (m *Model) drawTranscript(w, h int) []string {
	r := m.room
	if r == nil || h <= 0 {
		return make([]string, max(0, h))
	}
	blocks := m.transcript(w)
	total := 0
	for _, b := range blocks {
		total += len(b)
	}
	if total == 0 {
		return m.emptyRoom(w, h)
	}
	if r.scroll > 0 && total > r.total && r.total > 0 && !r.loading {
		r.scroll += total - r.total // what is being read stays where it is
	}
	r.total = total
	r.scroll = max(0, min(r.scroll, total-h))
	out := make([]string, 0, h)
	at, from, to := 0, max(0, total-h-r.scroll), total-r.scroll
	for _, b := range blocks {
		if at+len(b) > from && at < to {
			out = append(out, b[max(0, from-at):min(len(b), to-at)]...)
		}
		at += len(b)
	}
	for len(out) < h {
		out = append(out, "")
	}
	return out
}

func (m *Model) emptyRoom(w, h int) []string {
	t := &m.theme
	lines := []string{"", t.bold.paint("  Say something."), "", t.dim.paint("  Enter sends · Alt+Enter is a new line · / lists commands · " +
		"? helps")}
	if m.link == connecting || !m.room.loaded {
		lines = []string{"", t.dim.paint("  Reading the conversation…")}
	}
	for i := range lines {
		lines[i] = clip(lines[i], w)
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}

func (m *Model) ruleLine(w int) string {
	t := &m.theme
	if m.room != nil && m.room.scroll > 0 {
		hint := " ↓ " + itoa(m.room.scroll) + " more lines · End "
		return t.dim.paint("──") + t.warn.paint(hint) + t.dim.paint(strings.Repeat("─", max(0, w-2-width(hint))))
	}
	return t.dim.paint(strings.Repeat("─", max(0, w)))
}

// drawQueue shows what waits behind the running answer, the next first.
func (m *Model) drawQueue(w, h int) (lines []string) {
	if h == 0 {
		return nil
	}
	t := &m.theme
	q := m.room.queue()
	for i, x := range q {
		if i == h-1 && len(q) > h {
			return append(lines, t.dim.paint(clip("  … and "+itoa(len(q)-i)+" more", w)))
		}
		mark := t.dim.paint("◷ ")
		side := ""
		switch {
		case x.run == m.room.editing:
			mark, side = t.busy.paint("✎ "), t.dim.paint(" · Enter saves, Ctrl+X takes it back")
		case x.out != nil && !x.out.acked:
			mark = t.dim.paint("○ ")
		case i == len(q)-1 && w >= 60:
			side = t.dim.paint("  Alt+↑ edits")
		}
		lines = append(lines, ends(mark+clip(terminal.Line(x.text), max(1, w-3-width(side))), side, w))
	}
	return lines
}

func (m *Model) drawComposer(w, h int) (lines []string, x, y int) {
	t := &m.theme
	if m.room == nil {
		return []string{t.dim.paint("› ")}, -1, 0
	}
	c := &m.room.draft
	mark := t.brand.paint("› ")
	if m.room.editing != "" {
		mark = t.busy.paint("✎ ")
	}
	rows := c.rows(m.composerWidth())
	cy, cx := c.place(rows)
	from := max(0, min(cy-h+1, len(rows)-h))
	if cy < from {
		from = cy
	}
	for i := from; i < len(rows) && i < from+h; i++ {
		prefix := "  "
		if i == 0 {
			prefix = mark
		}
		lines = append(lines, prefix+c.text[rows[i].from:rows[i].to])
	}
	if c.text == "" {
		hint := "Write a message"
		switch {
		case m.link == lost:
			hint = "What you send now waits for the connection"
		case m.room.live != nil:
			hint = "Enter steers the answer, Tab queues behind it"
		}
		lines[0] = mark + t.dim.paint(clip(hint, max(0, w-3)))
	}
	return lines, cx + 2, cy - from
}

// statusLine tells the connection, what runs, and how to get help.
func (m *Model) statusLine(w int) string {
	t := &m.theme
	left := t.good.paint("● ") + "connected"
	switch m.link {
	case connecting:
		left = t.warn.paint("○ ") + "connecting…"
	case lost:
		left = t.bad.paint("○ ") + t.warn.paint("offline, trying again")
		if m.lostWhy != "" && w >= 80 {
			left += t.dim.paint(" · " + terminal.Line(m.lostWhy))
		}
	}
	help := t.dim.paint("? help")
	if m.notice != "" {
		return fit(t.warn.paint(clip(terminal.Line(m.notice), w)), w)
	}
	if door := m.door(); door != "" {
		left = t.warn.paint("▲ "+door) + t.dim.paint(" · ") + left
	}
	if r := m.room; r != nil {
		if r.live != nil && m.link == connected {
			left += t.dim.paint(" · ") + t.busy.paint("answering "+itoa(int(m.now().Sub(r.live.since).Seconds()))+" s") + t.dim.paint(" · Esc stops")
		}
		if n := len(m.asks.list); n > 0 {
			left = t.warn.paint("▲ needs your yes: "+itoa(n)+" · Ctrl+G") + t.dim.paint(" · ") + left
		}
		if n := len(r.queue()); n > 0 {
			left += t.dim.paint(" · " + itoa(n) + " waiting")
		}
	}
	if width(left)+width(help)+1 > w {
		return clip(left, w)
	}
	return ends(left, help, w)
}
