package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// publisher shows the sessions' events to the connected clients.
type publisher struct {
	s       *server.Server
	touched func(sessionKey string) // tells the search index
}

func (p publisher) Delta(d session.Delta) {
	p.s.Delta(server.Delta{RunID: d.RunID, SessionKey: d.SessionKey, AgentID: d.AgentID, Text: d.Text, Timestamp: d.At.UnixMilli()})
}

func (p publisher) Chat(ev protocol.ChatEvent) {
	p.s.Broadcast(server.Broadcast{Event: protocol.EventChat, Payload: ev, SessionKey: ev.SessionKey, RunID: ev.RunID})
}

// terminal is how the outbox delivers the end of a run.
func (p publisher) terminal(ev protocol.ChatEvent) {
	p.s.Broadcast(server.Broadcast{Event: protocol.EventChat, Payload: ev, SessionKey: ev.SessionKey, RunID: ev.RunID, EndsRun: true})
}

func (p publisher) Agent(ev protocol.AgentEvent) {
	b := server.Broadcast{Event: protocol.EventAgent, Payload: ev, SessionKey: ev.SessionKey}
	switch ev.Stream { // behind the words before it
	case "tool":
		b.Audience, b.RunID = server.ToolWatchers, ev.RunID
	case session.StreamThinking:
		b.Audience, b.RunID = server.ThoughtWatchers, ev.RunID
	}
	p.s.Broadcast(b)
}

func (p publisher) SessionChanged(ev protocol.SessionsChanged) {
	p.touched(ev.SessionKey)
	p.s.Broadcast(server.Broadcast{Event: protocol.EventSessionsChanged, Payload: ev, Audience: server.SessionsWatchers})
}

func (p publisher) Message(ev protocol.SessionMessage) {
	b := server.Broadcast{Event: protocol.EventSessionMessage, Payload: ev, Audience: server.MessageWatchers, SessionKey: ev.SessionKey}
	if m := ev.Message; m.Role == protocol.MessageAssistant && m.Meta != nil {
		b.RunID = m.Meta.RunID // behind the words it is made of
	}
	p.s.Broadcast(b)
}
