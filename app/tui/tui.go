// Package tui is the terminal chat: a list of sessions, a transcript that
// streams, a queue that can be seen and changed, and a composer.
//
// It is a client like any other. What it shows is what the gateway has: events
// only make it quicker, the history decides. The model (Update, View) is pure
// apart from the commands that it returns; package client holds the connection,
// and run.go makes it again when it is lost. Text from outside is cleaned by
// package terminal before it is drawn. It keeps nothing on disk.
package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// wire is how the model asks the gateway; errOffline when there is none.
type wire interface {
	Call(ctx context.Context, method string, params, result any) error
}

// link is the state of the connection.
type link int

const (
	connecting link = iota
	connected
	lost
)

// Model is the whole chat.
type Model struct {
	ctx   context.Context // of the calls; ends with the program
	wire  wire
	theme theme
	md    *markdown
	now   func() time.Time
	newID func() string
	said  func(text string) string // an error in the language of the person

	w, h    int
	link    link
	life    int // counts the connections
	lostWhy string

	main     string // key of the main session
	rows     []protocol.SessionRow
	fallback string // the model that answers where none is chosen
	commands []protocol.CommandInfo
	prompts  []protocol.PromptTemplate
	rooms    map[string]*room
	names    map[string]string // the keys of rooms, by the names that they were opened by
	room     *room             // the open one

	pics   album
	viewer viewer // nil where no program shows pictures
	shot   *shot  // the screen, drawn already

	list     list
	asks     asks
	doors    doors
	popup    popup
	rename   *composer
	renaming string // the key of the session that is renamed
	fill     *filling
	help     bool
	helpAt   int    // the first line of it that is seen
	notice   string // one line for the person, until the next key
	leaving  bool   // Ctrl+C was pressed with unsent messages
	ticking  bool
	noMouse  bool // the mouse is the terminal's
}

func newModel(ctx context.Context, w wire, session, theme string, now func() time.Time, newID func() string) *Model {
	m := &Model{ctx: ctx, wire: w, theme: newTheme(theme), now: now, newID: newID, said: asItIs, rooms: map[string]*room{},
		names: map[string]string{}, w: 80, h: 24}
	m.md = newMarkdown(&m.theme)
	m.pics = newAlbum(picture.Off, picture.Surroundings{}, nil, 0)
	if session != "" {
		m.room = m.enter(session)
	}
	return m
}

func asItIs(text string) string { return text }

// Messages to the model, apart from those of the terminal.
type (
	connectedMsg struct{ hello protocol.HelloOK }
	lostMsg      struct{ err error }
	eventsMsg    []protocol.Event
	tickMsg      time.Time

	sessionsMsg struct {
		list protocol.SessionsList
		err  error
	}
	commandsMsg struct{ list protocol.CommandsList }
	historyMsg  struct {
		key   string
		is    string // how the gateway calls the session, where it was asked by a name
		older bool
		page  protocol.ChatHistory
		err   error
	}
	sentMsg struct {
		key, run string
		life     int // of the connection
		err      error
	}
	createdMsg struct {
		key string
		err error
	}
	// doneMsg is the end of a request that changes something else.
	doneMsg struct {
		what string
		key  string
		err  error
	}
)

// Init asks the terminal about pictures, and waits for the connection.
func (m *Model) Init() tea.Cmd { return m.pics.question() }

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	m.shot = m.shoot()
	return m, tea.Batch(cmd, m.look(m.shot.places), m.tick())
}

func (m *Model) take(msg tea.Msg) tea.Cmd {
	if m.terminal(msg) {
		return nil
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return m.resized()
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tickMsg:
		m.ticking = false
	case connectedMsg:
		return m.connect(msg.hello)
	case lostMsg:
		m.lose(msg.err)
	case eventsMsg:
		var cmds []tea.Cmd
		for _, e := range msg {
			cmds = append(cmds, m.event(e))
		}
		return tea.Batch(cmds...)
	case historyMsg:
		return m.history(msg)
	case sessionsMsg:
		m.sessions(msg)
	case asksMsg:
		m.tookAsks(msg)
	case doorsMsg:
		m.tookDoors(msg)
	case commandsMsg:
		m.commands = msg.list.Commands
	case promptsMsg:
		m.prompts = msg.list.Prompts
	case sentMsg:
		return m.sent(msg)
	case createdMsg:
		return m.created(msg)
	case otherMsg:
		return m.other(msg)
	case doneMsg:
		return m.done(msg)
	}
	return nil
}

// tick keeps the clock of what is running or lost on the screen going.
func (m *Model) tick() tea.Cmd {
	if m.ticking || m.link == connected && (m.room == nil || m.room.live == nil) {
		return nil
	}
	m.ticking = true
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// connect takes up a connection, the first or a new one: first the events,
// then what they start from, then what still waits to be sent.
func (m *Model) connect(hello protocol.HelloOK) tea.Cmd {
	m.link, m.lostWhy = connected, ""
	m.life++
	m.main = "main"
	if d := hello.Snapshot.SessionDefaults; d != nil && d.MainSessionKey != "" {
		m.main = d.MainSessionKey
	}
	if m.room == nil {
		m.room = m.enter(m.main)
	}
	cmds := []tea.Cmd{m.listSessions(), m.listCommands(), m.listPrompts(), m.listAsks(), m.listDoors(), m.open(m.room)}
	for _, r := range m.rooms {
		for _, o := range r.out {
			o.sending = false
		}
		cmds = append(cmds, m.flush(r))
	}
	return tea.Batch(cmds...)
}

func (m *Model) lose(err error) {
	m.link, m.lostWhy = lost, ""
	if err != nil && !passing(err) { // it will not come back by waiting alone
		m.lostWhy = m.plainError(err)
	}
	for _, r := range m.rooms {
		r.loading = false
		if r.live != nil {
			r.live.stale = true
		}
		for _, o := range r.out {
			o.sending = false
		}
	}
}

// enter finds or makes the room of a session.
func (m *Model) enter(key string) *room {
	r := m.rooms[key]
	if r == nil {
		r = &room{key: key, ended: map[string]bool{}, took: map[string]time.Duration{}, started: map[string]time.Time{},
			cache: map[string]drawn{}, stream: stream{md: m.md}}
		m.rooms[key] = r
	}
	return r
}

// find is the room of a session, by its key or by the name that it was opened by.
func (m *Model) find(key string) *room {
	if r := m.rooms[key]; r != nil {
		return r
	}
	return m.rooms[m.names[key]]
}

// call gives a room that was opened by a name the key by which the gateway tells of it.
func (m *Model) call(r *room, key string) {
	m.names[r.key] = key
	delete(m.rooms, r.key)
	r.key = key
	if had := m.rooms[key]; had != nil { // it was opened by its key meanwhile
		r.out = append(had.out, r.out...)
		if m.room == had {
			m.room = r
		}
	}
	m.rooms[key] = r
}

// Unsent is what was not handed over when the program ended.
func (m *Model) Unsent() (texts []string) {
	for _, r := range m.rooms {
		for _, o := range r.out {
			if !o.acked {
				texts = append(texts, o.text)
			}
		}
	}
	return texts
}
