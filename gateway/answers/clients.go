package answers

import (
	"log/slog"

	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Clients shows what happens in sessions to the gateway's own clients. What it
// publishes reaches those that are connected; ends of runs wait in an outbox.
type Clients struct {
	server  *server.Server
	outbox  *outbound.Outbox
	touched func(sessionKey string)
}

// NewClients returns the way to the clients of a server. touched hears of every
// change of a session.
func NewClients(s *server.Server, db *store.DB, touched func(sessionKey string), log *slog.Logger) *Clients {
	c := &Clients{server: s, touched: touched}
	c.outbox = outbound.New(db, c.end, log)
	return c
}

// Subscriber is what it hears of sessions.
func (c *Clients) Subscriber() session.Subscriber { return session.Subscriber{Publish: c, Outbox: c} }

// Outbox holds the ends of runs until they were shown.
func (c *Clients) Outbox() *outbound.Outbox { return c.outbox }

// Put keeps the end of a run until it is shown.
func (c *Clients) Put(tx *store.Tx, ev protocol.ChatEvent, _ session.Run) error {
	return c.outbox.Put(tx, ev)
}

// Wake says that ends were committed.
func (c *Clients) Wake() { c.outbox.Wake() }

// Delta shows more of an answer.
func (c *Clients) Delta(d session.Delta) {
	c.server.Delta(server.Delta{RunID: d.RunID, SessionKey: d.SessionKey, AgentID: d.AgentID, Text: d.Text, Timestamp: d.At.UnixMilli()})
}

// Chat shows how far a run is.
func (c *Clients) Chat(ev protocol.ChatEvent) {
	c.server.Broadcast(server.Broadcast{Event: protocol.EventChat, Payload: ev, SessionKey: ev.SessionKey, RunID: ev.RunID})
}

// end is how the outbox shows the end of a run.
func (c *Clients) end(ev protocol.ChatEvent) {
	c.server.Broadcast(server.Broadcast{Event: protocol.EventChat, Payload: ev, SessionKey: ev.SessionKey, RunID: ev.RunID, EndsRun: true})
}

// Agent shows what a run does.
func (c *Clients) Agent(ev protocol.AgentEvent) {
	b := server.Broadcast{Event: protocol.EventAgent, Payload: ev, SessionKey: ev.SessionKey}
	switch ev.Stream { // behind the words before it
	case "tool":
		b.Audience, b.RunID = server.ToolWatchers, ev.RunID
	case session.StreamThinking:
		b.Audience, b.RunID = server.ThoughtWatchers, ev.RunID
	}
	c.server.Broadcast(b)
}

// SessionChanged shows that a session is another than before.
func (c *Clients) SessionChanged(ev protocol.SessionsChanged) {
	c.touched(ev.SessionKey)
	c.server.Broadcast(server.Broadcast{Event: protocol.EventSessionsChanged, Payload: ev, Audience: server.SessionsWatchers})
}

// Message shows a message of a transcript.
func (c *Clients) Message(ev protocol.SessionMessage) {
	b := server.Broadcast{Event: protocol.EventSessionMessage, Payload: ev, Audience: server.MessageWatchers, SessionKey: ev.SessionKey}
	if m := ev.Message; m.Role == protocol.MessageAssistant && m.Meta != nil {
		b.RunID = m.Meta.RunID // behind the words it is made of
	}
	c.server.Broadcast(b)
}
