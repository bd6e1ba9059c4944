package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Claim is a run that is about to exist. Whoever begins it puts it into the
// transaction that makes its beginning durable.
type Claim struct {
	Job Job
	Run Run

	b       *Book
	expect  int64 // what is due
	manual  bool
	checked bool // its condition says that it is to begin
	after   Job
}

// claim prepares a run of a slot; slot 0 is one that is begun by hand.
func (b *Book) claim(j Job, slot int64) *Claim {
	c := &Claim{Job: j, b: b, expect: j.Next, manual: slot == 0}
	spec := j.CronSpec
	c.Run = Run{Slot: slot, Stage: Claimed, Spec: &spec, Guest: j.Guest, Attempt: j.Attempt, Revision: j.Revision}
	if !c.manual {
		c.Run.Items = b.pending(&j)
	}
	if j.Trigger != nil && !c.manual && j.Attempt == 0 {
		c.Run.Stage = Checking
	}
	if n := len(c.Run.Items); n > 0 && c.Run.Items[n-1].Problem != "" { // with it ends what was never begun
		c.Run.ends(Result{Status: protocol.CronError, Unknown: true, Error: c.Run.Items[n-1].Problem}, b.Now().UnixMilli())
	}
	c.Run.JobID, c.Run.JobName, c.Run.Action = j.ID, j.Name, "finished"
	c.Run.RunID = RunID(j.ID, slot, j.Attempt)
	if c.manual {
		c.Run.RunID, c.Run.Attempt = "manual:"+j.ID+":"+b.NewID(), 0
	}
	return c
}

// Put writes the claim. It fails with ErrTaken when the slot was run before, or is
// not due any more. It may run more than once.
func (c *Claim) Put(tx *store.Tx) error {
	if c.checked {
		return c.putChecked(tx)
	}
	b := c.b
	if b.t.ids.Has(tx, []byte(c.Run.RunID)) {
		return ErrTaken
	}
	now := b.Now().UnixMilli()
	var err error
	c.after, err = b.editIn(tx, c.Job.ID, func(j *Job) error {
		switch {
		case !c.manual:
			if !j.On() || j.Next != c.expect {
				return ErrTaken
			}
			b.advance(tx, j, c.Run.Slot)
			if !j.timed() {
				if err := b.take(tx, j, c.Run.Items); err != nil {
					return err
				}
			}
		}
		j.State.RunningAtMs = now
		return nil
	})
	if err != nil {
		return err
	}
	c.Run.RunAtMs, c.Run.TS = now, now
	return b.addRun(tx, &c.Run)
}

// advance moves a job on behind a slot, to the next one that was not run.
func (b *Book) advance(tx *store.Tx, j *Job, slot int64) {
	j.Slot, j.Next, j.Attempt, j.NotBefore = slot, 0, 0, 0
	if j.plan == nil {
		return
	}
	for range 100 {
		next, ok := j.plan.Next(slot)
		if !ok {
			return
		}
		j.Next, slot = next, next
		if !b.t.ids.Has(tx, []byte(RunID(j.ID, next, 0))) {
			return
		}
	}
}

func (b *Book) addRun(tx *store.Tx, r *Run) (err error) {
	if r.Seq, err = b.t.runs.NextSeq(tx); err != nil {
		return err
	}
	if err := b.t.ids.Put(tx, []byte(r.RunID), r.Seq); err != nil {
		return err
	}
	if err := b.t.byJob.Put(tx, jobKey(r.JobID, r.Seq), struct{}{}); err != nil {
		return err
	}
	return b.putRun(tx, *r)
}

func (b *Book) putRun(tx *store.Tx, r Run) error {
	key := store.Uint64Key(r.Seq)
	if !r.Open() {
		r.Spec, r.Text, r.Items, r.Event, r.Keeps = nil, "", nil, "", nil
		if err := b.t.open.Delete(tx, key); err != nil {
			return err
		}
	} else if err := b.t.open.Put(tx, key, r.RunID); err != nil {
		return err
	}
	return b.t.runs.Put(tx, key, r)
}

func jobKey(id string, seq uint64) []byte { return append([]byte(id+"\x00"), store.Uint64Key(seq)...) }

// Began takes over a claim that is durable.
func (c *Claim) Began() {
	failpoint.Hit("afterJobClaim")
	b := c.b
	b.keep(c.after, false)
	b.mu.Lock()
	b.open[c.Run.RunID] = c.Run
	b.mu.Unlock()
	b.tell(protocol.CronEvent{JobID: c.Job.ID, Action: "started", RunID: c.Run.RunID, RunAtMs: c.Run.RunAtMs}, &c.after)
}

// Commit writes a claim that nothing else belongs to.
func (c *Claim) Commit(ctx context.Context) error {
	failpoint.Hit("beforeJobClaim")
	err := c.b.DB.Update(ctx, store.Write{Do: c.Put})
	if err == nil {
		c.Began()
	}
	return err
}

// runIn reads a run.
func (b *Book) runIn(tx *store.Tx, runID string) (r Run, ok bool, err error) {
	seq, ok, err := b.t.ids.Get(tx, []byte(runID))
	if err != nil || !ok {
		return r, false, err
	}
	return b.t.runs.Get(tx, store.Uint64Key(seq))
}

// FindIn is Find in a transaction.
func (b *Book) FindIn(tx *store.Tx, runID string) (r Run, ok bool, err error) {
	return b.runIn(tx, runID)
}

// Find is one run.
func (b *Book) Find(runID string) (r Run, ok bool, err error) {
	err = b.DB.View(func(tx *store.Tx) (err error) {
		r, ok, err = b.runIn(tx, runID)
		return err
	})
	return r, ok, err
}

// Result is what came of a run's work.
type Result struct {
	Status    string // ok, error, skipped
	Error     string // for people
	Reason    string // of an error: timeout, rate_limit …
	Unknown   bool   // nobody knows how far it came
	Text      string
	SessionID string
	Model     string
	Provider  string
	Usage     *protocol.CronUsage
	Cost      float64
	ExitCode  *int
	Keeps     json.RawMessage // the state of its script; nil: as it was
	Look      time.Duration   // after which it wants to be looked at again; 0: it does not say
}

// EndIn notes in a transaction what came of a run that is at work. Call Wake after
// the commit.
func (b *Book) EndIn(tx *store.Tx, runID string, res Result) error {
	r, ok, err := b.runIn(tx, runID)
	if err != nil || !ok || r.Stage != Claimed && r.Stage != Running && r.Stage != Checking {
		return err
	}
	r.ends(res, b.Now().UnixMilli())
	return b.putRun(tx, r)
}

// ends notes what came of a run.
func (r *Run) ends(res Result, now int64) {
	took := max(0, now-cmp.Or(r.RunAtMs, now))
	r.Stage, r.TS, r.DurationMs = Ended, now, &took
	r.Status, r.Error, r.ErrorReason, r.SessionID = res.Status, res.Error, res.Reason, res.SessionID
	r.Model, r.Provider, r.Usage, r.Cost = res.Model, res.Provider, res.Usage, res.Cost
	r.CompletionStatus = map[string]string{protocol.CronOK: "succeeded", protocol.CronError: "failed"}[res.Status]
	if res.Keeps != nil {
		r.Keeps = res.Keeps
	}
	if res.Look > 0 {
		r.Look = ms(res.Look)
	}
	if res.Unknown {
		r.CompletionStatus = protocol.CronUnknown
	}
	r.Text, r.Summary = cut(res.Text, maxText), cut(res.Text, maxSummary)
	if res.Error != "" {
		r.Diagnostics = &protocol.CronDiagnostics{Summary: cut(res.Error, 300), Entries: []protocol.CronDiagnostic{{
			TS: now, Source: source(r.Spec), Severity: "error", Message: cut(res.Error, 1000), ExitCode: res.ExitCode,
		}}}
	}
}

func source(s *protocol.CronSpec) string {
	if s != nil && (s.Payload.Kind == protocol.CronCommand || s.Payload.Kind == protocol.CronScript) {
		return "exec"
	}
	return "agent-run"
}

// End is EndIn in a transaction of its own.
func (b *Book) End(ctx context.Context, runID string, res Result) error {
	return b.DB.Update(context.WithoutCancel(ctx), store.Write{
		Must: true, Then: b.Wake, Do: func(tx *store.Tx) error { return b.EndIn(tx, runID, res) },
	})
}

// Started notes that the work of a run has begun: from now on it is not begun
// again. It fails with ErrTaken when it had.
func (b *Book) Started(ctx context.Context, runID string) error {
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		r, ok, err := b.runIn(tx, runID)
		switch {
		case err != nil:
			return err
		case !ok || r.Stage != Claimed:
			return ErrTaken
		}
		r.Stage = Running
		return b.putRun(tx, r)
	}})
	failpoint.Hit("afterJobStart")
	return err
}

// Settle gives the result of a run on: deliver puts it where it goes, in the
// transaction that notes so, and says with r.Stage whether it waits for a receipt
// (Delivering) or not (Done).
func (b *Book) Settle(ctx context.Context, runID string, deliver func(tx *store.Tx, r *Run) error) error {
	var j Job
	var r Run
	var known, gone, done bool
	failpoint.Hit("beforeJobSettle")
	err := b.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) (err error) {
		known, gone, done = false, false, false
		var ok bool
		if r, ok, err = b.runIn(tx, runID); err != nil || !ok || r.Stage != Ended {
			return err
		}
		done, r.Stage = true, Done
		if err := deliver(tx, &r); err != nil {
			return err
		}
		j, err = b.editIn(tx, r.JobID, func(j *Job) error {
			known = true
			b.judge(j, &r)
			if len(r.Items) > 0 && j.Attempt > 0 && j.Next == r.Slot {
				return b.putBack(tx, j, &r)
			}
			return nil
		})
		if errors.Is(err, ErrNotFound) {
			err = nil // it was removed meanwhile
		}
		if gone = known && r.Stage == Done && finished(&j, &r); gone && err == nil {
			err = b.removeIn(tx, j.ID)
		}
		if err != nil {
			return err
		}
		return b.putRun(tx, r)
	}})
	if err != nil {
		return fmt.Errorf("settle the run %s: %w", runID, err)
	}
	failpoint.Hit("afterJobSettle")
	if done {
		b.settled(j, r, known, gone)
	}
	return nil
}

// settled takes over the end of a run.
func (b *Book) settled(j Job, r Run, known, gone bool) {
	b.mu.Lock()
	delete(b.open, r.RunID)
	if r.Open() {
		b.open[r.RunID] = r
	}
	b.mu.Unlock()
	var job *Job
	if known {
		b.keep(j, false)
		job = &j
	}
	b.tell(finishedEvent(r), job)
	if gone {
		b.forget(j.ID)
		b.tell(protocol.CronEvent{JobID: j.ID, Action: "removed"}, nil)
	}
	b.Wake()
}

func finishedEvent(r Run) protocol.CronEvent {
	w := r.Wire()
	return protocol.CronEvent{
		JobID: r.JobID, Action: "finished", RunID: r.RunID, SessionKey: r.SessionKey, SessionID: r.SessionID, RunAtMs: r.RunAtMs,
		DurationMs: r.DurationMs, Status: r.Status, CompletionStatus: r.CompletionStatus, Error: r.Error, Summary: r.Summary,
		Delivered:      r.Delivered,
		DeliveryStatus: r.DeliveryStatus, DeliveryError: r.DeliveryError, NextRunAtMs: r.NextRunAtMs, Model: r.Model, Provider: r.Provider,
		Usage: r.Usage, Delivery: r.CronRun.Delivery, Hearth: w.Hearth,
	}
}

// finished reports whether a job that runs once is done with.
func finished(j *Job, r *Run) bool {
	return r.Slot != 0 && j.Next == 0 && r.Status == protocol.CronOK && j.DeleteAfterRun != nil && *j.DeleteAfterRun &&
		(r.DeliveryStatus != protocol.CronNotDelivered || j.Delivery == nil || j.Delivery.BestEffort)
}

// Receipt notes what became of a delivery.
func (b *Book) Receipt(ctx context.Context, runID string, arrived bool, problem string) error {
	var j Job
	var r Run
	var done, known, gone bool
	err := b.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) (err error) {
		done, known, gone = false, false, false
		var ok bool
		if r, ok, err = b.runIn(tx, runID); err != nil || !ok || r.Stage != Delivering {
			return err
		}
		done, r.Stage = true, Done
		r.deliver(arrived, problem)
		j, err = b.editIn(tx, r.JobID, func(j *Job) error {
			known = true
			j.delivered(&r)
			j.over(&r)
			return nil
		})
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		if gone = known && finished(&j, &r); gone && err == nil {
			err = b.removeIn(tx, j.ID)
		}
		if err != nil {
			return err
		}
		return b.putRun(tx, r)
	}})
	if err != nil || !done {
		return err
	}
	b.mu.Lock()
	delete(b.open, runID)
	b.mu.Unlock()
	if known {
		b.keep(j, false)
		b.tell(protocol.CronEvent{JobID: j.ID, Action: "updated", NextRunAtMs: j.Planned()}, &j)
	}
	if gone {
		b.forget(j.ID)
		b.tell(protocol.CronEvent{JobID: j.ID, Action: "removed"}, nil)
	}
	return nil
}

// Deliver notes what became of telling the result.
func (r *Run) deliver(arrived bool, problem string) {
	r.Delivered, r.DeliveryStatus, r.DeliveryError = &arrived, protocol.CronDelivered, ""
	if !arrived {
		r.DeliveryStatus, r.DeliveryError = protocol.CronNotDelivered, problem
	}
	if r.CronRun.Delivery != nil {
		r.CronRun.Delivery.Delivered = &arrived
	}
}

// Told notes that the result was delivered with this very transaction.
func (r *Run) Told() { r.deliver(true, "") }

// NotTold notes that it could not be.
func (r *Run) NotTold(problem string) { r.deliver(false, problem) }

// Alerts notes that it is told with this run that the job fails, or, that a failure
// was told, that it works again.
func (r *Run) Alerts(fails bool) { r.alerts = &fails }

func (j *Job) delivered(r *Run) {
	j.State.LastDelivered, j.State.LastDeliveryStatus, j.State.LastDeliveryError = r.Delivered, r.DeliveryStatus, r.DeliveryError
	j.State.SuppressionReason = r.SuppressionReason
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// ms is a duration in milliseconds.
func ms(d time.Duration) int64 { return d.Milliseconds() }
