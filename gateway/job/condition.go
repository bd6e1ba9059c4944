package job

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// ShortestCheck is how often a condition may be asked at most.
const ShortestCheck = 30 * time.Second

// Verdict is what a condition says: that there is something to do.
type Verdict struct {
	Message string          // what; the run has it in front of its event
	Outside bool            // strangers may have written that
	Keeps   json.RawMessage // the state that it keeps if the run succeeds; nil: as it was
}

// Fired is the claim of a run whose condition says that it is to begin. Whoever
// begins it does as with every other claim.
func (b *Book) Fired(r Run, v Verdict) (*Claim, error) {
	j, err := b.Get(r.JobID)
	if err != nil {
		return nil, err
	}
	c := &Claim{Job: j, Run: r, b: b, checked: true}
	c.Run.Stage, c.Run.Keeps, c.Run.Outside = Claimed, v.Keeps, r.Outside || v.Outside
	if v.Message != "" {
		c.Run.Event = cut(strings.TrimSpace(v.Message+"\n\n"+r.Event), maxText)
	}
	return c, nil
}

// Kept is the state that the script of a job keeps; nil for none.
func (b *Book) Kept(id string) (keeps json.RawMessage, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		j, _, err := b.t.jobs.Get(tx, []byte(id))
		keeps = j.State.TriggerState
		return err
	})
	return keeps, err
}

// putChecked writes that a run begins whose condition was asked. It fails with
// ErrTaken when the job was disabled or changed meanwhile.
func (c *Claim) putChecked(tx *store.Tx) error {
	b := c.b
	r, ok, err := b.runIn(tx, c.Run.RunID)
	switch {
	case err != nil:
		return err
	case !ok || r.Stage != Checking:
		return ErrTaken
	}
	now := b.Now().UnixMilli()
	c.after, err = b.editIn(tx, c.Job.ID, func(j *Job) error {
		if !j.On() && !c.ended(j) || j.Revision != c.Run.Revision {
			return ErrTaken
		}
		j.asked(now)
		j.State.LastTriggerFireAtMs, j.State.RunningAtMs = now, now
		return nil
	})
	if err != nil {
		return err
	}
	c.Run.RunAtMs, c.Run.TS = now, now
	return b.putRun(tx, c.Run)
}

// ended reports whether it is the claim itself that disabled the job: there was
// nothing more to wait for.
func (c *Claim) ended(j *Job) bool {
	return j.Schedule.Kind == protocol.CronOnExit && j.Slot == c.Run.Slot
}

func (j *Job) asked(now int64) {
	j.State.LastTriggerEvalAtMs = now
	j.State.TriggerEvalCount++
}

// Unfired ends a run whose condition said that there is nothing to do: nothing of
// it is left but the state that the condition keeps.
func (b *Book) Unfired(ctx context.Context, r Run, keeps json.RawMessage) error {
	var j Job
	known := false
	err := b.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Then: b.Wake, Do: func(tx *store.Tx) error {
		known = false
		now, ok, err := b.runIn(tx, r.RunID)
		if err != nil || !ok || now.Stage != Checking {
			return err
		}
		if err := b.forgetRun(tx, now); err != nil {
			return err
		}
		j, err = b.editIn(tx, r.JobID, func(j *Job) error {
			known = true
			j.State.RunningAtMs = 0
			j.asked(b.Now().UnixMilli())
			if j.State.ConsecutiveErrors > 0 && j.State.LastErrorReason == ReasonCondition { // it can be asked again
				j.State.ConsecutiveErrors, j.State.LastRunStatus, j.State.LastError, j.State.LastErrorReason = 0, "", "", ""
			}
			if keeps != nil && j.Revision == r.Revision {
				j.State.TriggerState = keeps
			}
			return nil
		})
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}})
	if err != nil {
		return err
	}
	b.mu.Lock()
	delete(b.open, r.RunID)
	b.mu.Unlock()
	if known {
		b.keep(j, false)
		b.tell(protocol.CronEvent{JobID: j.ID, Action: "updated", NextRunAtMs: j.due()}, &j)
	}
	return nil
}

// ReasonCondition is the reason of a run that ended because its condition could
// not be asked.
const ReasonCondition = "trigger"

// forgetRun takes a run away as if it had never been.
func (b *Book) forgetRun(tx *store.Tx, r Run) error {
	key := store.Uint64Key(r.Seq)
	return errors.Join(
		b.t.open.Delete(tx, key), b.t.runs.Delete(tx, key), b.t.ids.Delete(tx, []byte(r.RunID)), b.t.byJob.Delete(tx, jobKey(r.JobID, r.Seq)),
	)
}

// succeeded takes over what a run leaves to the next one.
func (j *Job) succeeded(r *Run, now int64) {
	if r.Keeps != nil && r.Revision == j.Revision {
		j.State.TriggerState = r.Keeps
	}
	if j.Trigger != nil && j.Trigger.Once && r.Slot != 0 && r.Revision == j.Revision {
		off := false
		j.Enabled = &off
		return
	}
	if j.Pacing == nil || r.Look <= 0 || r.Slot == 0 || j.Next == 0 || j.plan == nil || j.plan.Once() {
		return
	}
	wait := time.Duration(r.Look) * time.Millisecond
	if most, err := time.ParseDuration(j.Pacing.Max); err == nil {
		wait = min(wait, most)
	}
	if least, err := time.ParseDuration(j.Pacing.Min); err == nil {
		wait = max(wait, least)
	}
	if j.Trigger != nil {
		wait = max(wait, ShortestCheck)
	}
	j.Next = max(now+ms(wait), r.Slot+1)
}
