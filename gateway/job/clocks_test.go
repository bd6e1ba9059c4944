package job_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// world runs a test in a bubble of time, which begins at midnight of 1 January
// 2000, with a book that is up.
func world(t *testing.T, fn func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.up()
		fn(t, r)
		r.down()
	})
}

// Every slot runs once, at its instant, and says so.
func TestSlotsRunOnTime(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.add(every(10 * time.Minute))
		one := r.add(at(time.Now().Add(25 * time.Minute)))
		r.wait(65 * time.Minute)
		runs := r.runs()
		if len(runs) != 7 {
			t.Fatalf("%d runs, want 7", len(runs))
		}
		for _, run := range runs {
			if run.RunAtMs-run.Slot > 1000 || run.RunAtMs < run.Slot || run.Late || run.Status != protocol.CronOK {
				t.Errorf("%+v", run)
			}
		}
		if _, err := r.book.Get(one.ID); err == nil {
			t.Error("what was due once is still there after it ran")
		}
	})
}

// A laptop that sleeps over three slots does what the policy of each job says,
// within a minute of waking, and says so in one card.
func TestSleepOverThreeSlots(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		hourly := expr("0 * * * *", "UTC") // once by default, within half an hour
		hourly.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "once", Within: "6h"}}
		all := expr("30 * * * *", "UTC")
		all.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "all", Within: "6h"}}
		skip := expr("15 * * * *", "UTC")
		skip.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "skip"}}
		often := every(5 * time.Minute)
		ids := map[string]string{}
		for name, s := range map[string]protocol.CronSpec{
			"hourly": hourly, "all": all, "skip": skip, "often": often, "once": at(time.Now().Add(2 * time.Hour)),
		} {
			s.Name = name
			zero := int64(0)
			s.Schedule.StaggerMs = &zero
			ids[name] = r.add(s).ID
		}
		r.wait(time.Minute)
		r.sleep(3*time.Hour + 10*time.Minute) // over 01:00 02:00 03:00, 00:30 01:30 02:30, 00:15 01:15 02:15
		woke := r.now()
		r.wait(time.Minute)
		count, late := map[string]int{}, map[string]int{}
		for _, run := range r.runs() {
			if run.Status == protocol.CronOK && run.RunAtMs >= woke.UnixMilli() {
				count[run.JobName]++
				if run.Late {
					late[run.JobName]++
				}
				if run.RunAtMs-woke.UnixMilli() > 60_000 {
					t.Errorf("%s ran %d ms after waking", run.JobName, run.RunAtMs-woke.UnixMilli())
				}
			}
		}
		want := map[string]int{"hourly": 1, "all": 3, "once": 1}
		for name := range ids {
			if late[name] != want[name] {
				t.Errorf("%s ran late %d times, want %d (of %d)", name, late[name], want[name], count[name])
			}
		}
		if r.most > 2 {
			t.Errorf("%d runs were made up for at the same time", r.most)
		}
		m := r.book.Missed(func(int64) string { return "then" })
		if m.Cause != "slept" || m.Ask || len(m.Jobs) == 0 {
			t.Errorf("%+v", m)
		}
	})
}

// What each policy makes of the slots that a computer slept over: which are run, what
// the card says, and that the next slot is an ordinary one.
func TestCatchUpPolicies(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		began := time.Now()
		hour := func(h int) int64 { return began.Add(time.Duration(h) * time.Hour).UnixMilli() }
		once := began.Add(2 * time.Hour)
		cases := map[string]struct {
			spec          protocol.CronSpec
			mode, within  string
			run           []int64 // slots, one after the other
			stands        int     // how many others the last of them stands for
			late, skipped int     // slots, as the card says
		}{
			"once":             {spec: expr("0 * * * *", "UTC"), mode: "once", run: []int64{hour(3)}, stands: 2, late: 3},
			"once, in time":    {spec: expr("0 * * * *", "UTC"), mode: "once", within: "15m", run: []int64{hour(3)}, stands: 2, late: 3},
			"once, too late":   {spec: expr("0 * * * *", "UTC"), mode: "once", within: "5m", skipped: 3},
			"skip":             {spec: expr("0 * * * *", "UTC"), mode: "skip", skipped: 3},
			"all":              {spec: expr("0 * * * *", "UTC"), mode: "all", run: []int64{hour(1), hour(2), hour(3)}, late: 3},
			"all, some":        {spec: expr("0 * * * *", "UTC"), mode: "all", within: "2h", run: []int64{hour(2), hour(3)}, late: 2, skipped: 1},
			"all, too late":    {spec: expr("0 * * * *", "UTC"), mode: "all", within: "5m", skipped: 3},
			"hourly, unsaid":   {spec: expr("0 * * * *", "UTC"), run: []int64{hour(3)}, stands: 2, late: 3},
			"too late, unsaid": {spec: expr("30 * * * *", "UTC"), skipped: 3}, // 41 minutes ago, of which half an hour is made up for
			"often, unsaid":    {spec: every(20 * time.Minute), skipped: 9},
			"a moment":         {spec: at(once), run: []int64{once.UnixMilli()}, late: 1},
			"not missed":       {spec: expr("0 5 * * *", "UTC"), mode: "all"},
		}
		for name, c := range cases {
			zero := int64(0)
			c.spec.Name, c.spec.Schedule.StaggerMs = name, &zero
			if c.mode != "" {
				c.spec.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: c.mode, Within: c.within}}
			}
			r.add(c.spec)
		}
		r.wait(time.Minute)
		r.sleep(3*time.Hour + 10*time.Minute) // until 03:11
		woke := r.now().UnixMilli()
		r.wait(time.Minute)
		ran, last := map[string][]int64{}, map[string]job.Run{}
		for _, run := range r.runs() {
			if run.Status != protocol.CronOK {
				continue
			}
			if run.RunAtMs < woke || run.RunAtMs > woke+60_000 || !run.Late {
				t.Errorf("%s: slot %d at %d, late %v; it woke at %d", run.JobName, run.Slot, run.RunAtMs, run.Late, woke)
			}
			ran[run.JobName], last[run.JobName] = append(ran[run.JobName], run.Slot), run
		}
		card := r.book.Missed(func(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04") })
		told := map[string]int{}
		for _, row := range card.Jobs {
			if _, twice := told[row.Name+" "+row.Outcome]; twice {
				t.Errorf("%s stands in the card twice", row.Name)
			}
			told[row.Name+" "+row.Outcome] = row.Missed
		}
		for name, c := range cases {
			if !slices.Equal(ran[name], c.run) || last[name].Missed != c.stands {
				t.Errorf("%s: it ran for %d (and %d others), want %d (and %d)", name, ran[name], last[name].Missed, c.run, c.stands)
			}
			if told[name+" late"] != c.late || told[name+" skipped"] != c.skipped {
				t.Errorf("%s: the card says %v, want %d late and %d skipped", name, told, c.late, c.skipped)
			}
		}
		if card.Words != "I was asleep from 00:01 until 03:11: 6 ran late, 6 skipped." || card.Ask || card.Cause != "slept" {
			t.Errorf("%+v", card)
		}
		r.wait(2 * time.Hour) // over 04:00 and 05:00
		for _, run := range r.runs() {
			if run.RunAtMs > woke+60_000 && (run.Late || run.Missed > 0 || run.RunAtMs-run.Slot > 1000) {
				t.Errorf("afterwards: %+v", run)
			}
		}
		if again := r.book.Missed(func(int64) string { return "" }); again.ID != card.ID || len(again.Jobs) != len(card.Jobs) {
			t.Errorf("the card has changed: %+v", again)
		}
	})
}

// A job that makes up for all of its slots does so also when its runs take until the
// next one is due.
func TestAllSlotsAreMadeUpForSlowly(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		s := expr("0 * * * *", "UTC")
		zero := int64(0)
		s.Schedule.StaggerMs = &zero
		s.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: "all", Within: "6h"}}
		r.add(s)
		r.wait(time.Minute)
		r.mu.Lock()
		r.hold = make(chan struct{})
		r.mu.Unlock()
		r.sleep(3*time.Hour + 10*time.Minute) // until 03:11
		r.wait(70 * time.Minute)              // the first takes until 04:21
		close(r.hold)
		r.wait(time.Minute)
		var slots []string
		for _, run := range r.runs() {
			slots = append(slots, time.UnixMilli(run.Slot).UTC().Format("15:04"))
		}
		if want := []string{"01:00", "02:00", "03:00", "04:00"}; !slices.Equal(slots, want) {
			t.Errorf("it ran for %v, want %v", slots, want)
		}
	})
}

// A computer that falls asleep right after the clocks were looked at, and before what
// is due was, has slept all the same: its jobs do what they say about missed slots.
func TestSleepInTheMiddleOfATurn(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		each, none := expr("0 * * * *", "UTC"), expr("0 * * * *", "UTC")
		zero := int64(0)
		for name, s := range map[string]*protocol.CronSpec{"all": &each, "skip": &none} {
			s.Name, s.Schedule.StaggerMs = name, &zero
			s.Hearth = &protocol.CronOwn{CatchUp: &protocol.CronCatchUp{Mode: name, Within: "6h"}}
			r.add(*s)
		}
		r.wait(time.Minute)
		r.mu.Lock()
		r.turns = func() { r.sleep(3*time.Hour + 10*time.Minute) } // until 03:11
		r.mu.Unlock()
		r.book.Wake()
		r.wait(time.Minute)
		ran := map[string][]string{}
		for _, run := range r.runs() {
			what := time.UnixMilli(run.Slot).UTC().Format("15:04") + " " + run.Status
			ran[run.JobName] = append(ran[run.JobName], what)
		}
		want := []string{"01:00 ok", "02:00 ok", "03:00 ok"}
		if !slices.Equal(ran["all"], want) || !slices.Equal(ran["skip"], []string{"03:00 skipped"}) {
			t.Errorf("it ran for %v", ran)
		}
		if m := r.book.Missed(func(int64) string { return "then" }); m.Cause != "slept" || len(m.Jobs) != 2 {
			t.Errorf("the card: %+v", m)
		}
	})
}

// A clock that is set back never runs a slot again, and one that was far ahead
// leaves no job asleep for a year.
func TestClockSetBack(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		r.add(every(time.Hour))
		r.wait(3*time.Hour + time.Minute)
		before := len(r.began())
		r.turn(-2 * time.Hour)
		r.wait(110 * time.Minute)
		if n := len(r.began()); n != before {
			t.Errorf("%d runs of slots that were run before", n-before)
		}
		r.wait(70 * time.Minute)
		if n := len(r.began()); n != before+1 {
			t.Errorf("%d runs after the clock caught up, want 1", n-before)
		}
		seen := map[string]bool{}
		for _, id := range r.began() {
			if seen[id] {
				t.Errorf("%s ran twice", id)
			}
			seen[id] = true
		}
	})
}

// A clock that is set forward by an hour makes up for what was missed; by more
// than a day it asks first.
func TestClockSetForward(t *testing.T) {
	for _, by := range []time.Duration{90 * time.Minute, 50 * time.Hour} {
		world(t, func(t *testing.T, r *rig) {
			r.add(at(time.Now().Add(time.Hour)))
			r.wait(time.Minute)
			r.turn(by)
			r.wait(time.Minute)
			m := r.book.Missed(func(int64) string { return "then" })
			asks := by > 24*time.Hour
			if m.Ask != asks || len(r.began()) != map[bool]int{true: 0, false: 1}[asks] {
				t.Fatalf("%v: %+v, %d runs", by, m, len(r.began()))
			}
			if asks {
				if err := r.book.Resolve(t.Context(), m.ID, true); err != nil {
					t.Fatal(err)
				}
				r.wait(time.Second)
				if len(r.began()) != 1 {
					t.Errorf("%d runs after a yes", len(r.began()))
				}
			}
		})
	}
}

// A zone that is changed while Hearth runs moves what names no zone, and nothing
// else.
func TestZoneChanges(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		mine, fixed := r.add(expr("0 9 * * *", "")), r.add(expr("0 9 * * *", "UTC"))
		r.wait(time.Minute)
		east, err := time.LoadLocation("Asia/Tokyo")
		if err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.zone = east
		r.mu.Unlock()
		r.wait(31 * time.Second)
		m, _ := r.book.Get(mine.ID)
		f, _ := r.book.Get(fixed.ID)
		if at := time.UnixMilli(m.Next).In(east); at.Hour() != 9 {
			t.Errorf("in Tokyo it is due at %s", at)
		}
		if at := time.UnixMilli(f.Next).UTC(); at.Hour() != 9 {
			t.Errorf("with a zone of its own it is due at %s", at)
		}
	})
}

// Daylight saving: each named time is due once on the day of a change. Berlin
// leaves an hour out on 26 March 2000, Santiago has one twice on 11 March.
func TestDaylightSaving(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		zones := map[string]*time.Location{}
		for zone, e := range map[string]string{"Europe/Berlin": "30 2 * * *", "America/Santiago": "30 23 * * *"} {
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			zones[r.add(expr(e, zone)).ID] = loc
		}
		r.wait(90 * 24 * time.Hour)
		days := map[string]int{}
		for _, id := range r.began() {
			part := strings.Split(id, ":")
			slot, err := strconv.ParseInt(part[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			days[part[1]+time.UnixMilli(slot).In(zones[part[1]]).Format(time.DateOnly)]++
		}
		for id, loc := range zones {
			for d := time.Date(2000, 1, 2, 12, 0, 0, 0, loc); d.Month() < time.March || d.Day() < 28; d = d.AddDate(0, 0, 1) {
				if n := days[id+d.Format(time.DateOnly)]; n != 1 {
					t.Errorf("%d runs on %s in %s", n, d.Format(time.DateOnly), loc)
				}
			}
		}
	})
}

// A gateway that is started again and again asks no model before it worked for a
// minute, or somebody is there; and nothing runs twice.
func TestRestartLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.asks = true
		r.up()
		r.add(every(10 * time.Second))
		for range 5 {
			r.wait(20 * time.Second)
			r.stop()
			r.up()
		}
		if n := len(r.began()); n != 0 {
			t.Errorf("%d runs in a loop of restarts", n)
		}
		r.wait(61 * time.Second)
		if n := len(r.began()); n == 0 {
			t.Error("no run after a minute")
		}
		r.stop()
		r.up()
		n := len(r.began())
		r.book.Ready()
		r.wait(11 * time.Second)
		if len(r.began()) == n {
			t.Error("no run although somebody is there")
		}
		r.down()
	})
}
