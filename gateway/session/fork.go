package session

import (
	"cmp"
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Fork makes a chat of its own of the branch in use up to an entry, under a key that
// no session has: before a message, which it returns, or with an entry of an
// answer. The session that it comes from stays as it is.
func (m *Manager) Fork(ctx context.Context, key, id, newKey string) (row Row, asked protocol.Message, err error) {
	err = m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) error {
			asked = protocol.Message{}
			from, ok, err := m.t.sessions.Get(tx, []byte(key))
			if err != nil || !ok {
				return cmp.Or(err, notFound(key))
			}
			at, err := m.entryOn(tx, from, id)
			if err != nil {
				return err
			}
			until := at.Meta.Seq
			if at.Role == protocol.MessageUser {
				asked = at
			} else {
				until++
			}
			row = from.forked(newKey, m.NewID(), m.nowMs())
			if c := from.Compaction; c != nil && c.UpTo < until {
				row.Compaction = c
			}
			if err := m.copyEntries(tx, from, &row, until); err != nil {
				return err
			}
			return m.t.putRow(tx, row)
		},
		Then: func() {
			m.count.Add(1)
			m.showRow(row, "create")
		},
	})
	return row, asked, err
}

// forked is the row of a new chat with what the person chose for the old one.
func (r Row) forked(key, sessionID string, now int64) Row {
	out := Row{
		Key: key, SessionID: sessionID, AgentID: r.AgentID, CreatedAt: now, UpdatedAt: now, NextTurn: r.NextTurn,
		Title: cmp.Or(r.Label, r.Title), Titled: r.Titled, Category: r.Category, Folder: r.Folder, From: r.From,
		Model: r.Model, Override: r.Override, Thinking: r.Thinking, Verbose: r.Verbose, Reasoning: r.Reasoning, Compactions: r.Compactions,
	}
	if r.Label != "" {
		out.Titled = true
	}
	out.renew()
	return out
}

// copyAtOnce is how many entries are read before they are written: a table is not
// written to while it is read.
const copyAtOnce = 500

// copyEntries writes the branch in use of a session up to and without a position
// into a new transcript. Where somebody else's words are among them, what is said
// behind them counts as said behind words from outside.
func (m *Manager) copyEntries(tx *store.Tx, from Row, row *Row, until int64) error {
	for after := int64(0); ; {
		var some []protocol.Message
		for e, err := range m.t.scan(tx, from.SessionID, from.Path, after, until, false) {
			if err != nil {
				return err
			}
			if some = append(some, e.Value); len(some) == copyAtOnce {
				break
			}
		}
		for _, msg := range some {
			after = msg.Meta.Seq
			if err := m.copyEntry(tx, row, msg); err != nil {
				return err
			}
		}
		if len(some) < copyAtOnce {
			return nil
		}
	}
}

func (m *Manager) copyEntry(tx *store.Tx, row *Row, msg protocol.Message) error {
	if msg.Role == protocol.MessageUser && row.From == "" {
		foreign, err := m.foreign(tx, msg)
		if err != nil {
			return err
		}
		if foreign {
			row.From = "a conversation with others"
		}
	}
	if open, err := (Searchable{m}).open(tx, &msg); err != nil {
		return err
	} else if open { // it is answered where it was asked
		msg.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptAborted}
	}
	meta := *msg.Meta
	meta.ID = m.NewID()
	msg.Meta, msg.Versions = &meta, nil
	row.Messages++
	if text := msg.Text(); text != "" && msg.Role != protocol.MessageToolResult {
		row.Preview = clip(text, 120)
	}
	return m.t.putEntry(tx, row.SessionID, msg)
}

// foreign reports whether a message is not the owner's own words alone.
func (m *Manager) foreign(tx *store.Tx, msg protocol.Message) (bool, error) {
	if msg.Origin != nil && !msg.Origin.Owner || msg.Provenance != nil || msg.Meta.RunID == "" {
		return true, nil
	}
	rec, ok, err := m.t.runs.Get(tx, []byte(msg.Meta.RunID))
	return !ok || !rec.Owner || rec.Outside, err
}
