package session

import (
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
	err := m.DB.View(func(tx *store.Tx) error {
		m.count.Store(int64(m.t.recent.Count(tx)))
		return nil
	})
	if err != nil {
		return rep, fmt.Errorf("read the sessions: %w", err)
	}
	err = m.DB.Update(ctx, store.Write{Must: true, Then: m.Outbox.Wake, Do: func(tx *store.Tx) error {
		rep, again = Recovery{}, nil
		for row, err := range m.t.pending.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			r, err := m.recoverRun(tx, row.Value, &rep)
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
	return rep, nil
}

// recoverRun closes one pending run, or returns it to be queued again.
func (m *Manager) recoverRun(tx *store.Tx, id string, rep *Recovery) (*run, error) {
	rec, ok, err := m.t.runs.Get(tx, []byte(id))
	if err != nil || !ok {
		return nil, err
	}
	asked, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
	if err != nil {
		return nil, err
	}
	rec.Into = "" // what it had joined is over
	r := m.newRun(rec, asked.Text())
	r.behind, r.debounce = true, DefaultQueue().Debounce
	if !ok { // its session was deleted while it waited
		_, err := m.putEnd(tx, &rec, ending{state: RunAborted, stop: "aborted"})
		return nil, err
	}
	part, _, err := m.t.partials.Get(tx, []byte(id))
	if err != nil {
		return nil, err
	}
	last, err := m.lastOfTurn(tx, rec)
	if err != nil {
		return nil, err
	}
	seen := part.Text != "" || last != nil
	switch {
	case !seen && rec.Attempt < maxAttempts:
		rep.Requeued++
		return r, nil
	case !seen:
		rep.Failed++
		_, err = m.putEnd(tx, &rec, ending{state: RunFailed, stop: "error", errKind: "unknown",
			errText: fmt.Sprintf("Hearth stopped %d times while answering this, so it was given up. Send it again; if it happens again, run `hearth logs`.", rec.Attempt)})
		return nil, err
	}
	rep.Interrupted++
	return nil, m.closeInterrupted(tx, r, last, part.Text)
}

// closeInterrupted keeps the partial text of a run, answers its open tool calls
// and ends it.
func (m *Manager) closeInterrupted(tx *store.Tx, r *run, last *protocol.Message, text string) error {
	end := ending{state: RunInterrupted, stop: "interrupted", errKind: "unknown", errText: interruptedText}
	if last != nil {
		r.step = int(last.Meta.Seq & 0xffff)
		end.ref = model.Ref{Provider: last.Provider, Model: last.Model}
		open, err := m.openCalls(tx, r.rec, r.step)
		if err != nil {
			return err
		}
		for _, c := range open {
			msg := protocol.Message{
				Role: protocol.MessageToolResult, Content: protocol.TextBlocks(lostResult), Timestamp: m.nowMs(),
				ToolCallID: c.ID, ToolName: c.Name, IsError: true, Meta: m.nextMeta(r),
			}
			if err := m.t.putEntry(tx, r.rec.SessionID, msg); err != nil {
				return err
			}
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
func (m *Manager) openCalls(tx *store.Tx, rec Run, steps int) (open []protocol.Block, err error) {
	for step := 1; step <= steps; step++ {
		msg, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, step))
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
