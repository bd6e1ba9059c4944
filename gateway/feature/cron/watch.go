package cron

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	watchLook  = 5 * time.Second  // how often it is looked whether programs may run
	fireEvery  = 30 * time.Second // how often the lines of a program begin a run at most
	fireAgain  = time.Second
	shortLife  = time.Minute // a program that ends before has failed
	mostShort  = 5           // in a row: it is not started again
	lastWords  = 2000        // of a program that ended
	statusRuns = "running"
	statusRest = "restarting"
	statusGone = "error"
)

// watched is a program that runs because a job waits for its lines or its end.
type watched struct {
	f     *feature
	id    string
	name  string
	spec  protocol.CronSpec
	mark  string // what it was started for: another one is another program
	since int64  // the activation of the schedule
	stop  context.CancelFunc
	done  chan struct{}
	fired time.Time
}

// markOf tells one program of a job from the next.
func markOf(j *job.Job) string {
	raw, _ := json.Marshal(j.Schedule) // a struct of text and numbers
	return fmt.Sprint(j.State.ScheduleActivatedAtMs, string(raw))
}

// watchPrograms keeps the programs running that jobs wait for, until ctx ends.
func (f *feature) watchPrograms(ctx context.Context) {
	running := map[string]*watched{}
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(watchLook)
	defer tick.Stop()
	for {
		want := f.toWatch()
		for id, w := range running {
			if j, ok := want[id]; !ok || markOf(&j) != w.mark {
				w.stop()
				<-w.done
				delete(running, id)
			}
		}
		for id, j := range want {
			if running[id] != nil || len(running) >= maxWatched {
				continue
			}
			own, stop := context.WithCancel(ctx)
			w := &watched{
				f: f, id: id, name: j.Name, spec: j.CronSpec, mark: markOf(&j), since: j.Activated(), stop: stop, done: make(chan struct{}),
			}
			running[id] = w
			all.Go(func() {
				defer close(w.done)
				w.run(own, j.State)
			})
		}
		select {
		case <-ctx.Done():
			for _, w := range running {
				w.stop()
			}
			return
		case <-f.kick:
		case <-tick.C:
		}
	}
}

// toWatch are the jobs that wait for a program.
func (f *feature) toWatch() map[string]job.Job {
	out := map[string]job.Job{}
	if s := f.settings(); !s.Enabled || !s.Triggers || f.Pause.Check(pause.UseTool) != nil {
		return out
	}
	all, _ := f.book.All()
	for _, j := range all {
		over := j.Schedule.Kind == protocol.CronOnExit && j.Next != 0 // it has ended, and its run is to begin
		if j.On() && watches(&j.CronSpec) && !j.State.StreamExhausted && !over {
			out[j.ID] = *j
		}
	}
	return out
}

// run runs the program: once, or again whenever it ends.
func (w *watched) run(ctx context.Context, was protocol.CronJobState) {
	if w.spec.Schedule.Kind == protocol.CronOnExit {
		w.once(ctx, was)
		return
	}
	for short := 0; ctx.Err() == nil; {
		began := time.Now()
		w.note(ctx, func(s *protocol.CronJobState) {
			s.StreamStatus, s.StreamError, s.StreamLastStartedAtMs = statusRuns, "", w.f.Now().UnixMilli()
		})
		words := w.lines(ctx)
		if ctx.Err() != nil {
			return
		}
		if short++; time.Since(began) >= shortLife {
			short = 0
		}
		gone := short >= mostShort
		w.note(ctx, func(s *protocol.CronJobState) {
			s.StreamStatus, s.StreamError, s.StreamFailures, s.StreamLastExitAtMs = statusRest, words, short, w.f.Now().UnixMilli()
			if s.StreamExhausted = gone; gone {
				s.StreamStatus = statusGone
			}
		})
		if gone {
			w.happened(ctx, job.Item{Last: true, Problem: fmt.Sprintf(
				"The program that it watches ended %d times within a minute of its start, and is not started again. %s", short, words)})
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(job.BackOff(max(short, 1))):
		}
	}
}

// once waits for the end of a program. One that was begun before a start of Hearth
// ended with Hearth, and is not started a second time by itself.
func (w *watched) once(ctx context.Context, was protocol.CronJobState) {
	if was.StreamLastStartedAtMs > was.ScheduleActivatedAtMs {
		w.happened(ctx, job.Item{Last: true, Problem: "Hearth stopped while the command ran, which ended with it. " +
			"It is not started a second time by itself: enable the job to do so."})
		return
	}
	w.note(ctx, func(s *protocol.CronJobState) {
		s.StreamStatus, s.StreamLastStartedAtMs = statusRuns, max(w.f.Now().UnixMilli(), s.ScheduleActivatedAtMs+1)
	})
	c, err := w.start(ctx)
	if err != nil {
		w.happened(ctx, job.Item{Last: true, Problem: protocol.Sentence(err.Error())})
		return
	}
	select {
	case <-ctx.Done():
		c.Stop()
		<-c.Done()
		return
	case <-c.Done():
	}
	out, exit := c.Output(), c.Info().Exit
	_ = w.f.Execution.Processes.Remove(w.owner(), c.ID())
	text := strings.TrimSpace(strings.ToValidUTF8(string(out.Head)+string(out.Tail), ""))
	if len(text) > lastWords {
		text = strings.ToValidUTF8(text[len(text)-lastWords:], "")
	}
	w.happened(ctx, job.Item{Last: true, Text: strings.TrimSpace(endWords(exit) + "\n" + text)})
}

func endWords(exit process.Exit) string {
	if exit.Signal != "" {
		return "The command was ended by " + exit.Signal + "."
	}
	return fmt.Sprintf("The command ended with code %d.", exit.Code)
}

func (w *watched) owner() string { return "job:" + w.id }

// start starts the program, as the commands of jobs are.
func (w *watched) start(ctx context.Context) (*process.Process, error) {
	argv, err := watchedArgs(w.spec.Schedule)
	if err != nil {
		return nil, err
	}
	s, err := w.f.commandSpec(&w.spec, argv, w.spec.Schedule.Cwd)
	if err != nil {
		return nil, err
	}
	s.Owner, s.Title = w.owner(), w.name
	s.Env = append(s.Env, "HEARTH_JOB="+w.id)
	return w.f.startCommand(ctx, s)
}

// lines begins runs with what the program prints, until it ends; it says how it
// ended.
func (w *watched) lines(ctx context.Context) string {
	match, err := matcher(w.spec.Schedule)
	if err != nil {
		return protocol.Sentence(err.Error())
	}
	c, err := w.start(ctx)
	if err != nil {
		return "The program could not be started: " + protocol.Sentence(err.Error())
	}
	defer func() { _ = w.f.Execution.Processes.Remove(w.owner(), c.ID()) }()
	b := &batch{match: match, most: int(w.spec.Schedule.MaxBatch)}
	quiet := time.Duration(w.spec.Schedule.BatchMs) * time.Millisecond
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	read := func() {
		out := c.Next()
		b.feed(out.Head)
		if out.Dropped > 0 {
			b.gap()
		}
		b.feed(out.Tail)
	}
	for {
		select {
		case <-ctx.Done():
			c.Stop()
			<-c.Done()
			return ""
		case <-c.Done():
			read()
			b.end()
			for b.waits() && ctx.Err() == nil && !w.give(ctx, b) {
				select {
				case <-ctx.Done():
				case <-time.After(fireAgain):
				}
			}
			return endWords(c.Info().Exit)
		case <-c.More():
			if read(); b.waits() {
				timer.Reset(map[bool]time.Duration{true: 0, false: quiet}[b.full])
			}
		case <-timer.C:
			if b.waits() && !w.give(ctx, b) {
				timer.Reset(fireAgain)
			}
		}
	}
}

// give notes a batch, once the one before has been dealt with; false: not now.
func (w *watched) give(ctx context.Context, b *batch) bool {
	if time.Since(w.fired) < fireEvery || !w.f.book.Idle(w.id) || !w.try(ctx, job.Item{Text: b.words()}) {
		return false
	}
	w.fired = time.Now()
	b.given()
	return true
}

// happened notes what happened, as soon as that is possible.
func (w *watched) happened(ctx context.Context, it job.Item) {
	for !w.try(ctx, it) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(fireAgain):
		}
	}
}

// try notes what happened; false: it may be tried again.
func (w *watched) try(ctx context.Context, it job.Item) bool {
	err := w.f.book.Happened(ctx, w.id, w.since, []job.Item{it}, nil)
	switch {
	case err == nil, errors.Is(err, job.ErrNotFound), errors.Is(err, job.ErrChanged): // or nobody waits for it any more
		return true
	case ctx.Err() == nil:
		w.f.Logger.Warn("what a job waits for could not be noted, and is tried again", "job", w.id, "err", err)
	}
	return false
}

func (w *watched) note(ctx context.Context, note func(*protocol.CronJobState)) {
	j, err := w.f.book.Get(w.id)
	if err == nil {
		err = w.f.book.Watched(ctx, w.id, j.Revision, note)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, job.ErrNotFound) {
		w.f.Logger.Warn("it could not be noted how a watched program stands", "job", w.id, "err", err)
	}
}

// roomToWatch refuses one more program when as many are watched as may be.
func (f *feature) roomToWatch(s *protocol.CronSpec, id string) error {
	if !watches(s) || s.Enabled != nil && !*s.Enabled {
		return nil
	}
	all, _ := f.book.All()
	n := 0
	for _, j := range all {
		if j.ID != id && j.On() && watches(&j.CronSpec) {
			n++
		}
	}
	if n >= maxWatched {
		return fmt.Errorf("%d jobs watch a program already, and no more do at once; disable or remove one", cmp.Or(n, maxWatched))
	}
	return nil
}
