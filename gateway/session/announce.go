package session

import (
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The events of a run, as clients know them.

func (m *Manager) announceStart(r *run) {
	m.tellBegan(r.rec)
	m.agentEvent(r, "lifecycle", map[string]any{"phase": "start", "startedAt": r.rec.StartedAt})
	m.showPhase(r, "start")
}

func (m *Manager) announceEnd(r *run, end ending) {
	m.tellEnded(r.rec)
	if end.message != nil {
		m.Publish.Message(m.sessionMessage(r, end.message))
	}
	data := map[string]any{"phase": "end", "startedAt": r.rec.StartedAt, "endedAt": r.rec.EndedAt, "aborted": end.state == RunAborted,
		"stopReason": end.stop}
	phase := "end"
	if end.state == RunFailed {
		data["phase"], data["error"], phase = "error", end.errText, "error"
	}
	m.agentEvent(r, "lifecycle", data)
	m.showPhase(r, phase)
}

func (m *Manager) agentEvent(r *run, stream string, data map[string]any) {
	r.tell.Lock()
	defer r.tell.Unlock()
	r.seq++
	m.Publish.Agent(protocol.AgentEvent{
		RunID: r.rec.ID, Stream: stream, Data: data, SessionKey: r.rec.SessionKey, SessionID: r.rec.SessionID,
		AgentID: AgentOf(r.rec.SessionKey), Seq: r.seq, TS: m.nowMs(),
	})
}

func (m *Manager) chatStatus(r *run, phase string) {
	r.tell.Lock()
	defer r.tell.Unlock()
	r.seq++
	m.Publish.Chat(protocol.ChatEvent{
		RunID: r.rec.ID, SessionKey: r.rec.SessionKey, AgentID: AgentOf(r.rec.SessionKey), Seq: r.seq,
		State: protocol.ChatStatus, Phase: phase,
	})
}

func (m *Manager) sessionMessage(r *run, msg *protocol.Message) protocol.SessionMessage {
	return protocol.SessionMessage{
		SessionKey: r.rec.SessionKey, AgentID: AgentOf(r.rec.SessionKey), Message: shown(msg),
		MessageID: msg.Meta.ID, MessageSeq: msg.Meta.Seq,
	}
}

// showRow publishes a session with what its lane does at this moment. It is called
// from the store's writer, so the rows come in their order; showing keeps what the
// lanes do in order too, also against showPhase: the last event is the true one.
func (m *Manager) showRow(row Row, reason string) {
	m.showing.Lock()
	defer m.showing.Unlock()
	m.Publish.SessionChanged(m.changed(row, reason, "", ""))
}

// showPhase publishes how far a run is with its session as it stands now.
func (m *Manager) showPhase(r *run, phase string) {
	m.showing.Lock()
	defer m.showing.Unlock()
	if row, err := m.rowOf(r.rec.SessionKey); err == nil {
		m.Publish.SessionChanged(m.changed(row, "", phase, r.rec.ID))
	}
}

func (m *Manager) changed(row Row, reason, phase, runID string) protocol.SessionsChanged {
	pr := m.present(row)
	return protocol.SessionsChanged{SessionKey: row.Key, AgentID: row.AgentID, Reason: reason, Phase: phase, RunID: runID, TS: m.nowMs(),
		Session: &pr}
}

// assistantMessage is a model's message as the transcript keeps it.
func (m *Manager) assistantMessage(r *run, msg model.Message, end ending) *protocol.Message {
	out := &protocol.Message{
		Role: protocol.MessageAssistant, Content: []protocol.Block{}, Timestamp: m.nowMs(),
		Provider: end.ref.Provider, Model: end.ref.Model, StopReason: end.stop, Meta: m.nextMeta(r),
	}
	if end.usage != (model.Usage{}) {
		out.Usage = &protocol.Usage{Usage: end.usage, TotalTokens: end.usage.Total()}
	}
	if end.builtIn {
		out.Hearth = &protocol.MessageReceipt{BuiltIn: true}
	}
	for _, b := range msg.Blocks {
		switch {
		case b.Thinking != "" || b.Signature != "":
			out.Content = append(out.Content, protocol.Block{Type: protocol.BlockThinking, Thinking: b.Thinking, ThinkingSignature: b.Signature})
		case b.Text != "":
			out.Content = append(out.Content, protocol.Block{Type: protocol.BlockText, Text: b.Text})
		case b.ToolCall != nil:
			out.Content = append(out.Content, protocol.Block{Type: protocol.BlockToolCall, ID: b.ToolCall.ID, Name: b.ToolCall.Name,
				Arguments: m.shownArgs(b.ToolCall.Arguments)})
		}
	}
	return out
}

// shownArgs are the arguments of a call as they are kept and shown: with secrets
// hidden, as in results. They stay an object.
func (m *Manager) shownArgs(args json.RawMessage) json.RawMessage {
	if m.Redact == nil || len(args) == 0 {
		return args
	}
	hidden := m.Redact(string(args))
	switch {
	case hidden == string(args):
		return args
	case !json.Valid([]byte(hidden)): // a secret with quotation marks in it
		return json.RawMessage(`{"hidden":true}`)
	}
	return json.RawMessage(hidden)
}

// isSilent reports whether an answer is exactly the token by which a model says
// nothing. It is shown on no surface.
func isSilent(text string) bool {
	text = strings.TrimSpace(text)
	return text == "NO_REPLY" || text == "no_reply"
}
