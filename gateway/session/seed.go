package session

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// seed writes what was said elsewhere before a session began. Each message of a
// person begins a turn, which counts as answered: without that it would be left
// out of what the model reads.
func (m *Manager) seed(tx *store.Tx, row *Row, past []protocol.Message) error {
	step, turn := 0, uint64(0)
	for i, msg := range past {
		if i == 0 || msg.Role == protocol.MessageUser || step == 0xffff {
			var err error
			if turn, err = m.beginTurn(tx, row); err != nil {
				return err
			}
			step = 0
		} else {
			step++
		}
		if msg.Role == protocol.MessageUser {
			msg.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptAnswered}
		}
		msg.Timestamp = m.nowMs()
		msg.Meta = &protocol.MessageMeta{ID: m.NewID(), Seq: int64(seqOf(turn, step))}
		if err := m.t.putEntry(tx, row.SessionID, msg); err != nil {
			return err
		}
		row.Messages++
	}
	return nil
}
