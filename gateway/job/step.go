package job

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// step is what is done about a job that is due.
type step struct {
	slot   int64
	missed int // other slots than that one
	late   bool
	skip   bool
	why    string
}

// step decides about a job that is due.
func (l *loop) step(j *Job, now, since int64, limits Limits) step {
	if !j.timed() {
		return step{slot: j.Next} // it was noticed, and cannot have been missed
	}
	if l.DB.Past(j.Next) && (j.Own().CatchUp == nil || j.Own().CatchUp.Mode == "") {
		return l.undone(j)
	}
	if j.plan == nil || j.plan.Once() || j.Attempt > 0 {
		return step{slot: j.Next, late: j.Next < since-ms(grace) && j.Attempt == 0}
	}
	n, last := j.plan.Count(j.Next-1, now, mostCounted)
	if n == 0 { // its schedule is another one now
		n, last = 1, j.Next
	}
	if j.Next >= since-ms(grace) {
		return step{slot: last, missed: n - 1}
	}
	mode, within := l.policy(j, limits)
	s := step{slot: last, missed: n - 1, late: true}
	switch {
	case mode == "all" && n < mostCounted:
		return j.each(s, since, within)
	case last >= since-ms(grace): // the newest of them is due now and was not missed
		s.late = false
		return s
	case mode == "skip":
		s.skip, s.missed, s.why = true, n, "it was missed while nothing ran, and this job is not made up for"
	case within > 0 && now-last > ms(within):
		s.skip, s.missed, s.why = true, n, tooOld(within)
	}
	return s
}

// each is what is done about the first missed slot of a job that makes up for each
// of them, however long those before it took. Those that were too old when the
// computer woke are left out together.
func (j *Job) each(s step, since int64, within time.Duration) step {
	s.slot, s.missed = j.Next, 0
	if within == 0 {
		return s
	}
	if n, last := j.plan.Count(j.Next-1, since-ms(within)-1, mostCounted); n > 0 {
		s.slot, s.missed, s.skip, s.why = last, n, true, tooOld(within)
	}
	return s
}

func tooOld(within time.Duration) string {
	return "it was missed for longer than this job is made up for (" + within.String() + ")"
}

// undone leaves out the slots between a backup and the moment at which it was
// restored: they were run then. A job that says itself how it is made up for is.
func (l *loop) undone(j *Job) step {
	s := step{slot: j.Next, missed: 1, skip: true, why: "Hearth was restored from a backup that is older than this, so it was run already"}
	if j.plan != nil && !j.plan.Once() {
		if n, last := j.plan.Count(j.Next-1, l.DB.Restored().UnixMilli()-1, mostCounted); n > 0 {
			s.slot, s.missed = last, n
		}
	}
	return s
}

// policy is what a job, the settings or its kind say about missed slots.
func (l *loop) policy(j *Job, limits Limits) (mode string, within time.Duration) {
	c := j.Own().CatchUp
	if c == nil {
		c = limits.CatchUp
	}
	if c == nil || c.Mode == "" {
		return j.plan.CatchUp(j.Next)
	}
	within, _ = time.ParseDuration(c.Within)
	return c.Mode, within
}

// pass notes that a run is not to be.
func (b *Book) pass(ctx context.Context, c *Claim, why string) error {
	c.Run.Stage, c.Run.Status, c.Run.Error, c.Run.Spec = Done, protocol.CronSkipped, why, nil
	c.Run.DeliveryStatus = protocol.CronNotRequested
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		if err := c.Put(tx); err != nil {
			return err
		}
		c.after, err = b.editIn(tx, c.Job.ID, func(j *Job) error {
			j.State.LastRunStatus, j.State.LastError, j.State.RunningAtMs = protocol.CronSkipped, why, 0
			j.State.ConsecutiveSkipped++
			return nil
		})
		return err
	}})
	if err != nil {
		return err
	}
	b.keep(c.after, false)
	b.tell(finishedEvent(c.Run), &c.after)
	return nil
}
