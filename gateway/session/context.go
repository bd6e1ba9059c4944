package session

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Part is one part of what a model is given.
type Part struct {
	Name   string
	Bytes  int
	Detail bool // part of the one before
	Listed bool // a detail that is shown without being asked for
}

// Context lists what the model would be given for the session's next message,
// behind the given parts.
func (m *Manager) Context(key string, parts []Part) ([]Part, error) {
	row, err := m.rowOf(key)
	if err != nil {
		return parts, nil // a new session: nothing but the prompt
	}
	turns, err := m.turns(row, row.NextTurn, defaultWindow*bytesPerToken)
	if err != nil {
		return nil, err
	}
	if c := row.Compaction; c != nil {
		parts = append(parts, Part{Name: fmt.Sprintf("Summary of %d older entries", c.Entries), Bytes: len(c.Summary)})
	}
	total := map[model.Role]int{}
	for _, msg := range toModel(turns, nil) {
		for _, b := range msg.Blocks {
			n := len(b.Text)
			if b.ToolCall != nil {
				n += len(b.ToolCall.Arguments)
			}
			if b.ToolResult != nil {
				n += len(b.ToolResult.Text)
			}
			total[msg.Role] += n
		}
	}
	sum := total[model.RoleUser] + total[model.RoleAssistant] + total[model.RoleTool]
	parts = append(parts, Part{Name: "Conversation", Bytes: sum})
	for _, r := range []struct {
		role model.Role
		name string
	}{
		{role: model.RoleUser, name: "Your messages"}, {role: model.RoleAssistant, name: "Answers"}, {role: model.RoleTool, name: "Tool results"},
	} {
		parts = append(parts, Part{Name: r.name, Bytes: total[r.role], Detail: true})
	}
	return parts, nil
}
