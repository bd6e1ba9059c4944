package subagent

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Ends notes the ends of sub-agents in the transactions that end their runs: a
// session.Outbox.
type Ends struct{ Book *Book }

// Put notes the end of a run, if it is a sub-agent's.
func (e Ends) Put(tx *store.Tx, ev protocol.ChatEvent, run session.Run) error {
	result := ""
	if ev.Message != nil {
		result = ev.Message.Text()
	}
	if run.ErrorText != "" {
		if result != "" {
			result += "\n\n"
		}
		result += run.ErrorText
	}
	return e.Book.End(tx, run.ID, string(run.State), result)
}

// Wake implements session.Outbox.
func (e Ends) Wake() { e.Book.Wake() }
