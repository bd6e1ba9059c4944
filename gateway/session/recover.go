package session

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// maxAttempts bounds how often a run is begun anew after crashes.
const maxAttempts = 3

// interruptedText is the receipt of a run that a crash cut short.
const interruptedText = "Hearth stopped while it was answering. What had arrived is kept; send the message again for a whole answer."

// restoredText is the receipt of a run that a backup held as not answered yet.
const restoredText = "Hearth was restored from a backup that was made before this was answered. If it still matters, send it again."

// Recovery is what Recover found.
type Recovery struct {
	Requeued    int // runs that will be answered now, in order
	Interrupted int // runs closed with the text they had
	Failed      int // runs given up after too many crashes
}

// Recover takes up what an earlier boot left: runs of which nobody has seen
// anything are queued again in the order of acceptance, others are closed as
// interrupted with their partial text. It must be the manager's first call.
func (m *Manager) Recover(ctx context.Context) (Recovery, error) {
	var rep Recovery
	var again []*run
	var reached map[string]uint64
	err := m.DB.View(func(tx *store.Tx) error {
		m.count.Store(int64(m.t.recent.Count(tx)))
		return nil
	})
	if err != nil {
		return rep, fmt.Errorf("read the sessions: %w", err)
	}
	err = m.DB.Update(ctx, store.Write{Must: true, Then: m.Outbox.Wake, Do: func(tx *store.Tx) error {
		rep, again, reached = Recovery{}, nil, map[string]uint64{}
		for row, err := range m.t.pending.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			r, err := m.recoverRun(tx, row.Value, reached, &rep)
			if err != nil {
				return fmt.Errorf("take up run %s: %w", row.Value, err)
			}
			if r != nil {
				again = append(again, r)
			}
		}
		return nil
	}})
	if err != nil {
		return rep, err
	}
	for _, r := range again {
		m.enqueue(r)
	}
	if err := m.finishDeletions(ctx); err != nil {
		m.Logger.Warn("what a crash left of deleted conversations is still there; the next start tries again", "err", err)
	}
	return rep, nil
}

// recoverRun closes one pending run, or returns it to be queued again. reached
// tells of the runs before it up to which turn people may have seen an answer,
// for messages that were answered together: a run comes before those it joined.
func (m *Manager) recoverRun(tx *store.Tx, id string, reached map[string]uint64, rep *Recovery) (*run, error) {
	rec, ok, err := m.t.runs.Get(tx, []byte(id))
	if err != nil || !ok {
		return nil, err
	}
	asked, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
	if err != nil {
		return nil, err
	}
	if !ok { // its session was deleted while it waited
		_, err := m.putEnd(tx, &rec, ending{state: RunAborted, stop: "aborted"})
		return nil, err
	}
	if rec.Into != "" && rec.Turn <= reached[rec.Into] {
		rep.Interrupted++
		rec.AnswerTurn = reached[rec.Into]
		_, err := m.putEnd(tx, &rec, ending{state: RunInterrupted, errKind: "unknown", errText: interruptedText}.merged())
		return nil, err
	}
	part, _, err := m.t.partials.Get(tx, []byte(id))
	if err != nil {
		return nil, err
	}
	turn, last, err := m.reach(tx, rec, part.Text != "")
	if err != nil {
		return nil, err
	}
	reached[id] = turn
	past := m.DB.Past(rec.AcceptedAt)
	if !past && m.Suspended != nil && turn == rec.Turn && rec.AnswerTurn == 0 && part.Text == "" && rec.Attempt < maxAttempts &&
		m.Suspended.Suspended(tx, rec.ID) {
		rep.Requeued++
		return m.resume(tx, rec, asked.Text(), last)
	}
	rec.Into, rec.AnswerTurn = "", 0 // what it was answered with is over
	r := m.newRun(rec, cmp.Or(asked.ForAgent, asked.Text()))
	r.behind, r.debounce = true, DefaultQueue().Debounce
	switch {
	case turn == 0 && past:
		rep.Failed++
		_, err = m.putEnd(tx, &rec, ending{state: RunFailed, stop: "error", errKind: "unknown", errText: restoredText})
		return nil, err
	case turn == 0 && rec.Attempt < maxAttempts:
		if rec.State == RunClaimed {
			m.because(&r.rec, protocol.WhyResumed, "Hearth stopped before anybody had seen a word of this answer, and makes it anew")
		}
		rep.Requeued++
		return r, nil
	case turn == 0:
		rep.Failed++
		_, err = m.putEnd(tx, &rec, ending{state: RunFailed, stop: "error", errKind: "unknown",
			errText: fmt.Sprintf("Hearth stopped %d times while answering this, so it was given up. Send it again; if it happens again, run "+
				"`hearth logs`.", rec.Attempt)})
		return nil, err
	}
	rep.Interrupted++
	if r.turn = turn; turn != rec.Turn {
		r.rec.AnswerTurn = turn
	}
	return nil, m.closeInterrupted(tx, r, last, part.Text)
}

// resume queues a run again that goes on behind its last step: everything up to
// there is in the transcript, and what is put away waits for it.
func (m *Manager) resume(tx *store.Tx, rec Run, text string, last *protocol.Message) (*run, error) {
	r := m.newRun(rec, text)
	r.behind, r.debounce = true, DefaultQueue().Debounce
	r.step = int(last.Meta.Seq & 0xffff)
	m.because(&r.rec, protocol.WhyResumed, "Hearth was started again while a program of this answer waited, and goes on with it")
	return r, m.closeCalls(tx, r)
}

// closeCalls answers the calls of a run whose end nobody saw.
func (m *Manager) closeCalls(tx *store.Tx, r *run) error {
	open, err := m.openCalls(tx, r.rec.SessionID, r.turn, r.step)
	if err != nil {
		return err
	}
	for _, c := range open {
		msg := protocol.Message{
			Role: protocol.MessageToolResult, Content: protocol.TextBlocks(lostResult), Timestamp: m.nowMs(),
			ToolCallID: c.ID, ToolName: c.Name, IsError: true, ParentToolCallID: c.ParentID, Meta: m.nextMeta(r),
		}
		if err := m.t.putEntry(tx, r.rec.SessionID, msg); err != nil {
			return err
		}
	}
	return nil
}

// reach finds how far the answer of a run came: the turn behind which its last
// words or tool calls stand (0 when nobody saw any), and the last entry there.
func (m *Manager) reach(tx *store.Tx, rec Run, partial bool) (turn uint64, last *protocol.Message, err error) {
	to := max(rec.Turn, rec.AnswerTurn)
	prefix, err := entryPrefix(rec.SessionID)
	if err != nil {
		return 0, nil, err
	}
	end, _ := entryKey(rec.SessionID, seqOf(to+1, 0))
	start, _ := entryKey(rec.SessionID, seqOf(rec.Turn, 0))
	for row, err := range m.t.entries.Scan(tx, store.Range{Prefix: prefix, Before: end, After: start, Reverse: true}) {
		if err != nil {
			return 0, nil, err
		}
		if row.Value.Meta.RunID == rec.ID {
			last, turn = &row.Value, uint64(row.Value.Meta.Seq)>>16
			break
		}
	}
	if partial && turn != to { // words behind what it joined last
		return to, nil, nil
	}
	return turn, last, nil
}

// closeInterrupted keeps the partial text of a run, answers its open tool calls
// and ends it.
func (m *Manager) closeInterrupted(tx *store.Tx, r *run, last *protocol.Message, text string) error {
	end := ending{state: RunInterrupted, stop: "interrupted", errKind: "unknown", errText: interruptedText}
	if last != nil {
		r.step = int(last.Meta.Seq & 0xffff)
		end.ref = model.Ref{Provider: last.Provider, Model: last.Model}
		if err := m.closeCalls(tx, r); err != nil {
			return err
		}
	}
	if text != "" {
		end.message = m.assistantMessage(r, model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: text}}}, end)
		end.message.ErrorMessage = interruptedText
		end.message.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptInterrupted}
	}
	_, err := m.putEnd(tx, &r.rec, end)
	return err
}

// openCalls lists the tool calls of a turn that have no result.
func (m *Manager) openCalls(tx *store.Tx, sessionID string, turn uint64, steps int) (open []protocol.Block, err error) {
	for step := 1; step <= steps; step++ {
		msg, ok, err := m.t.getEntry(tx, sessionID, seqOf(turn, step))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if msg.Role == protocol.MessageToolResult {
			for i, b := range open {
				if b.ID == msg.ToolCallID {
					open = append(open[:i:i], open[i+1:]...)
					break
				}
			}
		}
		for _, b := range msg.Content {
			if b.Type == protocol.BlockToolCall {
				open = append(open, b)
			}
		}
	}
	return open, nil
}
