package session

import (
	"cmp"
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// RunCommand answers a slash command at once, beside the lane: a stop must not
// wait behind what it stops. The command and its reply are written in one
// transaction after do has run; models never see them. The same RunID again
// returns the stored run and does not run do. Fresh commands may change the
// session that they are written to (reset), so the row is read afterwards.
func (m *Manager) RunCommand(ctx context.Context, turn Turn, do func(ctx context.Context) (reply string, err error)) (Accepted, error) {
	sum := digest(turn.SessionKey, turn.Text)
	turn.Follows, turn.Deliver = false, "" // its reply belongs where it was typed
	if acc, known, err := m.known(turn.RunID, sum); known || err != nil {
		return acc, err
	}
	if err := m.Expect(turn.SessionKey, turn.Expected); err != nil {
		return Accepted{}, err
	}
	reply, err := do(ctx)
	if err != nil {
		return Accepted{}, err
	}
	var acc Accepted
	var answer *protocol.Message
	row, err := m.editIn(ctx, turn.SessionKey, "inject", true, func(tx *store.Tx, row *Row) error {
		acc = Accepted{}
		old, ok, err := m.t.runs.Get(tx, []byte(turn.RunID))
		if err != nil {
			return err
		}
		if ok { // a second send of the same overtook this one
			acc = Accepted{Run: old, Duplicate: true, Live: !old.State.Ended()}
			return nil
		}
		title := row.Title
		acc.Run, err = m.accept(tx, row, turn, sum, false)
		row.Title = title // a command says nothing of what the session is about
		if err != nil {
			return err
		}
		answer, err = m.putReply(tx, row, &acc.Run, reply)
		return err
	})
	if err != nil || acc.Duplicate {
		return acc, err
	}
	m.Outbox.Wake()
	m.Publish.Message(protocol.SessionMessage{SessionKey: row.Key, AgentID: row.AgentID, Message: answer, MessageID: answer.Meta.ID,
		MessageSeq: answer.Meta.Seq})
	return acc, nil
}

// Known tells whether a turn was accepted before, as Submit would.
func (m *Manager) Known(turn Turn) (acc Accepted, known bool, err error) {
	return m.known(turn.RunID, digest(turn.SessionKey, turn.Text))
}

// known looks a run up by its id.
func (m *Manager) known(runID, sum string) (acc Accepted, known bool, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		old, ok, err := m.t.runs.Get(tx, []byte(runID))
		if err != nil || !ok {
			return err
		}
		if old.Digest != sum {
			return ErrConflict
		}
		acc, known = Accepted{Run: old, Duplicate: true, Live: !old.State.Ended()}, true
		return nil
	})
	return acc, known, err
}

// putReply ends a command's run with its reply and keeps both from models.
func (m *Manager) putReply(tx *store.Tx, row *Row, rec *Run, reply string) (*protocol.Message, error) {
	end := ending{state: RunAnswered, stop: "command", ref: model.Ref{Provider: "hearth", Model: "command"}}
	r := m.newRun(*rec, "")
	defer r.cancel(nil)
	end.message = m.assistantMessage(r, model.Message{Blocks: []model.Block{{Text: reply}}}, end)
	end.message.ExcludeFromContext = true
	lastModel := row.LastModel
	if err := m.t.putRow(tx, *row); err != nil {
		return nil, err
	}
	saved, err := m.putEnd(tx, rec, end)
	if err != nil {
		return nil, err
	}
	*row = saved
	row.LastModel = lastModel
	asked, _, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
	if err != nil {
		return nil, err
	}
	asked.ExcludeFromContext = true
	return end.message, m.t.putEntry(tx, rec.SessionID, asked)
}

// EditQueued changes the words of a message that still waits: the turn's RunID,
// Text, ForAgent and Hints count. ErrNotFound means that it does not wait any more.
// The claim of a run and this edit are both transactions, so one of them comes
// first.
func (m *Manager) EditQueued(ctx context.Context, turn Turn) error {
	key, runID := turn.SessionKey, turn.RunID
	l := m.peekLane(key)
	if l == nil {
		return notFound(key)
	}
	return m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) error {
			rec, ok, err := m.t.runs.Get(tx, []byte(runID))
			if err != nil {
				return err
			}
			if !ok || rec.SessionKey != key || rec.State != RunQueued {
				return notFound(runID)
			}
			msg, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
			if err != nil || !ok {
				return err
			}
			beside := slices.DeleteFunc(slices.Clone(msg.Content), func(b protocol.Block) bool { return b.Type == protocol.BlockText })
			msg.Content, msg.ForAgent = append(protocol.TextBlocks(turn.Text), beside...), turn.ForAgent // its files stay
			if err := m.t.putEntry(tx, rec.SessionID, msg); err != nil {
				return err
			}
			rec.Hints = turn.Hints
			return m.t.runs.Put(tx, []byte(runID), rec)
		},
		Then: func() { l.reword(runID, cmp.Or(turn.ForAgent, turn.Text), turn.Hints) },
	})
}
