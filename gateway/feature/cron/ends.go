package cron

import (
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// ends notes the ends of runs in the transactions that end them: a
// session.Outbox.
type ends struct{ f *feature }

// isRun reports whether the run of a session is one of a job.
func isRun(id string) bool { return strings.HasPrefix(id, "cron:") || strings.HasPrefix(id, "manual:") }

// Put notes the end of a run, if it is a job's; in others' answers it looks for
// promises.
func (e ends) Put(tx *store.Tx, ev protocol.ChatEvent, run session.Run) error {
	if !isRun(run.ID) {
		e.f.vows(tx, ev, run)
		return nil
	}
	res := e.f.result(ev.Message, run)
	if r, ok, err := e.f.book.FindIn(tx, run.ID); err == nil && ok && monitors(r.Spec) && e.f.Monitor != nil {
		res.Text = e.f.Monitor.Tells(e.f.agentOf(r.Spec), res.Text)
	}
	e.f.mu.Lock()
	res.Look = e.f.looks[run.ID]
	e.f.mu.Unlock()
	return e.f.book.EndIn(tx, run.ID, res)
}

// Wake implements session.Outbox.
func (e ends) Wake() { e.f.book.Wake() }

// result is what came of an answer.
func (f *feature) result(msg *protocol.Message, run session.Run) job.Result {
	res := job.Result{Status: protocol.CronOK, SessionID: run.SessionID}
	if msg != nil {
		res.Text = msg.Text()
	}
	ref, ok := model.ParseRef(run.AnsweredBy)
	if ok {
		res.Model, res.Provider = ref.Model, ref.Provider
	}
	if msg != nil && msg.Usage != nil {
		u := msg.Usage.Usage
		res.Usage = &protocol.CronUsage{
			Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Total: int64(u.Total()),
		}
		res.Cost = f.Budget.Ledger.Cost(spend.Call{At: time.UnixMilli(run.EndedAt), Model: ref, Usage: u}).Units()
	}
	switch run.State {
	case session.RunAnswered:
		return res
	case session.RunInterrupted:
		res.Unknown, res.Error = true, "Hearth stopped while it was answering. What was done stays done."
	case session.RunAborted:
		res.Error = "It was stopped."
	case session.RunDropped:
		res.Error = "Too many messages waited in that conversation, so it was dropped."
	default:
		res.Error, res.Reason = run.ErrorText, run.ErrorKind
	}
	res.Status = protocol.CronError
	if res.Error == "" {
		res.Error = "It failed, and nobody said why."
	}
	return res
}
