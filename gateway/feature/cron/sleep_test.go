package cron_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// laptop is a computer whose clocks a test lets sleep: that on the wall and the time
// since it was started go on meanwhile, and the time by which timers go does not.
type laptop struct {
	began time.Time
	slept atomic.Int64
}

func (l *laptop) now() time.Time { return time.Now().Add(time.Duration(l.slept.Load())) }

func (l *laptop) booted() (time.Duration, bool) {
	return time.Since(l.began) + time.Duration(l.slept.Load()), true
}

// asleep is a gateway on such a computer.
func asleep(t *testing.T) (*gatewaytest.Peer, *laptop) {
	t.Helper()
	r, l := gatewaytest.New(t, "chat/echo"), &laptop{began: time.Now()}
	r.Shutdown()
	r.Now, r.Booted = l.now, l.booted
	r.Start()
	return r.Connect(), l
}

// sleep lets the computer sleep and wake, when somebody plans something, so that the
// gateway looks at its clocks at once. It says when it woke.
func (l *laptop) sleep(p *gatewaytest.Peer, d time.Duration) (woke time.Time) {
	l.slept.Add(int64(d))
	woke = l.now()
	addJob(p, protocol.CronSpec{
		Name: "afterwards", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: woke.Add(time.Hour).UTC().Format(time.RFC3339)},
		Payload:  protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "afterwards"},
	})
	return woke
}

// A laptop that slept over three slots does what each job's policy says, within a
// minute of waking, and says so in one card: a whole gateway, with what its person
// reads.
func TestTheLaptopSlept(t *testing.T) {
	p, l := asleep(t)
	begin := l.now()
	slot := func(n int) int64 { return begin.Add(time.Duration(n*60-30) * time.Minute).UnixMilli() }
	cases := map[string]struct {
		mode          string
		once          bool
		run           []int64
		late, skipped int
	}{
		"newest one":  {mode: "once", run: []int64{slot(3)}, late: 3},
		"each of all": {mode: "all", run: []int64{slot(1), slot(2), slot(3)}, late: 3},
		"none of all": {mode: "skip", skipped: 3},
		"unsaid":      {run: []int64{slot(3)}, late: 3},
		"a moment":    {once: true, run: []int64{slot(2)}, late: 1},
	}
	for name, c := range cases {
		anchor := slot(0)
		s := protocol.CronSpec{
			Name: name, SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
			Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: time.Hour.Milliseconds(), AnchorMs: &anchor},
			Payload:  protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: name},
		}
		if c.mode != "" {
			s.Hearth.CatchUp = &protocol.CronCatchUp{Mode: c.mode, Within: "6h"}
		}
		if c.once {
			s.Schedule = protocol.CronSchedule{Kind: protocol.CronAt, At: time.UnixMilli(slot(2)).UTC().Format(time.RFC3339Nano)}
		}
		addJob(p, s)
	}
	woke := l.sleep(p, 2*time.Hour+40*time.Minute)

	gatewaytest.WaitFor(t, "all that runs late", func() bool {
		n := 0
		for _, r := range allRuns(p) {
			if r.Status == protocol.CronOK && r.Hearth.State == "done" {
				n++
			}
		}
		return n == 6
	})
	var card protocol.CronMissed
	p.Do(protocol.MethodCronMissed, nil, &card)
	if len(card.Jobs) != len(cases) {
		t.Errorf("%d rows in the card, want %d: %+v", len(card.Jobs), len(cases), card)
	}
	ran := map[string][]int64{}
	for _, r := range allRuns(p) {
		if r.Status != protocol.CronOK {
			continue
		}
		ran[r.JobName] = append(ran[r.JobName], r.Hearth.SlotMs)
		if at := time.UnixMilli(r.RunAtMs); at.Before(woke.Truncate(time.Millisecond)) || at.Sub(woke) > time.Minute || !r.Hearth.Late {
			t.Errorf("%s ran %v after it woke, late: %v", r.JobName, at.Sub(woke), r.Hearth.Late)
		}
	}
	said := map[string]int{}
	for _, m := range p.History("main").Messages {
		for name := range cases {
			if strings.Contains(m.Text(), name) {
				said[name]++
				if !strings.Contains(m.Text(), "This was planned for") {
					t.Errorf("it does not say when it was due: %q", m.Text())
				}
			}
		}
	}
	rows := map[string]protocol.CronMissedJob{}
	for _, j := range card.Jobs {
		rows[j.Name] = j
	}
	for name, c := range cases {
		slices.Sort(ran[name])
		if !slices.EqualFunc(ran[name], c.run, func(a, b int64) bool { return a-b < 1000 && b-a < 1000 }) || said[name] != len(c.run) {
			t.Errorf("%s ran for %d and was said %d times, want %d", name, ran[name], said[name], c.run)
		}
		outcome := map[bool]string{true: "late", false: "skipped"}[c.late > 0]
		if row := rows[name]; row.Missed != c.late+c.skipped || row.Outcome != outcome {
			t.Errorf("%s in the card: %+v", name, row)
		}
	}
	if card.Cause != "slept" || card.Ask || !strings.HasPrefix(card.Words, "I was asleep from") {
		t.Errorf("the card: %+v", card)
	}
	p.Do(protocol.MethodCronMissedResolve, protocol.CronMissedParams{ID: card.ID}, nil)
	var gone protocol.CronMissed
	p.Do(protocol.MethodCronMissed, nil, &gone)
	if gone.ID != "" {
		t.Errorf("a card that was put away: %+v", gone)
	}
}

func allRuns(p *gatewaytest.Peer) []protocol.CronRun {
	p.T.Helper()
	limit := 200
	var runs protocol.CronRuns
	p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{Scope: "all", Limit: &limit}, &runs)
	return runs.Entries
}
