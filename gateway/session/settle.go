package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// settleRetry is how often a run that cannot be settled (disk full) is tried
// again. Its lane waits; its message is safe.
const settleRetry = time.Second

// ending is how a run ends.
type ending struct {
	state   RunState
	message *protocol.Message // the answer, or the part of it there is; may be nil
	stop    string
	usage   model.Usage
	ref     model.Ref
	builtIn bool
	asked   bool   // a model was asked
	window  int    // of the model, in tokens; 0 = not known
	sent    int    // tokens of what it was given, by estimate
	used    int    // tokens that the conversation takes with the answer; 0 = nobody knows
	errText string // for people, when state is failed
	errKind string
	repair  protocol.Repair
	detail  string // the failure as the program knows it
	retryAt int64  // when the service that failed may be asked again, 0: nobody knows
}

// maxDetail bounds what is kept of a failure, in characters.
const maxDetail = 1000

// failure decides how a run ends that did not end well. What was said before
// is kept.
func (m *Manager) failure(l *lane, r *run, err error, end ending) ending {
	declined := end.stop == string(model.StopRefusal)
	end.state, end.stop, end.errKind = RunFailed, "error", "unknown"
	var ceiling *CeilingError
	switch {
	case errors.Is(err, errAborted), errors.Is(err, errInterrupted):
		end.state, end.stop, end.errKind = RunAborted, "aborted", ""
	case errors.Is(err, errTimeout):
		end.errKind = "timeout"
		end.repair = protocol.RepairRetry
		end.errText = "The answer took too long and was stopped. What had arrived is kept. Try again, choose a faster model, or raise " +
			"agents.defaults.timeoutSeconds."
	case errors.Is(err, agent.ErrLoop):
		end.repair = protocol.RepairModel
		end.errText = "The model kept repeating itself" + loopWords(err) + ", so Hearth stopped it. What was done stays done. Ask again in " +
			"other words, or choose another model."
	case errors.As(err, &ceiling):
		end.errText, end.errKind = protocol.Sentence(ceiling.Error())+" What was done stays done.", "ceiling"
	case errors.Is(err, errBroke):
		end.repair = protocol.RepairDoctor
		end.errText = "Hearth itself failed while it made this answer. Your message is kept: send it again. `hearth doctor` shows what failed."
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrFailed), errors.Is(err, store.ErrGone):
		end.errText, end.repair = storeTrouble(err), protocol.RepairDoctor
	default:
		if declined { // which is not that its service refused the request
			end.stop = string(model.StopRefusal)
		}
		end.errText, end.errKind = m.Models.Explain(err, end.ref)
		end.repair = m.Models.Repair(err)
		if at := m.Models.RetryAt(err); !at.IsZero() {
			end.retryAt = at.UnixMilli()
		}
	}
	if end.state == RunFailed {
		detail := err.Error()
		if m.Redact != nil {
			end.errText, detail = m.Redact(end.errText), m.Redact(detail)
		}
		end.detail = clip(detail, maxDetail)
		m.Logger.Warn("a run failed", "run", r.rec.ID, "session", r.rec.SessionKey, "model", end.ref.String(), "kind", end.errKind, "err", err)
	}
	if text := l.segment(r); text != "" {
		end.message = m.assistantMessage(r, model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: text}}}, end)
		end.message.ErrorMessage = end.errText
	}
	return end
}

// loopWords says what was repeated.
func loopWords(err error) string {
	var l *agent.LoopError
	if errors.As(err, &l) {
		return " (" + l.What + ")"
	}
	return ""
}

func storeTrouble(err error) string {
	if errors.Is(err, store.ErrFull) {
		return "The disk is full, so the answer could not be stored. Make some room; your message is kept and you can send it again."
	}
	if errors.Is(err, store.ErrGone) {
		return "Hearth's folder is not where it was when Hearth started, so the answer could not be stored. Put it back; your message is kept " +
			"and you can send it again."
	}
	return "Hearth's store could not be written. Restart Hearth; your message is kept."
}

// settle makes the end durable in one transaction with everything that
// follows from it, then shows it.
func (m *Manager) settle(r *run, end ending) {
	for {
		done, err := m.commitEnd(context.WithoutCancel(r.ctx), r, end)
		if err == nil {
			if done {
				failpoint.Hit("afterFinalCommit")
				m.peekLane(r.rec.SessionKey).release(r)
				m.announceEnd(r, end)
			}
			return
		}
		m.Logger.Error("the end of a run could not be stored, trying again", "run", r.rec.ID, "err", err)
		select {
		case <-time.After(settleRetry):
		case <-m.runCtx.Done():
			return // it stays pending and is taken up at the next start
		}
	}
}

// commitEnd writes the end of a run and of those it answered too: answer,
// receipts, run records, queue, outbox and session row. done is false when the
// run had ended before.
func (m *Manager) commitEnd(ctx context.Context, r *run, end ending) (done bool, err error) {
	var ended []Run
	err = m.DB.Update(ctx, store.Write{Must: true, Then: m.Outbox.Wake, Do: func(tx *store.Tx) error {
		done, ended = false, ended[:0]
		if err := m.book(tx, r); err != nil {
			return err
		}
		old, ok, err := m.t.runs.Get(tx, []byte(r.id))
		if err != nil || !ok || old.State.Ended() {
			return err
		}
		done = true
		rec := r.rec
		if r.turn != rec.Turn {
			rec.AnswerTurn = r.turn
		}
		if _, err := m.putEnd(tx, &rec, end); err != nil {
			return err
		}
		ended = append(ended, rec)
		for _, f := range r.with {
			frec := f.rec
			frec.AnswerTurn = r.turn
			if _, err := m.putEnd(tx, &frec, end.merged()); err != nil {
				return err
			}
			ended = append(ended, frec)
		}
		return nil
	}})
	if err == nil {
		r.calls = nil
	}
	if err == nil && done {
		r.rec = ended[0]
		for i, f := range r.with {
			f.rec = ended[i+1]
		}
	}
	return done, err
}

// merged is the end of a run whose message another run answered: the same
// state, without the answer and what it cost.
func (e ending) merged() ending {
	e.message, e.usage, e.used, e.stop = nil, model.Usage{}, 0, "merged"
	return e
}

// putEnd writes the end of one run.
func (m *Manager) putEnd(tx *store.Tx, rec *Run, end ending) (Row, error) {
	now := m.nowMs()
	rec.State, rec.EndedAt, rec.Stop = end.state, now, end.stop
	rec.ErrorText, rec.ErrorKind, rec.Detail, rec.AnsweredBy = end.errText, end.errKind, end.detail, end.ref.String()
	rec.RetryAt = end.retryAt
	m.because(rec, protocol.WhyEnded, "%s", end.describe(float64(now-rec.AcceptedAt)/1000))
	if end.errText != "" {
		m.because(rec, protocol.WhyEnded, "%s", end.errText)
	}
	row, ok, err := m.t.sessions.Get(tx, []byte(rec.SessionKey))
	if err != nil {
		return row, err
	}
	if ok && row.SessionID == rec.SessionID {
		if err := m.putAnswer(tx, &row, rec, end); err != nil {
			return row, err
		}
	}
	if err := m.t.runs.Put(tx, []byte(rec.ID), *rec); err != nil {
		return row, err
	}
	if err := m.t.pending.Delete(tx, store.Uint64Key(rec.Accept)); err != nil {
		return row, err
	}
	if err := m.t.partials.Delete(tx, []byte(rec.ID)); err != nil {
		return row, err
	}
	return row, m.Outbox.Put(tx, terminalEvent(*rec, end), *rec)
}

// describe says how it ended, for /why.
func (e ending) describe(seconds float64) string {
	n := e.usage.Total()
	switch {
	case e.state == RunFailed:
		return fmt.Sprintf("failed after %.1f s", seconds)
	case e.state == RunInterrupted:
		return fmt.Sprintf("interrupted after %.1f s", seconds)
	case e.state == RunDropped:
		return fmt.Sprintf("dropped after %.1f s", seconds)
	case e.state == RunAborted && n > 0:
		return fmt.Sprintf("stopped after %.1f s, with %d tokens", seconds, n)
	case e.state == RunAborted:
		return fmt.Sprintf("stopped after %.1f s", seconds)
	case n > 0:
		return fmt.Sprintf("answered after %.1f s, with %d tokens", seconds, n)
	}
	return fmt.Sprintf("answered after %.1f s", seconds)
}

// putAnswer writes the answer, the receipt on the person's message, and what
// lists show of the session.
func (m *Manager) putAnswer(tx *store.Tx, row *Row, rec *Run, end ending) error {
	row.UpdatedAt = rec.EndedAt
	row.Usage = row.Usage.Add(end.usage)
	row.Aborted, row.LastRun = end.state == RunAborted, rec.ID
	if end.ref != (model.Ref{}) {
		row.LastModel = end.ref.String()
	}
	if end.used > 0 {
		row.Window, row.Used = end.window, end.used
	}
	if end.message != nil {
		row.Messages++
		row.Preview = clip(end.message.Text(), 120)
		if err := m.t.putEntry(tx, rec.SessionID, *end.message); err != nil {
			return err
		}
	}
	asked, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
	if err != nil {
		return err
	}
	if ok {
		asked.Hearth = &protocol.MessageReceipt{State: end.state.Receipt(), Error: end.errText, Repair: end.repair}
		if err := m.t.putEntry(tx, rec.SessionID, asked); err != nil {
			return err
		}
	}
	return m.t.putRow(tx, *row)
}

// terminalEvent is the one chat event that ends a run for clients.
func terminalEvent(rec Run, end ending) protocol.ChatEvent {
	ev := protocol.ChatEvent{
		RunID: rec.ID, SessionKey: rec.SessionKey, AgentID: AgentOf(rec.SessionKey), Seq: lastSeq,
		StopReason: end.stop, Message: shown(end.message),
	}
	switch end.state {
	case RunAnswered:
		ev.State = protocol.ChatFinal
		if end.usage != (model.Usage{}) {
			ev.Usage = &protocol.Usage{Usage: end.usage, TotalTokens: end.usage.Total()}
		}
	case RunAborted, RunDropped:
		ev.State, ev.ErrorMessage = protocol.ChatAborted, end.errText
	default:
		ev.State, ev.ErrorMessage, ev.ErrorKind = protocol.ChatError, end.errText, end.errKind
		ev.Repair = end.repair
	}
	return ev
}

// lastSeq is the sequence number of terminal events: beyond every delta.
const lastSeq = 1 << 30

// Abort stops the runs of a session: waiting ones first, then the active one.
// With a runID only that run. It returns the ids that it stopped; the active
// run's end follows as an event.
func (m *Manager) Abort(ctx context.Context, key, runID string) ([]string, error) {
	return m.abort(ctx, key, runID, "")
}

// StopAgent aborts all that an agent does, in whichever of its sessions.
func (m *Manager) StopAgent(ctx context.Context, agentID string) error {
	m.mu.Lock()
	var keys []string
	for key := range m.lanes {
		if AgentOf(key) == agentID {
			keys = append(keys, key)
		}
	}
	m.mu.Unlock()
	var errs []error
	for _, key := range keys {
		if _, err := m.Abort(ctx, key, ""); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) abort(ctx context.Context, key, runID, sessionID string) ([]string, error) {
	if m.Observer != nil {
		m.Observer.Stopped(ctx, key, runID)
	}
	l := m.peekLane(key)
	if l == nil {
		return nil, nil
	}
	waiting, stopped := l.take(runID, sessionID)
	var ids []string
	for _, r := range waiting {
		r.cancel(errAborted)
		m.settle(r, ending{state: RunAborted, stop: "aborted"})
		m.forget(r)
		ids = append(ids, r.id)
	}
	ids = append(ids, stopped...)
	if err := ctx.Err(); err != nil {
		return ids, fmt.Errorf("stop runs: %w", err)
	}
	return ids, nil
}
