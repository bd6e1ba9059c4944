package gatewaytest

import (
	"encoding/json"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Announcements are the messages by which sub-agents' results came to a session.
func Announcements(msgs []protocol.Message) (out []protocol.Message) {
	for _, m := range msgs {
		if m.Role == protocol.MessageUser && m.Provenance != nil {
			out = append(out, m)
		}
	}
	return out
}

// Spawned reads the result of a sessions_spawn call.
func Spawned(t *testing.T, msgs []protocol.Message) (key, run string) {
	t.Helper()
	for _, m := range msgs {
		if m.Role != protocol.MessageToolResult || m.ToolName != "sessions_spawn" {
			continue
		}
		var d struct{ Status, ChildSessionKey, RunID string }
		if json.Unmarshal(m.Details, &d) == nil && d.Status == "accepted" {
			return d.ChildSessionKey, d.RunID
		}
	}
	t.Fatal("no sub-agent was accepted")
	return "", ""
}

// LastAnswers is the text of a session's answers, with the results of tools.
func LastAnswers(p *Peer, key string) (s string) {
	for _, m := range p.History(key).Messages {
		if m.Role != protocol.MessageUser {
			s += m.Text() + "\n"
		}
	}
	return s
}

// TurnsOf groups a transcript by question.
func TurnsOf(msgs []protocol.Message) (turns [][]protocol.Message) {
	for _, m := range msgs {
		if m.Role == protocol.MessageUser {
			turns = append(turns, nil)
		}
		if n := len(turns); n > 0 {
			turns[n-1] = append(turns[n-1], m)
		}
	}
	return turns
}
