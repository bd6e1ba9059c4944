package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Answering a message again, in other words or by another model, and the versions
// that come of it. The earlier version stays: it is a branch of the same transcript.

// ours are the commands of this program; all others are the gateway's.
func ours() []choice {
	return []choice{
		{"/edit", "/edit", "change a message that was sent, and have it answered again"},
		{"/retry", "/retry [model]", "have the last message answered again"},
		{"/branch", "/branch", "a new session of what was said so far"},
		{"/versions", "/versions", "the next version of the last message that has several"},
		{"/attach ", "/attach PATH", "send a file with the next message"},
		{"/prompts ", "/prompts NAME", "one of your prompts, filled in"},
		{"/detach", "/detach", "send no file with the next message"},
		{"/theme ", "/theme NAME", "auto, light, dark, contrast or none"},
		{"/images ", "/images NAME", "auto, kitty, iterm, sixel, blocks or off"},
		{"/mouse ", "/mouse on|off", "whether the mouse scrolls and clicks here"},
	}
}

// command does what the composer holds, if it is a command of this program.
func (m *Model) command(text string) (cmd tea.Cmd, known bool) {
	head, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch head {
	case "/edit":
		m.editSent()
	case "/retry":
		cmd = m.retry(rest)
	case "/branch":
		cmd = m.branch()
	case "/versions":
		cmd = m.version()
	case "/attach":
		m.attach(rest)
	case "/detach":
		m.room.files = nil
	case "/prompts":
		if m.takePrompt(rest); m.fill != nil {
			m.popup = popup{}
		}
	case "/theme":
		m.chooseTheme(rest)
	case "/images":
		cmd = m.chooseImages(rest)
	case "/mouse":
		m.noMouse = rest == "off"
		m.notice = "The mouse scrolls and clicks here; with Shift held it selects text."
		if m.noMouse {
			m.notice = "The mouse is the terminal's."
		}
	default:
		return nil, false
	}
	return cmd, true
}

// quiet says whether a message can be answered again now.
func (m *Model) quiet() bool {
	if m.room.live != nil || len(m.room.queue()) > 0 {
		m.notice = "Something is being answered. Wait for its end, or stop it with Esc."
		return false
	}
	return true
}

// sentBefore is the person's message before another one in the transcript, "" = the last one.
func (r *room) sentBefore(id string) *protocol.Message {
	at := len(r.msgs)
	if i := slices.IndexFunc(r.msgs, func(m protocol.Message) bool { return m.Meta.ID == id }); id != "" && i >= 0 {
		at = i
	}
	for i := at - 1; i >= 0; i-- {
		if m := &r.msgs[i]; m.Role == protocol.MessageUser && !m.ExcludeFromContext {
			return m
		}
	}
	return nil
}

// editSent brings the last sent message into the composer; again, the one before it.
func (m *Model) editSent() {
	r := m.room
	if !m.quiet() {
		return
	}
	msg := r.sentBefore(r.redo)
	if msg == nil {
		m.notice = "There is no earlier message to change."
		return
	}
	r.redo, r.editing = msg.Meta.ID, ""
	r.draft.set(msg.Text())
	m.notice = "Enter has it answered again from here; the version before it stays. Esc leaves it as it is."
}

// retry has the last message answered again.
func (m *Model) retry(model string) tea.Cmd {
	msg := m.room.sentBefore("")
	if !m.quiet() {
		return nil
	}
	if msg == nil {
		m.notice = "Nothing was asked yet."
		return nil
	}
	return m.again(protocol.ChatAgainParams{EntryID: msg.Meta.ID, Model: model})
}

func (m *Model) again(p protocol.ChatAgainParams) tea.Cmd {
	r := m.room
	p.SessionKey, p.IdempotencyKey = r.key, m.newID()
	r.scroll = 0
	return func() tea.Msg {
		err := m.wire.Call(m.ctx, protocol.MethodChatAgain, p, nil)
		return otherMsg{doneMsg{"answer the message again", p.SessionKey, err}}
	}
}

// otherMsg is the end of a request after which another branch is in use.
type otherMsg struct{ doneMsg }

func (m *Model) other(msg otherMsg) tea.Cmd {
	if r := m.find(msg.key); r != nil && msg.err == nil {
		r.sessionID = "" // what is known is of the other branch
	}
	return m.done(msg.doneMsg)
}

// branch makes a new session of what was said so far.
func (m *Model) branch() tea.Cmd {
	r := m.room
	if !m.quiet() {
		return nil
	}
	if len(r.msgs) == 0 {
		m.notice = "Nothing was said yet."
		return nil
	}
	p := protocol.EntryParams{SessionKey: r.key, EntryID: r.msgs[len(r.msgs)-1].Meta.ID}
	return func() tea.Msg {
		var res protocol.ForkResult
		err := m.wire.Call(m.ctx, protocol.MethodSessionsFork, p, &res)
		return createdMsg{res.SessionKey, err}
	}
}

// version goes to the next version of the last message that has several.
func (m *Model) version() tea.Cmd {
	r := m.room
	if !m.quiet() {
		return nil
	}
	for i := len(r.msgs) - 1; i >= 0; i-- {
		v := r.msgs[i].Versions
		if v == nil || len(v.Entries) < 2 {
			continue
		}
		p := protocol.BranchSwitchParams{SessionKey: r.key, LeafEntryID: v.Entries[v.At%len(v.Entries)]}
		return func() tea.Msg {
			return otherMsg{doneMsg{"go to the other version", p.SessionKey, m.wire.Call(m.ctx, protocol.MethodBranchesSwitch, p, nil)}}
		}
	}
	m.notice = "No message here has another version."
	return nil
}

// versionMark says which version of a message it is: ‹2/3›.
func versionMark(msg *protocol.Message) string {
	if v := msg.Versions; v != nil && len(v.Entries) > 1 {
		return " ‹" + itoa(v.At) + "/" + itoa(len(v.Entries)) + "›"
	}
	return ""
}
