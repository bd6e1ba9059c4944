package tui

import tea "charm.land/bubbletea/v2"

// wheel is how many rows one turn of the wheel moves.
const wheel = 3

// mouse takes what the mouse did. It never answers a question: a click that was
// meant for what stood there before must not allow anything.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	by := 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = wheel
	case tea.MouseWheelDown:
		by = -wheel
	}
	switch {
	case by != 0 && m.help:
		m.helpAt -= by
	case by != 0 && m.asks.open:
		m.asks.top -= by
	case by != 0 && m.doorOpen() == nil && m.overList(at.X):
		m.list.at = max(0, min(len(m.rows)-1, m.list.at-by/wheel))
	case by != 0 && m.room != nil && m.doorOpen() == nil:
		return m.scroll(by)
	}
	if _, click := msg.(tea.MouseClickMsg); !click || at.Button != tea.MouseLeft || m.asks.open || m.doorOpen() != nil || m.rename != nil {
		return nil
	}
	switch {
	case m.help:
		m.help, m.helpAt = false, 0
	case m.overList(at.X):
		return m.clickRow(at.Y)
	case m.room != nil && at.Y > 0 && at.Y <= m.transcriptHeight():
		return m.clickTranscript(at.Y - 1)
	}
	return nil
}

// overList: the list of sessions is drawn at this column.
func (m *Model) overList(x int) bool {
	side := m.sidebarWidth()
	return side > 0 && x < side || side == 0 && m.list.open
}

func (m *Model) clickRow(y int) tea.Cmd {
	room := m.h - 1
	if m.list.open {
		room--
	}
	from := 0
	if m.list.at >= room {
		from = m.list.at - room + 1
	}
	i := from + y - 1 // below the heading
	if y < 1 || i >= len(m.rows) || y > room {
		return nil
	}
	m.list.at = i
	return m.visit(m.rows[i].Key)
}

// clickTranscript reads older messages where that is offered, opens and closes
// tool calls elsewhere, and goes to the end on the line below.
func (m *Model) clickTranscript(y int) tea.Cmd {
	r := m.room
	h := m.transcriptHeight()
	row := max(0, r.total-h-r.scroll) + y
	if row == 0 && (r.more || r.earlier != nil) {
		return m.readOlder(r)
	}
	r.expanded = !r.expanded
	return nil
}
