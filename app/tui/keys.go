package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// key takes one key: what lies on top has it first.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	if k != "ctrl+c" {
		m.leaving = false
	}
	m.notice = ""
	switch {
	case k == "ctrl+c":
		return m.quit()
	case k == "ctrl+z":
		return tea.Suspend
	case k == "ctrl+l":
		return tea.ClearScreen
	case m.help:
		m.helpKey(k)
		return nil
	case m.asks.open:
		return m.asksKey(k)
	case m.doorOpen() != nil:
		return m.doorKey(*m.doorOpen(), k)
	case k == "ctrl+g":
		m.openAsks()
		return nil
	case m.rename != nil:
		return m.renameKey(k, msg.Text)
	case m.fill != nil && m.room != nil:
		m.fillKey(k, msg.Text)
		return nil
	case k == "ctrl+n":
		m.list.open = false
		return m.create()
	case k == "ctrl+_" || k == "ctrl+/" || k == "f1":
		m.help = true
		return nil
	case m.room == nil:
		return nil
	}
	if m.list.open {
		key, choose, rename, handled := m.listKey(k)
		switch {
		case choose && key != "":
			return m.visit(key)
		case rename && key != "":
			m.startRename(key)
		case !handled && msg.Text != "": // typing goes to the composer
			m.list.open = false
		}
		if m.list.open || handled {
			return nil
		}
	}
	if m.popupKey(k) {
		return nil
	}
	return m.chatKey(k, msg.Text)
}

// chatKey takes a key of the conversation and the composer.
func (m *Model) chatKey(k, text string) tea.Cmd {
	r := m.room
	c := &r.draft
	switch k {
	case "enter":
		return m.submit("")
	case "tab":
		return m.submit("followup")
	case "alt+enter", "shift+enter", "ctrl+j", "ctrl+enter":
		c.insert("\n")
	case "esc":
		return m.escape()
	case "ctrl+b":
		m.openList()
	case "f2":
		m.startRename(r.key)
	case "ctrl+o":
		r.expanded = !r.expanded
	case "ctrl+r":
		return m.resend()
	case "ctrl+x":
		return m.cancelWaiting()
	case "alt+e":
		m.editSent()
	case "alt+r":
		return m.retry("")
	case "alt+v":
		return m.version()
	case "alt+o":
		return m.openPhoto()
	case "alt+up":
		m.editWaiting()
	case "pgup", "shift+up":
		return m.scroll(m.step(k))
	case "pgdown", "shift+down":
		return m.scroll(-m.step(k))
	case "end", "ctrl+end":
		if k == "end" && c.text != "" {
			c.end()
		} else {
			r.scroll = 0
		}
	case "?":
		if c.text == "" {
			m.help = true
			return nil
		}
		c.insert("?")
	case "up", "down":
		m.vertical(k)
	default:
		if c.key(k, m.composerWidth()) {
			return nil
		}
		if text != "" {
			c.insert(text)
			m.popup.at, m.popup.closed = 0, ""
			r.recall = 0
			if c.text == "/" { // some may have been kept elsewhere meanwhile
				return m.listPrompts()
			}
		}
	}
	return nil
}

func (m *Model) step(k string) int {
	if strings.HasPrefix(k, "shift") {
		return 1
	}
	return max(1, m.transcriptHeight()-2)
}

// scroll moves the transcript; at its top older messages are read.
func (m *Model) scroll(by int) tea.Cmd {
	r := m.room
	most := max(0, r.total-m.transcriptHeight())
	r.scroll = max(0, min(most, r.scroll+by))
	if by > 0 && r.scroll == most {
		return m.readOlder(r)
	}
	return nil
}

// submit sends what the composer holds, or gives it to the waiting message
// that is being changed.
func (m *Model) submit(mode string) tea.Cmd {
	r := m.room
	text := strings.TrimSpace(r.draft.text)
	if text == "" && len(r.files) == 0 {
		return nil
	}
	typed := r.draft.text
	if cmd, known := m.command(text); known {
		if r.draft.text == typed && r.redo == "" { // a prompt that asks for nothing is there instead
			r.draft = composer{}
		}
		m.popup = popup{}
		return cmd
	}
	if id := r.redo; id != "" {
		if !m.quiet() {
			return nil
		}
		r.draft, r.redo, r.recall = composer{}, "", 0
		return m.again(protocol.ChatAgainParams{EntryID: id, Message: &text})
	}
	run := r.editing
	r.draft, r.editing, r.recall = composer{}, "", 0
	m.popup = popup{}
	if run == "" {
		return m.send(r, text, mode)
	}
	for _, o := range r.out {
		if o.run == run && !o.acked && !o.sending {
			o.text = text
			return nil
		}
	}
	return m.reword(run, text)
}

// escape takes back the nearest thing: an edit, a look back, the answer.
func (m *Model) escape() tea.Cmd {
	r := m.room
	switch {
	case r.redo != "":
		r.redo, r.draft = "", composer{}
		return nil
	case r.editing != "":
		r.editing, r.draft = "", composer{}
		return nil
	case r.live != nil || len(r.queue()) > 0:
		m.notice = "Stopping…"
		return m.stop()
	case r.scroll > 0:
		r.scroll = 0
	}
	return nil
}

// vertical moves by rows; ↑ in an empty composer brings back what was sent.
func (m *Model) vertical(k string) {
	r := m.room
	c := &r.draft
	if r.recall == 0 && c.text != "" || r.editing != "" {
		c.key(k, m.composerWidth())
		return
	}
	texts := r.recallable()
	if k == "up" {
		r.recall = min(len(texts), r.recall+1)
	} else {
		r.recall = max(0, r.recall-1)
	}
	if r.recall == 0 {
		c.set("")
		return
	}
	c.set(texts[len(texts)-r.recall])
}

// editWaiting brings the newest waiting message into the composer, or with one
// there, the one before it.
func (m *Model) editWaiting() {
	r := m.room
	q := r.queue()
	at := len(q) - 1
	for i := range q {
		if q[i].run == r.editing {
			at = max(0, i-1)
		}
	}
	if at < 0 {
		m.notice = "No message is waiting."
		return
	}
	r.editing = q[at].run
	r.draft.set(q[at].text)
}

// cancelWaiting takes back the message that is being changed, or the newest
// one that waits.
func (m *Model) cancelWaiting() tea.Cmd {
	r := m.room
	q := r.queue()
	run := r.editing
	if run == "" && len(q) > 0 {
		run = q[len(q)-1].run
	}
	if run == "" {
		m.notice = "No message is waiting."
		return nil
	}
	if r.editing != "" {
		r.editing, r.draft = "", composer{}
	}
	for i, o := range r.out {
		if o.run == run && !o.acked && !o.sending {
			r.out = append(r.out[:i:i], r.out[i+1:]...)
			return nil
		}
	}
	return m.cancel(run)
}

func (m *Model) openList() {
	m.list = list{open: true}
	for i := range m.rows {
		if m.room != nil && m.rows[i].Key == m.room.key {
			m.list.at = i
		}
	}
}

func (m *Model) startRename(key string) {
	m.rename = &composer{}
	m.renaming = key
	for i := range m.rows {
		if m.rows[i].Key == key {
			m.rename.set(m.rowTitle(&m.rows[i]))
		}
	}
}

func (m *Model) renameKey(k, text string) tea.Cmd {
	switch k {
	case "esc":
		m.rename = nil
	case "enter":
		label := strings.TrimSpace(m.rename.text)
		m.rename = nil
		return m.relabel(m.renaming, label)
	case "up", "down", "tab":
	default:
		if !m.rename.key(k, 1<<20) && text != "" {
			m.rename.insert(text)
		}
	}
	return nil
}

func (m *Model) paste(s string) tea.Cmd {
	switch {
	case m.rename != nil:
		m.rename.insert(strings.Join(strings.Fields(s), " "))
	case m.fill != nil && m.room != nil && !m.help:
		m.fill.field.insert(strings.Join(strings.Fields(s), " "))
	case m.room != nil && !m.help:
		m.list.open = false
		if f := pasted(s); f != nil {
			m.attach(f.path)
			return nil
		}
		m.room.draft.insert(s)
	}
	return nil
}

// quit leaves; messages that were not handed over make it ask once.
func (m *Model) quit() tea.Cmd {
	if n := len(m.Unsent()); n > 0 && !m.leaving {
		m.leaving = true
		m.notice = "Not everything is sent yet. Ctrl+C again leaves and prints it."
		return nil
	}
	if m.room != nil && m.room.draft.text != "" && !m.leaving {
		m.leaving = true
		m.notice = "Ctrl+C again leaves; what you are writing is lost."
		return nil
	}
	return tea.Quit
}
