package job

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// What failures lead to.
const (
	mostErrors   = 10 // in a row: the job is disabled
	mostBadTimes = 3  // its schedule cannot be read
	retries      = 3  // of what is due once
	mostAgain    = 12 // an important reminder is told so often
	againAfter   = 10 * time.Minute
)

// BackOff is how long a job rests after so many failures in a row.
func BackOff(errors int) time.Duration {
	list := []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	return list[min(max(errors, 1), len(list))-1]
}

// passing reports whether an error may be gone the next time.
func passing(reason string) bool {
	switch reason {
	case "rate_limit", "overloaded", "server_error", "timeout", "network", "connection", "unavailable":
		return true
	}
	return false
}

// judge notes in a job what came of a run: its last status, how long it rests,
// whether it is disabled.
func (b *Book) judge(j *Job, r *Run) {
	now := b.Now().UnixMilli()
	s := &j.State
	s.RunningAtMs = 0
	s.LastRunAtMs, s.LastRunStatus, s.LastError, s.LastErrorReason = r.RunAtMs, r.Status, r.Error, r.ErrorReason
	s.LastDiagnostics, s.LastDiagnosticSummary = r.Diagnostics, ""
	if r.Diagnostics != nil {
		s.LastDiagnosticSummary = r.Diagnostics.Summary
	}
	if r.DurationMs != nil {
		s.LastDurationMs = *r.DurationMs
	}
	j.delivered(r)
	if r.alerts != nil {
		if j.Alerted, s.LastAlertAtMs = *r.alerts, 0; j.Alerted {
			s.LastAlertAtMs = now
		}
	}
	switch r.Status {
	case protocol.CronOK:
		s.ConsecutiveErrors, s.ConsecutiveSkipped = 0, 0
		j.succeeded(r, now)
		if own := j.Own(); own.Important && own.Reminder && r.Slot != 0 && r.Attempt < mostAgain && r.SuppressionReason == "" {
			wait := againAfter
			if own.AgainMs > 0 {
				wait = time.Duration(own.AgainMs) * time.Millisecond
			}
			j.Next, j.Attempt, j.NotBefore = r.Slot, r.Attempt+1, now+ms(wait)
			r.Again = j.NotBefore
		}
	case protocol.CronSkipped:
		s.ConsecutiveSkipped++
	case protocol.CronError:
		s.ConsecutiveErrors++
		b.failed(j, r, now)
	}
	j.over(r)
	r.NextRunAtMs = j.Planned()
}

// over switches off a job that was due once and is kept after its run: it failed, or
// its result has not arrived.
func (j *Job) over(r *Run) {
	if j.On() && r.Slot != 0 && j.plan != nil && j.plan.Once() && j.Next == 0 && !finished(j, r) {
		off := false
		j.Enabled = &off
	}
}

func (b *Book) failed(j *Job, r *Run, now int64) {
	n := j.State.ConsecutiveErrors
	if r.Slot == 0 {
		return // begun by hand: the schedule goes on
	}
	if len(r.Items) > 0 && j.On() && passing(r.ErrorReason) && r.Attempt < retries { // what happened is dealt with later
		j.Next, j.Attempt, j.NotBefore = r.Slot, r.Attempt+1, now+ms(BackOff(n))
		return
	}
	if j.plan != nil && j.plan.Once() {
		if passing(r.ErrorReason) && r.Attempt < retries {
			j.Next, j.Attempt, j.NotBefore = r.Slot, r.Attempt+1, now+ms(BackOff(n))
		}
		return
	}
	j.NotBefore = now + ms(BackOff(n))
	if n >= mostErrors {
		j.disable(protocol.CronTooManyFailures, n, now)
	}
}

func (j *Job) disable(reason string, errors int, now int64) {
	off := false
	j.Enabled = &off
	j.State.AutoDisabled = &protocol.CronAutoDisabled{Reason: reason, AtMs: now, ConsecutiveErrors: errors}
}

// Seen notes that somebody has seen what a run told: it is not told again.
func (b *Book) Seen(ctx context.Context, runID string) error {
	var j Job
	var known, gone bool
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		known, gone = false, false
		r, ok, err := b.runIn(tx, runID)
		if err != nil {
			return err
		}
		if !ok {
			return ErrNotFound
		}
		r.Seen = b.Now().UnixMilli()
		if err := b.t.runs.Put(tx, store.Uint64Key(r.Seq), r); err != nil {
			return err
		}
		j, err = b.editIn(tx, r.JobID, func(j *Job) error {
			if known = j.Attempt > 0 && j.Next == r.Slot && j.Own().Important; !known {
				return nil
			}
			b.advance(tx, j, r.Slot)
			if gone = j.Next == 0 && j.DeleteAfterRun != nil && *j.DeleteAfterRun; !gone && j.Next == 0 {
				off := false
				j.Enabled = &off
			}
			return nil
		})
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err == nil && gone {
			err = b.removeIn(tx, r.JobID)
		}
		return err
	}})
	if err != nil || !known {
		return err
	}
	if gone {
		b.forget(j.ID)
		b.tell(protocol.CronEvent{JobID: j.ID, Action: "removed"}, nil)
		return nil
	}
	b.keep(j, false)
	b.tell(protocol.CronEvent{JobID: j.ID, Action: "updated", NextRunAtMs: j.Planned()}, &j)
	return nil
}
