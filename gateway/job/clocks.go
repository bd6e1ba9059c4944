package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// leap is how far clocks may part before something happened to them.
	leap = 2 * time.Second
	// farAhead is how far the clock may be set forward without a question.
	farAhead = 24 * time.Hour
	// longAway is after how long without a gateway the clock is asked about.
	longAway = 30 * 24 * time.Hour
)

// clocks compares the clock on the wall with the time that the computer was on,
// awake and asleep.
type clocks struct {
	now   func() time.Time
	awake func() (time.Duration, bool)

	wall time.Time // as they were last
	mono time.Time
	boot time.Duration
	has  bool
}

// jump is what the clocks did since they were last looked at.
type jump struct {
	now   time.Time
	from  time.Time     // the wall before
	slept time.Duration // the computer did
	moved time.Duration // the clock was set, forward or back
}

func (j jump) any() bool { return j.slept > 0 || j.moved != 0 }

// look compares them. Where the system does not tell how long it slept, a clock
// that went ahead by less than a day is taken for sleep.
func (c *clocks) look() (j jump) {
	wall, mono, boot, has := c.read()
	j.now, j.from = wall, c.wall
	if !c.wall.IsZero() {
		ran, passed := mono.Sub(c.mono), wall.Sub(c.wall)
		if has && c.has {
			if d := boot - c.boot - ran; d > leap {
				j.slept = d
			}
			passed -= max(ran, boot-c.boot)
		} else if passed -= ran; passed > leap && passed < farAhead {
			j.slept, passed = passed, 0
		}
		if passed > leap || passed < -leap {
			j.moved = passed
		}
	}
	c.wall, c.mono, c.boot, c.has = wall, mono, boot, has
	return j
}

// read reads all of them at one moment: when the computer fell asleep in between,
// once more.
func (c *clocks) read() (wall, mono time.Time, boot time.Duration, has bool) {
	for range 3 {
		wall, mono = c.now().Round(0), time.Now()
		boot, has = c.awake()
		if d := c.now().Round(0).Sub(wall); d > -leap && d < leap {
			break
		}
	}
	return wall, mono, boot, has
}

// jumped: the computer slept, or its clock was set.
func (l *loop) jumped(ctx context.Context, j jump) {
	now := j.now.UnixMilli()
	l.Logger.Info("the clocks have parted", "slept", j.slept, "set", j.moved)
	switch {
	case j.moved < 0:
		l.wentBack(ctx, j.from.UnixMilli())
		if j.slept == 0 {
			return
		}
	case j.moved > farAhead && l.ahead > 0 && now >= l.ahead && now-l.ahead < ms(longAway):
		l.cameBack(ctx)
		return
	case j.moved > farAhead:
		l.since(now)
		l.card(ctx, j.from.UnixMilli(), now, "clock", true)
		return
	}
	l.since(now)
	cause := "slept"
	if j.moved > j.slept {
		cause = "clock"
	}
	l.card(ctx, j.from.UnixMilli(), now, cause, false)
}

// since says from when on slots were not missed.
func (l *loop) since(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Book.awake = now
}

// wentBack: what is planned was computed by a clock that was ahead, at from. Slots
// that were run are not run again, and what waits for a word because of that clock
// waits no longer.
func (l *loop) wentBack(ctx context.Context, from int64) {
	now := l.Now().UnixMilli()
	l.since(now)
	l.ahead = max(l.ahead, from)
	l.mu.Lock()
	clear(l.asked)
	l.missed.Ask = false
	l.missed.Jobs = slices.DeleteFunc(slices.Clone(l.missed.Jobs), func(j protocol.CronMissedJob) bool { return j.Outcome == "asking" })
	l.mu.Unlock()
	l.each(ctx, func(tx *store.Tx, j *Job) bool {
		if !j.timed() && j.NotBefore > now+ms(time.Hour) {
			j.NotBefore = 0
			return true
		}
		if j.plan == nil || j.plan.Once() || !j.On() {
			return false
		}
		next, ok := l.unrun(tx, j, now)
		if !ok || next >= j.Next {
			return false
		}
		j.Next = next
		if j.NotBefore > now+ms(time.Hour) {
			j.NotBefore = 0
		}
		return true
	})
	l.note(ctx, l.Now())
}

// cameBack: a clock that was set back, as by a computer that begins in 1970 and
// asks the network a moment later, is where it was. There were no slots between.
func (l *loop) cameBack(ctx context.Context) {
	from, now := l.ahead, l.Now().UnixMilli()
	l.ahead = 0
	l.since(now)
	l.each(ctx, func(tx *store.Tx, j *Job) bool {
		if j.plan == nil || j.plan.Once() || !j.On() || j.Next >= from {
			return false
		}
		next, ok := l.unrun(tx, j, from)
		if ok {
			j.Next, j.NotBefore = next, 0
		}
		return ok
	})
	l.card(ctx, from, now, "clock", false)
}

// unrun is the first slot after a moment that was not run.
func (b *Book) unrun(tx *store.Tx, j *Job, after int64) (next int64, ok bool) {
	next, ok = j.plan.Next(after)
	for range 1000 {
		if !ok || !b.t.ids.Has(tx, []byte(RunID(j.ID, next, 0))) {
			break
		}
		next, ok = j.plan.Next(next)
	}
	return next, ok
}

// zoned: the person's zone is another one. Expressions that name none follow it.
func (l *loop) zoned(ctx context.Context) {
	now := l.Now().UnixMilli()
	l.each(ctx, func(tx *store.Tx, j *Job) bool {
		if j.Schedule.Kind != protocol.CronExpr || j.Schedule.TZ != "" || j.plan == nil || !j.On() {
			return false
		}
		next, ok := l.unrun(tx, j, now)
		if !ok || next == j.Next || j.Next <= now {
			return false
		}
		j.Next = next
		return true
	})
}

// each changes jobs in one transaction.
func (l *loop) each(ctx context.Context, change func(tx *store.Tx, j *Job) bool) {
	l.mu.RLock()
	ids := make([]string, 0, len(l.jobs))
	for id := range l.jobs {
		ids = append(ids, id)
	}
	l.mu.RUnlock()
	var changed []Job
	err := l.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		changed = nil
		for _, id := range ids {
			j, ok, err := l.t.jobs.Get(tx, []byte(id))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			l.compile(&j)
			if !change(tx, &j) {
				continue
			}
			j.Writes++
			if err := l.t.jobs.Put(tx, []byte(id), j); err != nil {
				return err
			}
			changed = append(changed, j)
		}
		return nil
	}})
	if err != nil {
		l.Logger.Error("jobs could not be planned anew", "err", err)
		return
	}
	for _, j := range changed {
		l.keep(j, true)
		l.tell(protocol.CronEvent{JobID: j.ID, Action: "updated", NextRunAtMs: j.Planned()}, &j)
	}
}

// card begins the card of what was missed between two moments. With ask, what
// was missed waits for a word.
func (l *loop) card(ctx context.Context, from, to int64, cause string, ask bool) {
	defer l.note(ctx, l.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed.ID == "" || len(l.missed.Jobs) == 0 {
		l.missed = protocol.CronMissed{ID: l.NewID(), FromMs: from, Jobs: []protocol.CronMissedJob{}}
	}
	l.missed.ToMs, l.missed.Cause = to, cause
	if !ask {
		return
	}
	for _, j := range l.jobs {
		if at := j.due(); at == 0 || at > to || j.System {
			continue
		}
		l.asked[j.ID], l.missed.Ask = true, true
		n := 1
		if j.plan != nil {
			n, _ = j.plan.Count(j.Next-1, to, mostCounted)
		}
		row := protocol.CronMissedJob{JobID: j.ID, Name: j.Name, Missed: max(n, 1), Outcome: "asking", SlotMs: j.Next}
		l.missed.Jobs = append(l.missed.Jobs, row)
	}
}

// missedOne adds to the card what became of a job's missed slots.
func (l *loop) missedOne(ctx context.Context, j Job, s step, runID string) {
	if j.System {
		return // nobody planned it
	}
	row := protocol.CronMissedJob{JobID: j.ID, Name: j.Name, Missed: s.missed + 1, Outcome: "late", SlotMs: s.slot, RunID: runID}
	if s.skip {
		row.Outcome, row.Missed = "skipped", s.missed
	}
	l.mu.Lock()
	if l.missed.ID == "" {
		l.missed = protocol.CronMissed{ID: l.NewID(), FromMs: s.slot, ToMs: l.Now().UnixMilli(), Cause: "off"}
	}
	l.missed.Jobs = withMissed(l.missed.Jobs, row)
	l.mu.Unlock()
	l.note(ctx, l.Now())
	l.Changed(protocol.CronEvent{Action: "missed"})
}

// withMissed adds what became of missed slots: one row for what became the same of
// those of a job.
func withMissed(rows []protocol.CronMissedJob, row protocol.CronMissedJob) []protocol.CronMissedJob {
	rows = slices.Clone(rows)
	for i := range rows {
		if r := &rows[i]; r.JobID == row.JobID && r.Outcome == row.Outcome {
			row.Missed += r.Missed
			*r = row
			return rows
		}
	}
	if len(rows) < 200 {
		rows = append(rows, row)
	}
	return rows
}

// Missed is the card of what was missed; its ID is "" when nothing was.
func (b *Book) Missed(st func(ms int64) string) protocol.CronMissed {
	b.mu.RLock()
	defer b.mu.RUnlock()
	m := b.missed
	if len(m.Jobs) == 0 {
		return protocol.CronMissed{Jobs: []protocol.CronMissedJob{}}
	}
	m.Jobs = append([]protocol.CronMissedJob(nil), m.Jobs...)
	late, skipped := 0, 0
	for _, j := range m.Jobs {
		switch j.Outcome {
		case "late":
			late++
		case "skipped":
			skipped++
		}
	}
	m.Words = map[string]string{"slept": "I was asleep", "clock": "The clock was moved", "off": "I was off"}[m.Cause] +
		fmt.Sprintf(" from %s until %s", st(m.FromMs), st(m.ToMs))
	var what []string
	for _, w := range []struct {
		n    int
		text string
	}{{late, "ran late"}, {skipped, "skipped"}, {len(m.Jobs) - late - skipped, "waiting for your word"}} {
		if w.n > 0 {
			what = append(what, fmt.Sprintf("%d %s", w.n, w.text))
		}
	}
	m.Words += ": " + strings.Join(what, ", ") + "."
	return m
}

// Resolve puts the card away; run says whether what waits for a word is made up
// for.
func (b *Book) Resolve(ctx context.Context, id string, run bool) error {
	b.mu.Lock()
	if b.missed.ID != id {
		b.mu.Unlock()
		return ErrNotFound
	}
	asked := b.asked
	b.asked, b.missed = map[string]bool{}, protocol.CronMissed{}
	b.mu.Unlock()
	for jobID := range asked {
		if run {
			continue
		}
		_, err := b.edit(ctx, jobID, func(j *Job) error {
			now := b.Now().UnixMilli()
			if j.plan == nil || j.Next > now {
				return nil
			}
			j.Slot, j.Next = j.Next, 0
			j.Next, _ = j.plan.Next(now)
			if j.plan.Once() {
				off := false
				j.Enabled = &off
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		return b.t.meta.Put(tx, metaKey, meta{Seen: b.Now().UnixMilli()})
	}})
	b.Wake()
	return err
}
