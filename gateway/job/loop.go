package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// look is how often the clocks are compared: a timer stands still while the
	// computer sleeps, so none may be long.
	look = 30 * time.Second
	// held is how often it is looked whether what holds runs back is over.
	held = time.Second
	// settleDown is how long a gateway has to work before it asks a model by itself,
	// unless somebody is there: one that crashes at once must not spend money each time.
	settleDown = time.Minute
	// grace is how late a slot may be without having been missed.
	grace = 2 * time.Second
	// noted is how often it is written down that the gateway works.
	noted = 10 * time.Minute
	// mostCounted is how many missed slots of a job are told apart. Of more, as
	// after a clock that was years off, the newest alone is made up for.
	mostCounted = 10_000
)

// Does is what jobs do. Its methods return soon; work goes on in the background.
type Does interface {
	// Begin makes the claim durable together with what it begins, then calls
	// c.Began. ErrTaken: somebody was faster.
	Begin(ctx context.Context, c *Claim) error
	// Resume goes on with a run that an earlier start, or Begin, left open.
	Resume(ctx context.Context, r Run)
	// Refuses says why a run of a job is not to be: it is noted as skipped. "" = it may.
	Refuses(j *Job) string
	// Asks reports whether a job asks a model.
	Asks(j *Job) bool
	// Waits says why a job does not begin now, and is tried again; "" = nothing
	// keeps it.
	Waits(j *Job) string
	// Tidy takes away what is old.
	Tidy(ctx context.Context)
}

// Run looks after the jobs until ctx ends.
func (b *Book) Run(ctx context.Context, does Does) error {
	l := &loop{Book: b, does: does, clocks: clocks{now: b.Now, awake: b.Awake}}
	if err := l.start(ctx); err != nil {
		return err
	}
	for {
		l.refresh(ctx)
		wait := l.turn(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-b.wake:
			timer.Stop()
		case <-timer.C:
		}
		if jump := l.clocks.look(); jump.any() {
			l.jumped(ctx, jump)
		}
	}
}

// loop is the one that looks after jobs; its fields belong to its goroutine.
type loop struct {
	*Book
	does    Does
	clocks  clocks
	resumed map[string]State // runs that were handed on, and at which stage
	noted   time.Time
	tidied  time.Time
	zone    string
	failing map[string]time.Time // jobs whose runs could not begin, until when they rest
	ahead   int64                // where a clock stood that was set back since, 0 for none
}

// start finds what happened while no gateway worked.
func (l *loop) start(ctx context.Context) error {
	var m meta
	if err := l.DB.View(func(tx *store.Tx) (err error) {
		m, _, err = l.t.meta.Get(tx, metaKey)
		return err
	}); err != nil {
		return err
	}
	now := l.clocks.look().now
	l.tidied = time.Now().Add(settleDown - time.Hour) // not in each start of many
	l.resumed, l.failing, l.zone = map[string]State{}, map[string]time.Time{}, l.Zone().String()
	l.mu.Lock()
	l.Book.awake, l.health = now.UnixMilli(), time.Now()
	l.mu.Unlock()
	switch {
	case m.Seen > now.UnixMilli()+ms(grace):
		l.wentBack(ctx, m.Seen)
	case m.Seen > 0 && now.UnixMilli()-m.Seen > ms(longAway):
		l.card(ctx, m.Seen, now.UnixMilli(), "clock", true)
	case m.Seen > 0:
		l.card(ctx, m.Seen, now.UnixMilli(), "off", false)
	}
	l.note(ctx, now)
	return nil
}

// Ready says that somebody is there: what asks a model may begin.
func (b *Book) Ready() {
	b.mu.Lock()
	was := b.ready
	b.ready = true
	b.mu.Unlock()
	if !was {
		b.Wake()
	}
}

// waiting says why a job has to wait; "" = it has not.
func (b *Book) waiting(j *Job, does Does) string {
	if does.Asks(j) && !b.settledDown() {
		return "Hearth has just started: what asks a model begins after a minute, or when somebody connects"
	}
	return does.Waits(j)
}

func (b *Book) settledDown() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ready && !b.health.IsZero() && time.Since(b.health) >= settleDown {
		b.ready = true
	}
	return b.ready
}

// refresh hands on the runs that an earlier start, or a transaction of somebody
// else, left at another stage.
func (l *loop) refresh(ctx context.Context) {
	var all []Run
	err := l.DB.View(func(tx *store.Tx) error {
		all = nil
		for row, err := range l.t.open.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			r, ok, err := l.t.runs.Get(tx, row.Key)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, r)
			}
		}
		return nil
	})
	if err != nil {
		l.Logger.Error("the open runs of jobs could not be read", "err", err)
		return
	}
	seen := map[string]State{}
	l.mu.Lock()
	clear(l.open)
	for _, r := range all {
		l.open[r.RunID] = r
	}
	l.mu.Unlock()
	for _, r := range all {
		if l.resumed[r.RunID] != r.Stage {
			l.does.Resume(ctx, r)
		}
		seen[r.RunID] = r.Stage
	}
	l.resumed = seen
}

// turn begins what was due when the clocks were last looked at, and says how long to
// wait. What became due since, by a computer that fell asleep at this moment, is for
// the next look, which knows that it slept.
func (l *loop) turn(ctx context.Context) time.Duration {
	limits := l.Limits()
	now := l.clocks.wall
	if z := l.Zone().String(); z != l.zone {
		l.zone = z
		l.zoned(ctx)
	}
	if now.Sub(l.noted) > noted || l.noted.After(now) {
		l.note(ctx, now)
	}
	if time.Since(l.tidied) > time.Hour {
		l.tidied = time.Now()
		l.does.Tidy(ctx)
		l.prune(ctx, limits)
	}
	if !limits.On {
		return look
	}
	due, next := l.due(now.UnixMilli())
	wait := look
	if next > 0 {
		wait = min(wait, max(time.Duration(next-l.Now().UnixMilli())*time.Millisecond, time.Millisecond))
	}
	if l.begin(ctx, due, limits, now.UnixMilli()) {
		wait = min(wait, held)
	}
	return wait
}

// due are the jobs that are due, the oldest slot first, and the next moment at
// which one is.
func (l *loop) due(now int64) (due []*Job, next int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, j := range l.jobs {
		switch at := j.due(); {
		case at == 0 || l.asked[j.ID]:
		case at <= now:
			due = append(due, j)
		case next == 0 || at < next:
			next = at
		}
	}
	slices.SortFunc(due, func(a, b *Job) int { return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.ID, b.ID)) })
	return due, next
}

// begin begins what may begin now; more is true when something has to wait.
func (l *loop) begin(ctx context.Context, due []*Job, limits Limits, now int64) (more bool) {
	busy, running, late := map[string]bool{}, 0, 0
	l.mu.RLock()
	for _, r := range l.open {
		if r.Stage == Delivering {
			continue
		}
		busy[r.JobID] = true
		running++
		if r.Late {
			late++
		}
	}
	since := l.Book.awake
	l.mu.RUnlock()
	for _, j := range due {
		if ctx.Err() != nil {
			return false
		}
		if running >= limits.AtOnce { // of many that are due nobody is asked in vain
			return true
		}
		if busy[j.ID] || l.failing[j.ID].After(l.Now()) {
			more = true
			continue
		}
		if l.waiting(j, l.does) != "" {
			more = true
			continue
		}
		if j.plan == nil && j.timed() {
			l.unplanned(ctx, j)
			continue
		}
		step := l.step(j, now, since, limits)
		switch {
		case step.skip:
			l.pass(ctx, j, step)
		case step.late && late >= limits.Late:
			more = true
		case l.one(ctx, j, step):
			running++
			if step.late {
				late++
			}
		default:
			more = true
		}
	}
	return more
}

// one begins a run.
func (l *loop) one(ctx context.Context, j *Job, s step) bool {
	if why := l.does.Refuses(j); why != "" {
		s.skip, s.why, s.missed = true, why, s.missed+1
		l.pass(ctx, j, s)
		return false
	}
	c := l.claim(*j, s.slot)
	c.Run.Late, c.Run.Missed = s.late, s.missed
	begin := l.does.Begin
	if c.Run.Stage == Ended { // there is nothing to do but to tell it
		begin = l.conclude
	}
	err := begin(ctx, c)
	switch {
	case err == nil:
		if s.late {
			l.missedOne(ctx, *j, s, c.Run.RunID)
		}
		delete(l.failing, j.ID)
		return true
	case errors.Is(err, ErrTaken):
		l.skipTaken(ctx, j)
	case ctx.Err() == nil:
		l.Logger.Warn("a job could not begin, and is tried again", "job", j.ID, "err", err)
		l.failing[j.ID] = l.Now().Add(look)
	}
	return false
}

// conclude makes a claim durable that is a failure already.
func (l *loop) conclude(ctx context.Context, c *Claim) error {
	err := c.Commit(ctx)
	if err == nil {
		l.Wake()
	}
	return err
}

// unplanned disables a job whose schedule cannot be read any more, such as one of
// a zone that is gone.
func (l *loop) unplanned(ctx context.Context, j *Job) {
	now, err := l.edit(ctx, j.ID, func(j *Job) error {
		if j.BadTimes++; j.BadTimes < mostBadTimes {
			j.NotBefore = l.Now().Add(look).UnixMilli()
			return nil
		}
		j.State.LastError = "Its schedule cannot be read on this computer any more."
		j.disable(protocol.CronScheduleErrors, j.BadTimes, l.Now().UnixMilli())
		return nil
	})
	if err != nil {
		l.Logger.Warn("a job without a schedule could not be disabled", "job", j.ID, "err", err)
		l.failing[j.ID] = l.Now().Add(look)
		return
	}
	l.tell(protocol.CronEvent{JobID: j.ID, Action: "updated"}, &now)
}

// skipTaken moves a job behind a slot that was run before.
func (l *loop) skipTaken(ctx context.Context, j *Job) {
	_, err := l.edit(ctx, j.ID, func(now *Job) error {
		if now.Next != j.Next {
			return nil
		}
		now.Slot = now.Next
		if now.Next = 0; now.plan != nil {
			now.Next, _ = now.plan.Next(now.Slot)
		}
		return nil
	})
	if err != nil {
		l.Logger.Warn("a job could not be moved on", "job", j.ID, "err", err)
	}
}

// pass notes that slots were left out, and moves the job on.
func (l *loop) pass(ctx context.Context, j *Job, s step) {
	c := l.claim(*j, s.slot)
	c.Run.Missed = s.missed
	err := l.Book.pass(ctx, c, s.why)
	switch {
	case errors.Is(err, ErrTaken):
		l.skipTaken(ctx, j)
	case err != nil:
		l.Logger.Warn("a slot could not be left out", "job", j.ID, "err", err)
		l.failing[j.ID] = l.Now().Add(look)
	case s.late:
		l.missedOne(ctx, *j, s, "")
	}
}

// note writes down that the gateway works.
func (l *loop) note(ctx context.Context, now time.Time) {
	l.noted = now
	l.mu.RLock()
	some := len(l.jobs) > 0
	m := meta{Seen: now.UnixMilli(), Missed: l.missed}
	l.mu.RUnlock()
	if !some {
		return
	}
	if err := l.DB.Post(ctx, store.Write{Do: func(tx *store.Tx) error { return l.t.meta.Put(tx, metaKey, m) }}); err != nil {
		l.Logger.Debug("it could not be noted that jobs are looked after", "err", err)
	}
}
