package job_test

import (
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// once fails when a slot was run more often than once.
func (r *rig) once() {
	r.t.Helper()
	seen := map[string]bool{}
	for _, id := range r.began() {
		if seen[id] {
			r.t.Errorf("%s ran twice", id)
		}
		seen[id] = true
	}
}

// A clock that says 1970 for a while, as that of a small computer without a
// battery, runs nothing of today, asks nothing when it is right again, and has no
// slots in between.
func TestFault_F_CLK_01_ClockOf1970(t *testing.T) {
	const years = 30 * 365 * 24 * time.Hour
	world(t, func(t *testing.T, r *rig) {
		begin := time.Now()
		hourly := r.add(expr("0 * * * *", "UTC"))
		once := r.add(at(begin.Add(3 * time.Hour)))
		r.wait(90 * time.Minute)
		r.turn(-years)
		r.wait(2 * time.Hour)
		for _, run := range r.runs() {
			if run.JobID == once.ID {
				t.Errorf("what is due in 2000 ran in 1970: %+v", run)
			}
		}
		r.turn(years)
		r.wait(2 * time.Hour)
		if m := r.book.Missed(func(int64) string { return "then" }); m.Ask {
			t.Errorf("it asks: %+v", m)
		}
		runs, late, skipped := 0, false, 0
		for _, run := range r.runs() {
			switch {
			case run.JobID == once.ID:
				late = run.Status == protocol.CronOK && run.Late
			case run.Slot >= begin.UnixMilli() && run.Status == protocol.CronOK:
				runs++
			case run.Status != protocol.CronOK:
				skipped++
			}
		}
		if runs < 2 || !late || skipped > 1 {
			t.Errorf("hourly ran %d times, what was due once ran late: %v; %d rows of what was left out", runs, late, skipped)
		}
		j, err := r.book.Get(hourly.ID)
		if err != nil || j.Next <= r.now().UnixMilli() || j.Next > r.now().Add(time.Hour).UnixMilli() {
			t.Errorf("next %d, %v", j.Next, err)
		}
		r.once()
	})
}

// A clock that says 2100 for a while runs nothing without a word, and what waits
// for that word goes on by itself when the clock is right again.
func TestFault_F_CLK_01_ClockOf2100(t *testing.T) {
	const years = 100 * 365 * 24 * time.Hour
	world(t, func(t *testing.T, r *rig) {
		r.add(expr("0 * * * *", "UTC"))
		r.add(every(10 * time.Minute))
		r.add(at(time.Now().Add(48 * time.Hour)))
		r.wait(95 * time.Minute)
		before := len(r.began())
		r.turn(years)
		r.wait(3 * time.Hour)
		m := r.book.Missed(func(int64) string { return "then" })
		if !m.Ask || len(m.Jobs) != 3 || len(r.began()) != before {
			t.Fatalf("%d runs without a word: %+v", len(r.began())-before, m)
		}
		r.turn(-years)
		r.wait(2 * time.Hour)
		if m := r.book.Missed(func(int64) string { return "then" }); m.Ask {
			t.Errorf("it still asks: %+v", m)
		}
		if n := len(r.began()); n < before+10 {
			t.Errorf("%d runs after the clock was right again", n-before)
		}
		r.once()
	})
}

// Years of missed minutes are one run or none, and a few rows, whatever the job
// says about them.
func TestYearsAreMadeUpForOnce(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		s := expr("* * * * *", "UTC")
		s.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "all"}}
		r.add(s)
		r.add(expr("* * * * *", "UTC"))
		r.wait(time.Minute)
		r.turn(20 * 365 * 24 * time.Hour)
		r.wait(time.Minute)
		m := r.book.Missed(func(int64) string { return "then" })
		if !m.Ask {
			t.Fatalf("%+v", m)
		}
		if err := r.book.Resolve(t.Context(), m.ID, true); err != nil {
			t.Fatal(err)
		}
		r.wait(5 * time.Minute)
		if n := len(r.runs()); n < 10 || n > 20 {
			t.Errorf("%d rows", n)
		}
		r.once()
	})
}
