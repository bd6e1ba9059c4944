package job_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestFault_F_OPS_SlotsBeforeARestoreAreNotRunAgain: a backup of three hours ago
// becomes the store. What was due since was run then: it is left out with its reason,
// unless a job says itself that it is made up for. What is due later comes.
func TestFault_F_OPS_SlotsBeforeARestoreAreNotRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.up()
		start := r.now()
		at := func(d time.Duration) protocol.CronSchedule {
			return protocol.CronSchedule{Kind: protocol.CronAt, At: start.Add(d).UTC().Format(time.RFC3339)}
		}
		r.add(protocol.CronSpec{Name: "told", Schedule: at(time.Hour)})
		hourly := r.add(protocol.CronSpec{Name: "hourly", Schedule: protocol.CronSchedule{Kind: protocol.CronEvery,
			EveryMs: time.Hour.Milliseconds()}})
		own := r.add(protocol.CronSpec{
			Name: "own", Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: time.Hour.Milliseconds()},
			Hearth: &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "once"}},
		})
		r.stop()
		r.turn(3*time.Hour + time.Minute)
		if err := r.db.MarkRestored(t.Context(), r.now()); err != nil {
			t.Fatal(err)
		}
		r.up()
		r.wait(time.Minute)
		began := map[string]int{}
		for _, run := range r.runs() {
			if run.Status == protocol.CronSkipped && run.Error == "" {
				t.Errorf("%s was left out without a reason", run.RunID)
			}
			if run.Status != protocol.CronSkipped {
				began[run.JobID]++
			}
		}
		if len(began) != 1 || began[own.ID] != 1 {
			t.Errorf("began: %v, want %s alone", began, own.ID)
		}
		r.wait(time.Hour)
		var runs []job.Run
		for _, run := range r.runs() {
			if run.JobID == hourly.ID && run.Status != protocol.CronSkipped {
				runs = append(runs, run)
			}
		}
		if len(runs) != 1 {
			t.Errorf("the hourly one ran %d times since, want once", len(runs))
		}
		r.down()
	})
}
