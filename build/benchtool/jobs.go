package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	jobCount = 1000
	jobIdle  = 20 * time.Second
	jobSlots = 40 // reminders of which each has a moment of its own
)

// measureJobs has a gateway do nothing with a thousand jobs, and reads their list
// while all of them are due at once and ask a model.
func measureJobs(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	g, err := b.startGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	c, err := g.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	idle, err := g.idleWithJobs(ctx, c)
	if err != nil {
		return nil, err
	}
	late, err := slotsToRuns(ctx, c)
	if err != nil {
		return nil, err
	}
	lists, err := listWhileDue(ctx, c)
	if err != nil {
		return nil, err
	}
	out := []figure{
		{name: fmt.Sprintf("%d jobs, none due: processor", jobCount), measured: idle * 100, budget: 0.1, unit: "%", work: true,
			note: fmt.Sprintf("of one processor, over %v", jobIdle)},
		{name: "from a slot to its run, p95", measured: quantile(late, 0.95), budget: 1000, unit: "ms",
			note: fmt.Sprintf("p50 %.2f ms, %d reminders beside the thousand", quantile(late, 0.5), len(late))},
		{name: fmt.Sprintf("%d jobs due at once: cron.list, p95", jobCount), measured: quantile(lists, 0.95), budget: 20, unit: "ms",
			note: fmt.Sprintf("p50 %.2f ms, %d calls while they ask a model", quantile(lists, 0.5), len(lists))},
	}
	for _, p := range []part{
		{"gateway/job", "BenchmarkClaim", 1000, "a slot is claimed", 2, "ms"},
		{"gateway/cronexpr", "BenchmarkNext", 20_000, "the next time of an expression", 2, "µs"},
	} {
		out = append(out, p.figure(ctx))
	}
	return out, nil
}

// slotsToRuns is how long after its slot each of some reminders began, which are due
// one after the other.
func slotsToRuns(ctx context.Context, c *client.Client) (late []time.Duration, err error) {
	const apart = 250 * time.Millisecond
	due := time.Now().Add(3 * time.Second)
	for i := range jobSlots {
		spec := protocol.CronSpec{
			Name: "slot", SessionTarget: protocol.CronMain, WakeMode: protocol.CronWakeNow,
			Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: due.Add(time.Duration(i) * apart).UTC().Format(time.RFC3339Nano)},
			Payload:  protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "slot"},
			Hearth:   &protocol.CronOwn{Reminder: true},
		}
		if err := c.Call(ctx, protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: spec}, nil); err != nil {
			return nil, err
		}
	}
	if d := time.Since(due); d > 0 {
		return nil, fmt.Errorf("the reminders were added too slowly, by %v", d)
	}
	limit := 2 * jobSlots
	for end := due.Add(time.Minute); time.Now().Before(end); {
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
		var runs protocol.CronRuns
		if err := c.Call(ctx, protocol.MethodCronRuns, protocol.CronRunsParams{Scope: "all", Limit: &limit}, &runs); err != nil {
			return nil, err
		}
		late = nil
		for _, r := range runs.Entries {
			if r.JobName == "slot" && r.Hearth != nil {
				late = append(late, time.Duration(r.RunAtMs-r.Hearth.SlotMs)*time.Millisecond)
			}
		}
		if len(late) == jobSlots {
			return late, nil
		}
	}
	return nil, fmt.Errorf("%d of %d reminders ran within a minute", len(late), jobSlots)
}

// idleWithJobs is the share of a processor that a gateway takes whose jobs are due
// some other day.
func (g *gateway) idleWithJobs(ctx context.Context, c *client.Client) (float64, error) {
	for i := range jobCount {
		s := protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: int64(48*3600+i) * 1000}
		if i%2 == 0 {
			s = protocol.CronSchedule{Kind: protocol.CronAt, At: time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)}
		}
		if err := addBenchJob(ctx, c, i, s); err != nil {
			return 0, err
		}
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return 0, err
	}
	before, err := g.cpu()
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, jobIdle); err != nil {
		return 0, err
	}
	after, err := g.cpu()
	return (after - before).Seconds() / jobIdle.Seconds(), err
}

func addBenchJob(ctx context.Context, c *client.Client, i int, s protocol.CronSchedule) error {
	return c.Call(ctx, protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: protocol.CronSpec{
		Name: fmt.Sprintf("bench %d", i), Schedule: s, SessionTarget: protocol.CronIsolated, WakeMode: protocol.CronWakeNow,
		Payload:  protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "look"},
		Delivery: &protocol.CronDelivery{Mode: protocol.CronDeliverNone},
	}}, nil)
}

// listWhileDue makes a thousand more jobs that are due at one moment, and reads the
// list from then on until all of them have ended.
func listWhileDue(ctx context.Context, c *client.Client) ([]time.Duration, error) {
	due := time.Now().Add(15 * time.Second)
	for i := range jobCount {
		s := protocol.CronSchedule{Kind: protocol.CronAt, At: due.UTC().Format(time.RFC3339Nano)}
		if err := addBenchJob(ctx, c, jobCount+i, s); err != nil {
			return nil, err
		}
	}
	if late := time.Since(due); late > 0 {
		return nil, fmt.Errorf("the jobs were added too slowly, by %v", late)
	}
	if err := pause(ctx, time.Until(due)); err != nil {
		return nil, err
	}
	var took []time.Duration
	for end := due.Add(3 * time.Minute); time.Now().Before(end); {
		var list protocol.CronList
		began := time.Now()
		if err := c.Call(ctx, protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		if list.Total <= jobCount {
			return took, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("not all jobs that were due have ended within three minutes")
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
