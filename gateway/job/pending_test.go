package job_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func watched() protocol.CronSpec {
	return protocol.CronSpec{Schedule: protocol.CronSchedule{
		Kind: protocol.CronWatch, Watch: &protocol.CronWatched{Source: protocol.WatchFile, Path: "/x"},
	}}
}

func (r *rig) happens(j job.Job, titles ...string) error {
	var events []job.Item
	for _, t := range titles {
		events = append(events, job.Item{Title: t})
	}
	return r.book.Happened(r.t.Context(), j.ID, j.Activated(), events, nil)
}

func (r *rig) mustHappen(j job.Job, titles ...string) {
	r.t.Helper()
	if err := r.happens(j, titles...); err != nil {
		r.t.Fatal(err)
	}
	r.wait(time.Second)
}

// What happens is one run; what happens during it waits, and is the next, also when
// the clock was set back; nothing happened: nothing is run.
func TestWhatHappensIsRunOnce(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(watched())
		r.wait(24 * time.Hour)
		if n := len(r.runs()); n != 0 {
			t.Fatalf("%d runs of nothing", n)
		}
		r.hold = make(chan struct{})
		r.mustHappen(j, "a", "b")
		r.turn(-365 * 24 * time.Hour)
		r.mustHappen(j, "c")
		r.mustHappen(j, "d")
		open := r.book.Running(j.ID)
		if len(open) != 1 || len(open[0].Items) != 2 || open[0].Late {
			t.Fatalf("open: %+v", open)
		}
		close(r.hold)
		r.wait(time.Minute)
		if runs := r.runs(); len(runs) != 2 || runs[0].Items != nil {
			t.Errorf("runs: %+v", runs)
		}
		if now, err := r.book.Get(j.ID); err != nil || now.Next != 0 {
			t.Errorf("it is due again: %v %+v", err, now)
		}
	})
}

// What was noticed survives a start; what fails for a passing reason is tried
// again with the same events.
func TestWhatHappenedIsNotLost(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(watched())
		r.waits = "paused"
		r.asks = true
		r.mustHappen(j, "a")
		r.stop()
		r.up()
		r.wait(2 * time.Minute)
		r.mu.Lock()
		r.waits, r.refuse = "", "timeout"
		r.mu.Unlock()
		r.wait(time.Hour)
		runs := r.runs()
		if len(runs) != 4 || runs[3].Attempt != 3 || runs[3].Slot != runs[0].Slot {
			t.Fatalf("runs: %+v", runs)
		}
		r.mu.Lock()
		r.refuse = ""
		r.mu.Unlock()
		r.mustHappen(j, "b")
		r.wait(time.Hour)
		if runs := r.runs(); len(runs) != 5 || runs[4].Status != protocol.CronOK {
			t.Errorf("runs: %+v", runs)
		}
	})
}

// What was noticed for a schedule that was changed, or of a job that is off, does
// not count; so much waits and no more.
func TestWhatHappenedForAnotherSchedule(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(watched())
		r.waits, r.asks = "paused", true
		r.mustHappen(j, "a")
		now, err := r.book.Update(t.Context(), j.ID, 0, func(s *protocol.CronSpec) error {
			s.Schedule.Watch = &protocol.CronWatched{Source: protocol.WatchFile, Path: "/y"}
			return nil
		})
		if err != nil || now.Next != 0 {
			t.Fatalf("%v %+v", err, now)
		}
		if err := r.happens(j, "b"); !errors.Is(err, job.ErrChanged) {
			t.Errorf("noticed for the old one: %v", err)
		}
		many := make([]string, 1000)
		r.mustHappen(now, many...)
		if err := r.happens(now, "one more"); !errors.Is(err, job.ErrPending) {
			t.Errorf("one more: %v", err)
		}
		r.mu.Lock()
		r.waits = ""
		r.mu.Unlock()
		r.wait(2 * time.Hour)
		if n := len(r.runs()); n != 20 {
			t.Errorf("%d runs of 1,000 events, want 20 of 50", n)
		}
	})
}

func stream() protocol.CronSpec {
	return protocol.CronSpec{Schedule: protocol.CronSchedule{Kind: protocol.CronStream, Command: json.RawMessage(`["x"]`)}}
}

// The last that can happen disables the job; a failure is a run of its own, after
// what happened before it, and nothing is begun for it.
func TestTheLastThatHappens(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(stream())
		note := func(it job.Item) error { return r.book.Happened(t.Context(), j.ID, j.Activated(), []job.Item{it}, nil) }
		r.hold = make(chan struct{})
		if !r.book.Idle(j.ID) {
			t.Error("it is not idle before anything happened")
		}
		for _, it := range []job.Item{{Text: "a"}, {Text: "b"}, {Last: true, Problem: "it is gone"}} {
			if err := note(it); err != nil {
				t.Fatal(err)
			}
			r.wait(time.Second)
		}
		if open := r.book.Running(j.ID); len(open) != 1 || len(open[0].Items) != 1 || r.book.Idle(j.ID) {
			t.Errorf("open: %+v", open)
		}
		close(r.hold)
		r.wait(time.Minute)
		now, err := r.book.Get(j.ID)
		if err != nil || now.On() || now.State.LastError != "it is gone" || now.State.RunningAtMs != 0 {
			t.Errorf("%v %+v", err, now)
		}
		runs := r.runs()
		if len(runs) != 3 || runs[1].Status != protocol.CronOK || runs[2].CompletionStatus != protocol.CronUnknown || len(r.began()) != 2 {
			t.Errorf("%d were begun; runs: %+v", len(r.began()), runs)
		}
		if err := note(job.Item{Text: "c"}); !errors.Is(err, job.ErrChanged) {
			t.Errorf("after the last: %v", err)
		}
	})
}

// What happened is on disk before a run begins: a start later it is run, once.
func TestFault_F_CRON_01_WhatHappenedOutlastsAKill(t *testing.T) {
	world(t, func(t *testing.T, r *rig) {
		j := r.add(stream())
		r.mu.Lock()
		r.waits = "paused"
		r.mu.Unlock()
		if err := r.book.Happened(t.Context(), j.ID, j.Activated(), []job.Item{{Text: "it ended with code 0", Last: true}}, nil); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		r.stop()
		r.mu.Lock()
		r.waits = ""
		r.mu.Unlock()
		for range 2 {
			r.up()
			r.wait(time.Minute)
			if now, err := r.book.Get(j.ID); err != nil || now.On() || len(r.runs()) != 1 || r.runs()[0].Status != protocol.CronOK {
				t.Errorf("%v %+v, runs: %+v", err, now, r.runs())
			}
			r.stop()
		}
		r.up()
	})
}
