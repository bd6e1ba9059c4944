package session

import (
	"cmp"
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Taken is a conversation that another program held.
type Taken struct {
	Key       string
	SessionID string // of a conversation that was begun here before; "" makes one
	From      string // the program
	Title     string
	CreatedAt int64 // ms, 0: with its first message
	Archived  bool
}

// Take writes messages of another program, which have ids of their own, behind
// those that a conversation has, and makes it first. with is part of the
// transaction and may run more than once. A conversation that was begun anew or
// removed since is left alone: ErrNotFound.
func (m *Manager) Take(ctx context.Context, t Taken, msgs []protocol.Message, with func(tx *store.Tx, row Row) error) (Row, error) {
	var row Row
	var created bool
	err := m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			if row, created, err = m.openRow(tx, t.Key); err != nil {
				return err
			}
			switch {
			case t.SessionID == "" && created:
				row.CreatedAt, row.UpdatedAt = 0, 0
			case created || row.SessionID != t.SessionID:
				return notFound(t.Key)
			}
			if err := m.takeIn(tx, &row, t, msgs); err != nil {
				return err
			}
			return with(tx, row)
		},
		Then: func() {
			if created {
				m.count.Add(1)
			}
			m.showRow(row, "import")
		},
	})
	return row, err
}

func (m *Manager) takeIn(tx *store.Tx, row *Row, t Taken, msgs []protocol.Message) error {
	step := 0
	for i, msg := range msgs {
		if i == 0 || msg.Role == protocol.MessageUser || step == lastStep {
			step = 0
			if _, err := m.beginTurn(tx, row); err != nil {
				return err
			}
		} else {
			step++
		}
		msg.Meta = &protocol.MessageMeta{ID: msg.Meta.ID, Seq: int64(seqOf(row.NextTurn-1, step))}
		if msg.Role == protocol.MessageUser {
			msg.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptAnswered} // nobody waits for an answer
			row.Title = cmp.Or(row.Title, firstWords(msg.Text()))
		}
		if err := m.t.putEntry(tx, row.SessionID, msg); err != nil {
			return err
		}
		row.Messages++
		row.UpdatedAt = max(row.UpdatedAt, msg.Timestamp)
		if text := msg.Text(); text != "" && msg.Role != protocol.MessageToolResult {
			row.Preview = clip(text, 120)
		}
	}
	row.From = t.From
	if t.Title != "" {
		row.Title = clip(t.Title, 60)
	}
	row.UpdatedAt = cmp.Or(row.UpdatedAt, t.CreatedAt, m.nowMs())
	row.CreatedAt = cmp.Or(row.CreatedAt, t.CreatedAt, row.UpdatedAt)
	if t.Archived && !row.Archived {
		row.Archived, row.ArchivedAt = true, row.UpdatedAt
	}
	return m.t.putRow(tx, *row)
}

// lastStep is the last place in a turn.
const lastStep = 0xffff

// Held are the ids of the messages in a conversation; ok is false when it was
// begun anew or removed.
func (m *Manager) Held(key, sessionID string) (ids map[string]bool, ok bool, err error) {
	prefix, err := entryPrefix(sessionID)
	if err != nil {
		return nil, false, err
	}
	ids = map[string]bool{}
	err = m.DB.View(func(tx *store.Tx) error {
		row, found, err := m.t.sessions.Get(tx, []byte(key))
		if ok = found && row.SessionID == sessionID; err != nil || !ok {
			return err
		}
		for e, err := range m.t.entries.Scan(tx, store.Range{Prefix: prefix}) {
			if err != nil {
				return err
			}
			if e.Value.Meta != nil {
				ids[e.Value.Meta.ID] = true
			}
		}
		return nil
	})
	return ids, ok, err
}
