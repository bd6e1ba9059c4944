package job_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// dying does what a job does and is gone at a random one of its steps, as a
// process that is killed: what it has not committed did not happen.
type dying struct {
	*rig
	r        *rand.Rand
	accepted store.Bucket[int] // the session's messages, by idempotency key
	die      func()
	dead     bool
	left     int // steps until it dies
}

var errKilled = errors.New("killed")

// step is one place at which the process may be killed.
func (d *dying) step() bool {
	if d.left--; d.left == 0 && !d.dead {
		d.dead = true
		d.die()
	}
	return d.dead
}

// Begin accepts the message with the claim, in one transaction.
func (d *dying) Begin(ctx context.Context, c *job.Claim) error {
	if d.step() {
		return errKilled
	}
	err := d.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		n, _, err := d.accepted.Get(tx, []byte(c.Run.RunID))
		if err != nil {
			return err
		}
		if err := c.Put(tx); err != nil {
			return err
		}
		return d.accepted.Put(tx, []byte(c.Run.RunID), n+1)
	}})
	if err != nil || d.step() {
		return errors.Join(err, errKilled)
	}
	c.Began()
	return nil
}

// Resume answers what was accepted, and gives the answer on.
func (d *dying) Resume(ctx context.Context, run job.Run) {
	if d.step() {
		return
	}
	switch run.Stage {
	case job.Claimed:
		_ = d.book.End(ctx, run.RunID, job.Result{Status: protocol.CronOK, Text: "done"})
	case job.Ended:
		_ = d.book.Settle(ctx, run.RunID, func(tx *store.Tx, run *job.Run) error {
			n, _, err := d.told.Get(tx, []byte(run.RunID))
			if err != nil {
				return err
			}
			if run.Stage, run.Sent = job.Delivering, "delivery"; d.dead {
				return errKilled
			}
			return d.told.Put(tx, []byte(run.RunID), n+1)
		})
	case job.Delivering:
		_ = d.book.Receipt(ctx, run.RunID, true, "")
	}
	d.step()
}

// TestFault_F_CRON_01_KillsLoseAndDoubleNothing: wherever a process is killed
// between the claim of a slot, the acceptance of its message, its answer and its
// delivery, each slot is accepted once and told once: 200 times, 10,000 times with
// HEARTH_LONG=1.
func TestFault_F_CRON_01_KillsLoseAndDoubleNothing(t *testing.T) {
	kills := seed.Rounds(200, 10_000)
	chance := seed.New(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		d := &dying{rig: r, r: chance, accepted: store.NewBucket[int]("accepted"), dead: true}
		first := time.Now()
		var id string
		for n := 0; n <= kills; n++ {
			r.open()
			ctx, cancel := context.WithCancel(t.Context())
			d.die, d.dead, d.left = cancel, false, 1+chance.IntN(14)
			if n == kills {
				d.left = -1
			}
			if id == "" {
				j := r.add(all(time.Minute))
				id = j.ID
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if err := r.book.Run(ctx, d); err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Minute):
				cancel()
				<-done
			}
		}
		d.count(t, id, first)
		if err := r.db.Close(t.Context()); err != nil {
			t.Error(err)
		}
		t.Logf("%d kills", kills)
	})
}

// count compares the slots that were to be with what was accepted and told.
func (d *dying) count(t *testing.T, id string, first time.Time) {
	j, err := d.book.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	slots, lost, doubled := 0, 0, 0
	err = d.db.View(func(tx *store.Tx) error {
		// A slot of the last minute may still have been on its way when the test ended.
		for at := first.Add(time.Minute); at.UnixMilli() < j.Next && time.Since(at) > time.Minute; at = at.Add(time.Minute) {
			key := []byte(job.RunID(id, at.UnixMilli(), 0))
			accepted, _, _ := d.accepted.Get(tx, key)
			told, _, _ := d.told.Get(tx, key)
			slots++
			if accepted > 1 || told > 1 {
				doubled++
			}
			if accepted != 1 || told != 1 {
				lost++
				if lost < 4 {
					t.Errorf("%s: accepted %d, told %d", key, accepted, told)
				}
			}
		}
		return nil
	})
	if err != nil || slots == 0 {
		t.Fatalf("%v, %d slots", err, slots)
	}
	t.Logf("%d slots: %d lost, %d doubled", slots, lost, doubled)
}

// all is a job that makes up for each slot.
func all(d time.Duration) protocol.CronSpec {
	s := every(d)
	s.Name = strings.Repeat("a", 3)
	s.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "all"}}
	return s
}
