package job

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Event is something that happened, by which a job is due.
type Event struct {
	At   int64  // when, in milliseconds: the slot of the run
	Text string // what, as strangers may have written it; the run has it as Run.Event
	Last bool   // nothing more will happen: the job is disabled with it
	// Problem: what was waited for can never happen; the run is that failure.
	Problem string
}

// ErrLater: a job cannot begin now; the same event may be tried again.
var ErrLater = errors.New("the job cannot begin now")

// Fire begins a run of a job, as it was at a revision, because something happened.
// It fails with ErrTaken when the job is another one now, was disabled, or has run
// for that event.
func (b *Book) Fire(ctx context.Context, id string, revision int64, ev Event, does Does) error {
	j, err := b.Get(id)
	limits := b.Limits()
	switch {
	case err != nil:
		return err
	case !j.On() || j.Revision != revision:
		return ErrTaken
	case !limits.On || j.NotBefore > b.Now().UnixMilli() || b.busy(id, limits.AtOnce) || b.waiting(&j, does) != "":
		return ErrLater
	}
	c := b.claim(j, ev.At)
	c.event, c.Run.Event, c.Run.Outside = &ev, cut(ev.Text, maxText), ev.Text != ""
	if why := does.Refuses(&j); why != "" {
		return b.pass(ctx, c, why)
	}
	if ev.Problem == "" {
		return does.Begin(ctx, c)
	}
	c.Run.Stage = Claimed
	if err := c.Commit(ctx); err != nil {
		return err
	}
	return b.End(ctx, c.Run.RunID, Result{Status: protocol.CronError, Unknown: true, Error: ev.Problem})
}

// busy reports whether a job runs, or as many do as may at once.
func (b *Book) busy(id string, most int) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	running := 0
	for _, r := range b.open {
		if r.Stage == Delivering {
			continue
		}
		if r.JobID == id {
			return true
		}
		running++
	}
	return running >= most
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

// Watched notes how what a job waits for stands: a program that runs, or does not
// any more.
func (b *Book) Watched(ctx context.Context, id string, revision int64, note func(*protocol.CronJobState)) error {
	j, err := b.edit(ctx, id, func(j *Job) error {
		if j.Revision != revision {
			return ErrChanged
		}
		note(&j.State)
		return nil
	})
	if err != nil {
		return err
	}
	b.tell(protocol.CronEvent{JobID: id, Action: "updated"}, &j)
	return nil
}
