package session

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

// maxHops is how often sessions pass something on among themselves before a
// person has to speak again.
const maxHops = 8

// RelayOf is what words carry that a call sends on to another session.
func (m *Manager) RelayOf(call tool.Call, toolName string) (Relay, error) {
	r := Relay{From: call.SessionKey, Tool: toolName, Hops: 1}
	if rec, err := m.Why("", call.RunID); err == nil {
		r.Hops = rec.Relay.Hops + 1
	}
	if r.Hops > maxHops {
		return r, fmt.Errorf("sessions have passed this on %d times without a person; tell the owner what there is and wait for an answer",
			maxHops)
	}
	return r, nil
}
