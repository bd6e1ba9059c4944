package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Times near now are said as people say them, others with their date.
func TestMomentsInWords(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC):  "today 15:00",
		time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC):   "tomorrow 00:00",
		time.Date(2026, 11, 22, 23, 59, 0, 0, time.UTC): "yesterday 23:59",
		time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC):   "Friday 09:00",
		time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC):  "Thu 24 Dec 18:00",
		time.Date(2027, 1, 1, 8, 5, 0, 0, time.UTC):     "1 Jan 2027 08:05",
		time.UnixMilli(0): "-",
	} {
		if got := moment(at.UnixMilli(), now); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

// A schedule without a flag is a length, an expression or words.
func TestPositionalSchedule(t *testing.T) {
	for said, want := range map[string]jobFlags{
		"every 10m": {every: "10m"}, "Every 2h": {every: "2h"}, "0 9 * * 1-5": {expr: "0 9 * * 1-5"}, "0 0 9 * * MON": {expr: "0 0 9 * * MON"},
		"20m": {at: "20m"}, "every weekday at 8": {at: "every weekday at 8"}, "next Friday at nine please": {at: "next Friday at nine please"},
	} {
		var f jobFlags
		if f.positional(said); f.at != want.at || f.every != want.every || f.expr != want.expr {
			t.Errorf("%q: at %q, every %q, cron %q", said, f.at, f.every, f.expr)
		}
	}
}

// What goes on is told as that, in the list too, and not as what never ran.
func TestWhatRunsIsToldAsRunning(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	for want, s := range map[string]protocol.CronJobState{
		"never ran":              {},
		"runs since today 14:05": {RunningAtMs: at(5 * time.Minute)},
		"failed today 13:10":     {RunningAtMs: at(5 * time.Minute), LastRunAtMs: at(time.Hour), LastRunStatus: protocol.CronError},
	} {
		if got := resultWords(&protocol.CronJob{State: s}, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := runningWords(at(90*time.Second), now), "still running, for 1 min 30 s now"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What goes on of one job is told by the job itself, which was asked for already; what the
// log has by then has ended, and a job that is gone does not run.
func TestWhatRunsOfAJobIsNotAskedForAgain(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	since := now.Add(-time.Minute).UnixMilli()
	job := &protocol.CronJob{ID: "one", CronSpec: protocol.CronSpec{Name: "tea"}, State: protocol.CronJobState{RunningAtMs: since}}
	p := protocol.CronRunsParams{CronIDParams: protocol.CronIDParams{ID: "one"}}
	before := protocol.CronRun{JobID: "one", RunAtMs: since - 1, Status: protocol.CronOK}
	for _, c := range []struct {
		job  *protocol.CronJob
		log  []protocol.CronRun
		want int
	}{
		{job, nil, 1},
		{job, []protocol.CronRun{before}, 1},
		{job, []protocol.CronRun{{JobID: "one", RunAtMs: since, Status: protocol.CronOK}, before}, 0},
		{&protocol.CronJob{ID: "one"}, nil, 0},
		{nil, nil, 0},
	} {
		rows, err := runningRows(t.Context(), nil, p, c.job, c.log, now) // without a client nobody can be asked
		if err != nil || len(rows) != c.want {
			t.Errorf("%+v with %+v: %v, %v", c.job, c.log, rows, err)
		}
	}
}

// A result that did not arrive is no success, unless the job says that it need not.
func TestUndelivered(t *testing.T) {
	for _, c := range []struct {
		status string
		d      *protocol.CronDelivery
		want   bool
	}{
		{protocol.CronDelivered, nil, false}, {protocol.CronNotRequested, nil, false}, {protocol.CronNotDelivered, nil, true},
		{protocol.CronNotDelivered, &protocol.CronDelivery{}, true}, {protocol.CronNotDelivered, &protocol.CronDelivery{BestEffort: true}, false},
	} {
		if got := undelivered(&protocol.CronRun{DeliveryStatus: c.status}, c.d); got != c.want {
			t.Errorf("%s %+v: %v", c.status, c.d, got)
		}
	}
}

// What becomes of times that were missed is shown in words.
func TestCatchUpInWords(t *testing.T) {
	for want, c := range map[string]protocol.CronCatchUp{
		"made up for once, unless it is longer ago than 6h": {Mode: "once", Within: "6h"},
		"left out": {Mode: "skip"}, "made up for, each of them": {Mode: "all"},
	} {
		if got := catchUpWords(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run counts as ended when its receipt is there, and says how it went.
func TestRunsAreSettledByTheirReceipt(t *testing.T) {
	for want, r := range map[string]protocol.CronRun{
		"still running": {},
		"done, on its way: hello": {
			Status: protocol.CronOK, DeliveryStatus: protocol.CronUnknown, Summary: "hello", Hearth: &protocol.CronRunOwn{State: "delivering"},
		},
		"done, delivered: hello": {
			Status: protocol.CronOK, DeliveryStatus: protocol.CronDelivered, Summary: "hello", Hearth: &protocol.CronRunOwn{State: "done"},
		},
		"done, nobody knows whether it arrived: hello": { // of another gateway
			Status: protocol.CronOK, DeliveryStatus: protocol.CronUnknown, Summary: "hello",
		},
	} {
		if got := runWords(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if done := settled(&r); done == (strings.Contains(want, "on its way") || strings.Contains(want, "still")) {
			t.Errorf("%q is settled: %v", want, done)
		}
	}
}

// Times of another zone than the terminal's are told with theirs; what is due next is told
// in the terminal's, by its name then.
func TestTimesOfAnotherZone(t *testing.T) {
	next := time.Date(2026, 11, 24, 7, 0, 0, 0, time.UTC)
	j := &protocol.CronJob{
		CronSpec: protocol.CronSpec{
			Schedule: protocol.CronSchedule{Kind: protocol.CronExpr},
			Hearth:   &protocol.CronOwn{Words: "every day at 08:00", Zone: "Europe/Berlin"},
		},
		State: protocol.CronJobState{NextRunAtMs: next.UnixMilli()},
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	for zone, want := range map[*time.Location][2]string{
		time.UTC: {"every day at 08:00 (Europe/Berlin)", "tomorrow 07:00 UTC"},
		berlin:   {"every day at 08:00", "tomorrow 08:00"},
	} {
		if got := [2]string{scheduleWords(j, now.In(zone)), nextWords(j, now.In(zone))}; got != want {
			t.Errorf("in %s: %q, want %q", zone, got, want)
		}
	}
	j.Schedule = protocol.CronSchedule{Kind: protocol.CronEvery}
	if got := scheduleWords(j, now); strings.Contains(got, "Berlin") {
		t.Errorf("a length of time has a zone: %q", got)
	}
}
