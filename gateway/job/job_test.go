package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Failures let a job rest longer and longer, and disable it in the end, with the
// reason; a run by hand does not move the schedule.
func TestBackOffAndDisable(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.refuse = "fail"
		j := r.add(every(10 * time.Second))
		r.wait(6 * time.Hour)
		runs := r.runs()
		if len(runs) != 10 {
			t.Fatalf("%d runs, want 10", len(runs))
		}
		for i, least := range []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
			if got := time.Duration(runs[i+1].RunAtMs-runs[i].RunAtMs) * time.Millisecond; got < least || got > least+11*time.Second {
				t.Errorf("after failure %d it rested for %v, want %v", i+1, got, least)
			}
		}
		now, err := r.book.Get(j.ID)
		if err != nil || now.On() || now.State.AutoDisabled == nil || now.State.AutoDisabled.Reason != protocol.CronTooManyFailures {
			t.Errorf("%v %+v", err, now.State)
		}
	})
}

// What is due once and fails for a passing reason is tried again; after that it is
// kept, disabled.
func TestOnceIsTriedAgain(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.refuse = "timeout"
		j := r.add(at(time.Now().Add(time.Minute)))
		r.wait(2 * time.Hour)
		if n := len(r.runs()); n != 4 {
			t.Errorf("%d runs, want 4", n)
		}
		if now, err := r.book.Get(j.ID); err != nil || now.On() {
			t.Errorf("%v %+v", err, now)
		}
	})
}

// What is due while a run of the same job is open waits, and is one run then.
func TestOverlap(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.hold = make(chan struct{})
		r.add(every(time.Minute))
		r.wait(5*time.Minute + 30*time.Second)
		if n := len(r.began()); n != 1 {
			t.Fatalf("%d runs at once", n)
		}
		close(r.hold)
		r.wait(2 * time.Second)
		runs := r.runs()
		if len(runs) != 2 || runs[1].Missed != 3 {
			t.Errorf("%d runs, %+v", len(runs), runs[len(runs)-1])
		}
	})
}

// A thousand jobs that are due at once run a few at a time, each once.
func TestManyAtOnce(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		soon := time.Now().Add(time.Minute)
		for range 300 {
			r.add(at(soon))
		}
		r.wait(3 * time.Minute)
		if n := len(r.runs()); n != 300 {
			t.Errorf("%d runs", n)
		}
	})
}

// A refusal is noted as skipped, and the job goes on.
func TestRefusedIsSkipped(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.refuse = "It ran often enough today."
		r.add(every(time.Minute))
		r.wait(3*time.Minute + time.Second)
		runs := r.runs()
		if len(runs) != 3 || runs[0].Status != protocol.CronSkipped || runs[0].Error != r.refuse || len(r.began()) != 0 {
			t.Errorf("%+v", runs)
		}
	})
}

// An edit plans anew from now; listing never moves anything.
func TestEditPlansFromNow(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(every(time.Hour))
		r.wait(30 * time.Minute)
		r.book.All()
		if now, _ := r.book.Get(j.ID); now.Next != j.Next {
			t.Error("looking at a job moved it")
		}
		now, err := r.book.Update(t.Context(), j.ID, j.Revision, func(s *protocol.CronSpec) error {
			s.Schedule = every(10 * time.Minute).Schedule
			return nil
		})
		if err != nil || now.Next <= r.now().UnixMilli() || now.Next > r.now().Add(10*time.Minute).UnixMilli() {
			t.Errorf("%v, next %s", err, time.UnixMilli(now.Next))
		}
		nothing := func(*protocol.CronSpec) error { return nil }
		if _, err := r.book.Update(t.Context(), j.ID, j.Revision, nothing); !errors.Is(err, job.ErrChanged) {
			t.Errorf("an old revision: %v", err)
		}
	})
}

// The same declaration is the same job.
func TestDeclaration(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		s := every(time.Hour)
		s.Name, s.DeclarationKey = "x", "key"
		a, created, err := r.book.Add(t.Context(), job.Job{CronSpec: s})
		b, again, err2 := r.book.Add(t.Context(), job.Job{CronSpec: s})
		if err != nil || err2 != nil || !created || again || a.ID != b.ID || a.Next != b.Next {
			t.Errorf("%v %v %v %v %s %s", err, err2, created, again, a.ID, b.ID)
		}
	})
}

// Scratch is compared and swapped.
func TestScratch(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(every(time.Hour))
		words, zero, one := "a", int64(0), int64(1)
		for _, c := range []struct {
			expected *int64
			want     bool
		}{{&zero, true}, {&zero, false}, {&one, true}, {nil, true}} {
			if ok, err := r.book.SetScratch(t.Context(), j.ID, &words, c.expected); err != nil || ok != c.want {
				t.Errorf("%v: %v %v", c.expected, ok, err)
			}
		}
		if s, revision, err := r.book.Scratch(j.ID); err != nil || s == nil || s.Content != "a" || revision != 3 {
			t.Errorf("%+v %d %v", s, revision, err)
		}
		long := strings.Repeat("x", job.MaxScratch+1)
		if _, err := r.book.SetScratch(t.Context(), j.ID, &long, nil); err == nil {
			t.Error("a scratch of more than it holds was taken")
		}
	})
}

// An important reminder is told again until it was seen.
func TestImportantUntilSeen(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		s := at(time.Now().Add(time.Minute))
		s.Hearth = &protocol.CronOwn{Important: true, Reminder: true}
		j := r.add(s)
		r.wait(22 * time.Minute)
		if n := len(r.runs()); n != 3 {
			t.Fatalf("told %d times in 22 minutes", n)
		}
		if err := r.book.Seen(t.Context(), r.runs()[2].RunID); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Hour)
		if n := len(r.runs()); n != 3 {
			t.Errorf("told %d times, although it was seen", n)
		}
		if _, err := r.book.Get(j.ID); err == nil {
			t.Error("it is still there")
		}
	})
}

// What was due once and whose result did not arrive is kept, switched off, with the
// reason.
func TestOnceThatDidNotArrive(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.lose = "nobody is there"
		s := at(time.Now().Add(time.Minute))
		s.Delivery = &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce}
		j := r.add(s)
		r.wait(2 * time.Minute)
		now, err := r.book.Get(j.ID)
		if err != nil || now.On() || now.State.LastDeliveryError != r.lose {
			t.Errorf("%v %+v", err, now)
		}
	})
}

// The log keeps runs for so long, and so many of a job.
func TestTheLogIsBounded(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.mu.Lock()
		r.limits.KeepRuns, r.limits.RunsPerJob = 48*time.Hour, 30
		r.mu.Unlock()
		seldom, often := every(6*time.Hour), every(10*time.Minute)
		seldom.Name, often.Name = "seldom", "often"
		r.add(seldom)
		r.add(often)
		r.wait(5*24*time.Hour + 5*time.Minute)
		count := map[string]int{}
		oldest := r.now().UnixMilli()
		for _, run := range r.runs() {
			count[run.JobName]++
			oldest = min(oldest, run.TS)
		}
		// It is tidied up once an hour.
		if count["seldom"] != 8 || count["often"] < 30 || count["often"] > 37 || r.now().UnixMilli()-oldest > (49*time.Hour).Milliseconds() {
			t.Errorf("%v, the oldest of %s", count, time.UnixMilli(oldest).UTC())
		}
	})
}
