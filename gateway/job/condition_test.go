package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// judges are jobs whose conditions say what a test wants.
type judges struct {
	*rig
	says func(r job.Run) (v job.Verdict, fire bool)
}

func (d judges) Begin(ctx context.Context, c *job.Claim) error {
	if c.Run.Stage != job.Checking {
		return d.rig.Begin(ctx, c)
	}
	if err := c.Commit(ctx); err != nil {
		return err
	}
	v, fire := d.says(c.Run)
	if !fire {
		return d.book.Unfired(ctx, c.Run, v.Keeps)
	}
	next, err := d.book.Fired(c.Run, v)
	if err == nil {
		err = d.rig.Begin(ctx, next)
	}
	if errors.Is(err, job.ErrTaken) {
		return d.book.Unfired(ctx, c.Run, nil)
	}
	return err
}

// A condition that says no leaves no run, one that says yes gives its words; a job
// that is switched off while its condition is asked does not run.
func TestConditions(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.stop()
		var asked atomic.Int32
		d := judges{rig: r}
		d.says = func(run job.Run) (v job.Verdict, fire bool) {
			n := asked.Add(1)
			v.Keeps = json.RawMessage(fmt.Sprint(n))
			if n == 5 {
				off := false
				if _, err := r.book.Update(t.Context(), run.JobID, 0, func(s *protocol.CronSpec) error { s.Enabled = &off; return nil }); err != nil {
					t.Error(err)
				}
			}
			return v, n >= 3
		}
		r.open()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = r.book.Run(ctx, d) }()
		r.stop = func() { cancel(); <-done }
		s := every(time.Minute)
		s.Trigger = &protocol.CronTrigger{Script: "x"}
		j := r.add(s)
		r.wait(2*time.Minute + time.Second)
		if n := len(r.runs()); n != 0 || asked.Load() != 2 {
			t.Errorf("%d runs after %d times no", n, asked.Load())
		}
		r.wait(2 * time.Minute)
		now, err := r.book.Get(j.ID)
		if err != nil || len(r.runs()) != 2 || string(now.State.TriggerState) != "4" || now.State.TriggerEvalCount != 4 {
			t.Errorf("%v, %d runs, %+v", err, len(r.runs()), now.State)
		}
		r.wait(10 * time.Minute)
		if n := len(r.runs()); n != 2 || asked.Load() != 5 {
			t.Errorf("%d runs of a job that was switched off while its condition was asked (%d)", n, asked.Load())
		}
	})
}

// A hundred thousand jobs are refused in words, and those that fit are looked
// after.
func TestTooManyJobs(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		full := job.Job{ID: "full"}
		raw, err := json.Marshal(full)
		if err != nil {
			t.Fatal(err)
		}
		bucket := store.NewBucket[json.RawMessage]("cron.jobs")
		err = r.db.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
			for i := range job.MaxJobs {
				if err := bucket.Put(tx, []byte(fmt.Sprintf("j%06d", i)), raw); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, _, err := r.book.Add(t.Context(), job.Job{CronSpec: every(time.Hour)})
			if !errors.Is(err, job.ErrTooMany) || !strings.Contains(err.Error(), "remove some") {
				t.Errorf("one more: %v", err)
			}
		}
	})
}
