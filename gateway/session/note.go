package session

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Note is words that are put into a conversation without a run.
type Note struct {
	Text     string
	ForAgent string // what the model reads instead of Text; "" = Text
	Label    string // stands before the text, "" for nothing
	Awaits   bool   // the next answer or heartbeat is to deal with it
	// With changes more in the transaction that writes the note; its error leaves
	// the note out. It may run more than once. nil: nothing.
	With func(tx *store.Tx) error
}

func (n Note) labelled(text string) string {
	if n.Label == "" || text == "" {
		return text
	}
	return "[" + n.Label + "]\n\n" + text
}

// Inject adds a note to a transcript as if the assistant had said it, without
// a run.
func (m *Manager) Inject(ctx context.Context, key, text, label string) (*protocol.Message, error) {
	return m.InjectNote(ctx, key, Note{Text: text, Label: label})
}

// InjectNote is Inject for a note that says more than its words.
func (m *Manager) InjectNote(ctx context.Context, key string, n Note) (*protocol.Message, error) {
	var msg protocol.Message
	row, err := m.editIn(ctx, key, "inject", true, func(tx *store.Tx, r *Row) (err error) {
		if n.With != nil {
			if err := n.With(tx); err != nil {
				return err
			}
		}
		msg, err = m.injected(tx, r, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	m.showInjected(row, msg)
	return &msg, nil
}

// InjectNoteIn is InjectNote in a transaction of somebody else, who calls show
// after its commit.
func (m *Manager) InjectNoteIn(tx *store.Tx, key string, n Note) (show func(), err error) {
	row, created, err := m.openRow(tx, key)
	if err != nil {
		return nil, err
	}
	msg, err := m.injected(tx, &row, n)
	if err != nil {
		return nil, err
	}
	return func() {
		if created {
			m.count.Add(1)
		}
		m.showRow(row, "inject")
		m.showInjected(row, msg)
	}, m.t.putRow(tx, row)
}

// injected writes words that no model said at the end of a conversation.
func (m *Manager) injected(tx *store.Tx, r *Row, n Note) (protocol.Message, error) {
	turn, err := m.beginTurn(tx, r)
	if err != nil {
		return protocol.Message{}, err
	}
	msg := protocol.Message{
		Role: protocol.MessageAssistant, Content: protocol.TextBlocks(n.labelled(n.Text)), ForAgent: n.labelled(n.ForAgent),
		Timestamp: m.nowMs(), Provider: "hearth", Model: "gateway-injected", StopReason: "stop",
		Meta: &protocol.MessageMeta{ID: m.NewID(), Seq: int64(seqOf(turn, 0)), Awaits: n.Awaits},
	}
	r.Messages++
	r.UpdatedAt = msg.Timestamp
	r.Preview = clip(n.labelled(n.Text), 120)
	return msg, m.t.putEntry(tx, r.SessionID, msg)
}

func (m *Manager) showInjected(row Row, msg protocol.Message) {
	m.Publish.Message(protocol.SessionMessage{
		SessionKey: row.Key, AgentID: row.AgentID, Message: &msg, MessageID: msg.Meta.ID, MessageSeq: msg.Meta.Seq,
	})
}
