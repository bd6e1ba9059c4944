package tui

import (
	"strings"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// list is the list of sessions while a person chooses from it.
type list struct {
	open bool // it has the keys; on narrow screens only then it is seen
	at   int
}

// sidebarWidth is what the list takes of a wide screen, 0 on others.
func (m *Model) sidebarWidth() int {
	if m.w < 100 {
		return 0
	}
	return min(32, m.w/4)
}

// title is what a session is called.
func (m *Model) title(key string) string {
	for i := range m.rows {
		if s := &m.rows[i]; s.Key == key {
			return m.rowTitle(s)
		}
	}
	if key == m.main {
		return "Main"
	}
	return terminal.Line(key)
}

func (m *Model) rowTitle(s *protocol.SessionRow) string {
	for _, t := range []string{s.Label, s.DisplayName, s.DerivedTitle} {
		if t = terminal.Line(t); t != "" {
			return t
		}
	}
	if s.Key == m.main {
		return "Main"
	}
	if strings.Contains(s.Key, ":chat:") {
		return "New session"
	}
	return terminal.Line(s.Key)
}

// drawList draws the sessions in a box of w times h cells.
func (m *Model) drawList(w, h int) []string {
	t := &m.theme
	head := t.bold.paint("Sessions")
	if m.list.open {
		head += t.dim.paint(" ↑↓ Enter")
	} else {
		head += t.dim.paint(" Ctrl+B")
	}
	lines := []string{fit(head, w)}
	room := h - 1
	if m.list.open {
		room-- // for the hint below
	}
	from := 0
	if m.list.at >= room {
		from = m.list.at - room + 1
	}
	for i := from; i < len(m.rows) && i < from+max(0, room); i++ {
		lines = append(lines, m.drawRow(i, w))
	}
	if len(m.rows) == 0 {
		lines = append(lines, fit(t.dim.paint("none yet"), w))
	}
	for len(lines) < h-1 {
		lines = append(lines, strings.Repeat(" ", w))
	}
	if len(lines) < h {
		hint := ""
		if m.list.open {
			hint = "Ctrl+N new · r rename · Esc"
		}
		lines = append(lines, fit(t.dim.paint(clip(hint, w)), w))
	}
	return lines[:h]
}

func (m *Model) drawRow(i, w int) string {
	t := &m.theme
	s := &m.rows[i]
	mark := "  "
	switch {
	case s.HasActiveRun, m.room != nil && s.Key == m.room.key && m.room.live != nil:
		mark = t.busy.paint("● ")
	case m.room != nil && s.Key == m.room.key:
		mark = "› "
	case s.Pinned:
		mark = t.dim.paint("⌃ ")
	}
	name := m.rowTitle(s)
	if m.room != nil && s.Key == m.room.key {
		name = t.bold.paint(name)
	}
	side := ""
	if s.QueuedRuns > 0 {
		side = t.dim.paint(" +" + itoa(s.QueuedRuns))
	}
	line := ends(mark+clip(name, max(1, w-2-width(side))), side, w)
	if m.list.open && i == m.list.at {
		line = t.selected.paint(fit(terminal.Clean(line), w))
	}
	return line
}

// listKey takes a key while the list is open.
func (m *Model) listKey(k string) (key string, choose, rename, handled bool) {
	at := func() string {
		if m.list.at < len(m.rows) {
			return m.rows[m.list.at].Key
		}
		return ""
	}
	switch k {
	case "up", "k", "ctrl+p":
		m.list.at = max(0, m.list.at-1)
	case "down", "j":
		m.list.at = max(0, min(len(m.rows)-1, m.list.at+1))
	case "pgup", "home":
		m.list.at = 0
	case "pgdown", "end":
		m.list.at = max(0, len(m.rows)-1)
	case "enter", "right":
		return at(), true, false, true
	case "r", "f2":
		return at(), false, true, true
	case "esc", "ctrl+b", "left":
		m.list.open = false
	default:
		return "", false, false, false
	}
	return "", false, false, true
}
