package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// historyPage is how many messages are read at a time.
const historyPage = 200

// errOffline is the answer of a wire without a connection.
var errOffline = errors.New("there is no connection to the gateway")

// passing reports errors after which the same request is made again.
func passing(err error) bool {
	return errors.Is(err, client.ErrLost) || errors.Is(err, client.ErrSlow) || errors.Is(err, client.ErrClosed) || errors.Is(err, errOffline)
}

func (m *Model) listSessions() tea.Cmd {
	return func() tea.Msg {
		var l protocol.SessionsList
		var sub protocol.SubscribeResult
		if err := m.wire.Call(m.ctx, protocol.MethodSessionsSubscribe, nil, &sub); err != nil {
			return sessionsMsg{err: err}
		}
		err := m.wire.Call(m.ctx, protocol.MethodSessionsList, protocol.SessionsListParams{Limit: 200, IncludeDerivedTitles: true}, &l)
		return sessionsMsg{l, err}
	}
}

func (m *Model) sessions(msg sessionsMsg) {
	if msg.err != nil {
		m.complain("list the sessions", msg.err)
		return
	}
	m.rows = msg.list.Sessions
	m.sortRows()
	d := msg.list.Defaults
	m.fallback = strings.TrimPrefix(d.ModelProvider+"/"+d.Model, "/")
}

func (m *Model) listCommands() tea.Cmd {
	return func() tea.Msg {
		var l protocol.CommandsList
		_ = m.wire.Call(m.ctx, protocol.MethodCommandsList, nil, &l) // without it only completion is missing
		return commandsMsg{l}
	}
}

// open follows a session and reads it.
func (m *Model) open(r *room) tea.Cmd {
	r.loading, r.dirty = true, false
	key := r.key
	return func() tea.Msg {
		var sub protocol.SubscribeResult
		if err := m.wire.Call(m.ctx, protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: key}, &sub); err != nil {
			return historyMsg{key: key, err: err}
		}
		var ok protocol.OKResult
		// Only for the desktop's notifications: an older gateway does without.
		_ = m.wire.Call(m.ctx, protocol.MethodView, protocol.ViewParams{Key: key}, &ok)
		page := m.read(key, "", 0)
		page.is = sub.Key
		return page
	}
}

// read reads a page of a session; sessionID names one of its earlier conversations.
func (m *Model) read(key, sessionID string, before int64) historyMsg {
	var h protocol.ChatHistory
	err := m.wire.Call(m.ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: key, SessionID: sessionID, Limit: historyPage,
		Before: before}, &h)
	return historyMsg{key: key, older: sessionID != "" || before > 0, page: h, err: err}
}

// reload reads a session again, at most one reading at a time.
func (m *Model) reload(r *room) tea.Cmd {
	if r.loading {
		r.dirty = true
		return nil
	}
	if m.link != connected {
		return nil
	}
	r.loading, r.dirty = true, false
	key := r.key
	return func() tea.Msg { return m.read(key, "", 0) }
}

// readOlder reads the page before the first message, or when there is none the
// end of the conversation that stood here before.
func (m *Model) readOlder(r *room) tea.Cmd {
	past := r.past()
	if r.loading || past == "" && (!r.more || len(r.msgs) == 0) || m.link != connected {
		return nil
	}
	r.loading = true
	key := r.key
	if past != "" {
		return func() tea.Msg { return m.read(key, past, 0) }
	}
	before, oldest := r.msgs[0].Meta.Seq, r.oldest
	return func() tea.Msg { return m.read(key, oldest, before) }
}

func (m *Model) history(msg historyMsg) tea.Cmd {
	r := m.find(msg.key)
	if r == nil {
		return nil
	}
	r.loading = false
	if msg.is != "" && msg.is != r.key {
		m.call(r, msg.is)
	}
	switch {
	case msg.err != nil:
		m.complain("read the conversation", msg.err)
		return nil
	case msg.older:
		r.older(&msg.page)
	default:
		r.merge(&msg.page, m.now())
	}
	if r.dirty && r == m.room {
		return m.reload(r)
	}
	return nil
}

// send puts a message in the outbox and hands it over when its turn comes.
func (m *Model) send(r *room, text, mode string) tea.Cmd {
	r.out = append(r.out, &outgoing{run: m.newID(), text: text, mode: mode, files: r.files})
	r.files = nil
	r.remember(text)
	r.scroll = 0
	return m.flush(r)
}

// flush hands over the first message that was not yet. One at a time, so that
// they arrive in order; the same key each time, so that none is taken twice.
func (m *Model) flush(r *room) tea.Cmd {
	if m.link != connected {
		return nil
	}
	for _, o := range r.out {
		switch {
		case o.acked || o.err != "":
			continue
		case o.sending:
			return nil
		}
		o.sending = true
		p := protocol.ChatSendParams{SessionKey: r.key, Message: o.text, IdempotencyKey: o.run, QueueMode: o.mode}
		life, files := m.life, o.files
		return func() tea.Msg {
			var err error
			if p.Attachments, err = m.handIn(files); err == nil {
				err = m.wire.Call(m.ctx, protocol.MethodChatSend, p, nil)
			}
			return sentMsg{p.SessionKey, p.IdempotencyKey, life, err}
		}
	}
	return nil
}

func (m *Model) sent(msg sentMsg) tea.Cmd {
	r := m.find(msg.key)
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.out, func(o *outgoing) bool { return o.run == msg.run })
	if passing(msg.err) && msg.life == m.life {
		return nil // the next connection sends it again
	}
	if i >= 0 {
		o := r.out[i]
		o.sending = false
		switch {
		case msg.err == nil:
			o.acked = true
		case !passing(msg.err):
			o.err = m.plainError(msg.err)
		}
	}
	return tea.Batch(m.flush(r), m.reload(r))
}

// resend sends the last failed message again.
func (m *Model) resend() tea.Cmd {
	text, o := m.room.failed()
	switch {
	case o != nil:
		o.err = ""
		return m.flush(m.room)
	case text != "":
		return m.send(m.room, text, "")
	}
	m.notice = "No message has failed."
	return nil
}

// stop stops the session's answer and what waits behind it.
func (m *Model) stop() tea.Cmd {
	key := m.room.key
	return func() tea.Msg {
		err := m.wire.Call(m.ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: key}, nil)
		return doneMsg{"stop the answer", key, err}
	}
}

// cancel takes one waiting message back.
func (m *Model) cancel(run string) tea.Cmd {
	key := m.room.key
	return func() tea.Msg {
		err := m.wire.Call(m.ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: key, RunID: run}, nil)
		return doneMsg{"cancel the message", key, err}
	}
}

// reword gives a waiting message other words.
func (m *Model) reword(run, text string) tea.Cmd {
	key := m.room.key
	return func() tea.Msg {
		err := m.wire.Call(m.ctx, protocol.MethodQueueEdit, protocol.QueueEditParams{Key: key, RunID: run, Message: text}, nil)
		return doneMsg{"change the message", key, err}
	}
}

func (m *Model) relabel(key, label string) tea.Cmd {
	p := protocol.SessionsPatchParams{Key: key, Label: protocol.PatchTo(label)}
	if label == "" {
		p.Label.Value = nil
	}
	return func() tea.Msg {
		return doneMsg{"rename the session", key, m.wire.Call(m.ctx, protocol.MethodSessionsPatch, p, nil)}
	}
}

func (m *Model) create() tea.Cmd {
	return func() tea.Msg {
		var r protocol.SessionsCreateResult
		err := m.wire.Call(m.ctx, protocol.MethodSessionsCreate, protocol.SessionsCreateParams{}, &r)
		return createdMsg{r.Key, err}
	}
}

func (m *Model) created(msg createdMsg) tea.Cmd {
	if msg.err != nil {
		m.complain("start a session", msg.err)
		return nil
	}
	return m.visit(msg.key)
}

// visit opens another session.
func (m *Model) visit(key string) tea.Cmd {
	m.list.open = false
	if m.room != nil && m.room.key == key {
		return nil
	}
	if m.room != nil { // still subscribed, so that coming back misses nothing; its events are not looked at
		m.room.live = nil
		m.room.cache = map[string]drawn{}
	}
	m.room = m.enter(key)
	m.room.scroll = 0
	return m.open(m.room)
}

func (m *Model) done(msg doneMsg) tea.Cmd {
	if msg.err != nil {
		m.complain(msg.what, msg.err)
	}
	if r := m.find(msg.key); r != nil {
		return m.reload(r)
	}
	return nil
}

// complain tells what did not work. A lost connection is told by the status.
func (m *Model) complain(what string, err error) {
	if !passing(err) {
		m.notice = "Could not " + what + ": " + m.plainError(err)
	} else if !errors.Is(err, client.ErrLost) {
		m.notice = "Could not " + what + ": there is no connection. Try again when it is back."
	}
}

func (m *Model) plainError(err error) string {
	var e *protocol.Error
	if errors.As(err, &e) {
		return m.said(e.Message)
	}
	return m.said(err.Error())
}
