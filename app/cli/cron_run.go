package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

type cronRunOptions struct {
	due, wait     bool
	timeout, poll time.Duration
}

func newCronRun(a *app) *cobra.Command {
	var o cronRunOptions
	c := &cobra.Command{Use: "run JOB", Short: "Run a job now; its next time stays as it is", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runJob(ctx, a, o, args[0]) })}
	c.Flags().BoolVar(&o.due, "due", false, "only when it is due")
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until it is done, and fail when it failed")
	c.Flags().DurationVar(&o.timeout, "wait-timeout", 10*time.Minute, "how long to wait at most")
	c.Flags().DurationVar(&o.poll, "poll-interval", 2*time.Second, "how often to look")
	return c
}

func runJob(ctx context.Context, a *app, o cronRunOptions, name string) error {
	if o.poll <= 0 || o.timeout < 0 {
		return usage("--poll-interval and --wait-timeout are lengths of time, such as 2s and 10m")
	}
	c, j, err := dialJob(ctx, a, name, protocol.ScopeRead, protocol.ScopeAdmin)
	if err != nil {
		return err
	}
	defer c.Close()
	id := protocol.CronIDParams{ID: j.ID}
	p := protocol.CronRunParams{CronIDParams: id, Mode: "force"}
	if o.due {
		p.Mode = "due"
	}
	var res protocol.CronRunStarted
	if err := c.Call(ctx, protocol.MethodCronRun, p, &res); err != nil {
		return explainJob(err)
	}
	if !res.Enqueued && (res.Ran == nil || !*res.Ran) {
		reason := map[string]string{
			"not-due": "it is not due yet", "already-running": "it runs already", "disabled": "it is switched off",
			"invalid-spec": "what it says cannot be run", "stopped": "Hearth is stopping or paused",
		}[res.Reason]
		if reason == "" {
			reason = res.Reason
		}
		return &failure{
			exitFailure,
			"the job was not begun: " + line(reason),
			"`hearth cron show " + shortID(j.ID) + "` shows it; without --due it runs at any time",
		}
	}
	if !o.wait {
		return a.done(res, "Begun. `hearth cron runs "+shortID(j.ID)+"` shows how it goes.")
	}
	run, err := waitForRun(ctx, c, id, res.RunID, o)
	if err != nil {
		return err
	}
	if a.asJSON {
		err = a.out().json(map[string]any{
			"ok": true, "completed": true, "runId": res.RunID, "status": run.Status, "completionStatus": run.CompletionStatus, "run": run,
		})
	} else {
		err = a.out().print(line(runWords(run)), "\n")
	}
	if err == nil && (run.Status != protocol.CronOK || run.CompletionStatus == "failed") {
		return &failure{exitFailure, "the run failed: " + line(run.Error+run.DeliveryError), "`hearth cron runs " + shortID(j.ID) + "` has more"}
	}
	if err == nil && undelivered(run, j.Delivery) {
		return &failure{exitFailure, "the run is done, and its result did not arrive: " + line(cmp.Or(run.DeliveryError, "nobody knows why")),
			"`hearth cron show " + shortID(j.ID) + "` says where it goes, `hearth cron edit " + shortID(j.ID) + " --help` how to change that"}
	}
	return err
}

// undelivered reports whether a result did not arrive that was to arrive.
func undelivered(r *protocol.CronRun, d *protocol.CronDelivery) bool {
	return r.DeliveryStatus == protocol.CronNotDelivered && (d == nil || !d.BestEffort)
}

// waitForRun looks until a run has ended and it is known what became of its result:
// a network's receipt comes after the answer.
func waitForRun(ctx context.Context, c *client.Client, id protocol.CronIDParams, runID string,
	o cronRunOptions) (*protocol.CronRun, error) {
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	one, open := 1, ""
	for {
		var res protocol.CronRuns
		err := c.Call(limited, protocol.MethodCronRuns, protocol.CronRunsParams{CronIDParams: id, RunID: runID, Limit: &one}, &res)
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			return nil, &failure{
				exitFailure,
				"the run " + line(runID) + " is not done yet" + open,
				"it goes on; `hearth cron runs` shows it when it is done",
			}
		case err != nil:
			return nil, err
		case len(res.Entries) > 0 && settled(&res.Entries[0]):
			return &res.Entries[0], nil
		case len(res.Entries) > 0 && res.Entries[0].Status != "":
			open = ": it has ended, and its result is still on its way"
		}
		select {
		case <-limited.Done():
		case <-time.After(o.poll):
		}
	}
}

// settled reports whether nothing is left to be done for a run.
func settled(r *protocol.CronRun) bool {
	return r.Status != "" && (r.Hearth == nil || r.Hearth.State == "" || r.Hearth.State == "done")
}

func newCronRuns(a *app) *cobra.Command {
	var p protocol.CronRunsParams
	limit := 20
	c := &cobra.Command{Use: "runs [JOB]", Short: "Show how a job went, or all of them, the newest first", Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			p.Limit = &limit
			return listRuns(ctx, a, p, args)
		})}
	f := c.Flags()
	f.IntVarP(&limit, "limit", "n", limit, "at most this many, 200 at most")
	f.IntVar(&p.Offset, "offset", 0, "leave out so many")
	f.StringVar(&p.ID, "id", "", "the job, instead of naming it")
	f.StringVar(&p.RunID, "run-id", "", "only this run")
	f.StringVar(&p.Status, "status", "", "only ok, error or skipped")
	f.StringVar(&p.DeliveryStatus, "delivery-status", "", "only delivered, not-delivered, unknown or not-requested")
	f.StringVar(&p.Query, "query", "", "only with these words in the result or the error")
	f.StringVar(&p.SortDir, "sort", "", "asc for the oldest first")
	return c
}

func listRuns(ctx context.Context, a *app, p protocol.CronRunsParams, args []string) error {
	if *p.Limit < 1 || *p.Limit > 200 {
		return usage("--limit must be between 1 and 200")
	}
	if err := wrongSift(p); err != nil {
		return err
	}
	name := p.ID
	if len(args) == 1 {
		if name != "" && name != args[0] {
			return usage("one job at a time: %s or --id %s", line(args[0]), line(name))
		}
		name = args[0]
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	p.Scope = "all"
	var job *protocol.CronJob // nil: all of them, or one that is gone
	if name != "" {
		p.Scope = "job"
		job, err = findJobBy(ctx, c, name)
		var gone *failure
		switch {
		case err == nil:
			p.ID = job.ID
		case errors.As(err, &gone) && gone.code == exitFailure:
			if p.ID, err = ranAs(ctx, c, name); err != nil {
				return err
			}
		default:
			return err
		}
	}
	var res protocol.CronRuns
	if err := c.Call(ctx, protocol.MethodCronRuns, p, &res); err != nil {
		return explainJob(err)
	}
	if a.asJSON {
		return a.out().json(res)
	}
	now := time.Now()
	rows, err := runningRows(ctx, c, p, job, res.Entries, now)
	if err != nil {
		return err
	}
	if len(res.Entries)+len(rows) == 0 {
		if sifts(p) {
			return a.out().print("No run is like that.\n")
		}
		return a.out().print("No run yet.\n")
	}
	for i := range res.Entries {
		r := &res.Entries[i]
		took := "-"
		if r.DurationMs != nil {
			took = span(time.Duration(*r.DurationMs) * time.Millisecond)
		}
		rows = append(rows, []string{moment(began(r), now), took, runCost(r),
			text.Ellipsis(line(r.JobName), 30), text.Ellipsis(line(runWords(r)), 90)})
	}
	if err := a.out().table([]string{"WHEN", "TOOK", "COST", "JOB", "RESULT"}, rows); err != nil {
		return err
	}
	if res.HasMore && res.NextOffset != nil {
		return a.errs().print(dim(fmt.Sprintf("There are %d; --offset %d shows more.", res.Total, *res.NextOffset)), "\n")
	}
	return nil
}

// wrongSift refuses to look for runs of a kind that there is not.
func wrongSift(p protocol.CronRunsParams) error {
	for _, only := range []struct {
		flag, value string
		may         []string
	}{
		{"--status", p.Status, []string{"", "all", protocol.CronOK, protocol.CronError, protocol.CronSkipped}},
		{"--delivery-status", p.DeliveryStatus, []string{
			"", protocol.CronDelivered, protocol.CronNotDelivered, protocol.CronUnknown, protocol.CronNotRequested,
		}},
		{"--sort", p.SortDir, []string{"", "asc", "desc"}},
	} {
		if !slices.Contains(only.may, only.value) {
			return usage("%s is %s, not %s", only.flag, orWords(only.may[1:]), line(only.value))
		}
	}
	return nil
}

// sifts reports whether only some runs are asked for.
func sifts(p protocol.CronRunsParams) bool {
	return p.Status != "" && p.Status != "all" || p.DeliveryStatus != "" || p.Query != "" || p.RunID != "" || p.Offset > 0
}

// runningRows are the runs that go on just now, which the log has when they are over: of
// the one job that is asked for, which was found already, or of all of them. One that ended
// while all this was asked is in the log, and not here too.
func runningRows(ctx context.Context, c *client.Client, p protocol.CronRunsParams, only *protocol.CronJob, log []protocol.CronRun,
	now time.Time) (rows [][]string, err error) {
	row := func(j *protocol.CronJob) bool {
		since := j.State.RunningAtMs
		over := slices.ContainsFunc(log, func(r protocol.CronRun) bool { return r.JobID == j.ID && r.RunAtMs == since && r.Status != "" })
		if since > 0 && !over {
			rows = append(rows, []string{moment(since, now), "-", "-", text.Ellipsis(line(jobName(j)), 30), runningWords(since, now)})
		}
		return true
	}
	switch {
	case sifts(p) || p.ID != "" && only == nil: // one that is gone does not run
	case only != nil:
		row(only)
	default:
		err = eachJob(ctx, c, protocol.CronListParams{IncludeDisabled: true}, row)
	}
	return rows, err
}

// runningWords says that a run goes on, and for how long it has.
func runningWords(since int64, now time.Time) string {
	if d := now.Sub(time.UnixMilli(since)); d >= time.Second {
		return "still running, for " + span(d.Truncate(time.Second)) + " now"
	}
	return "still running"
}

// ranAs finds a job that is gone in the log of all runs, by its id, the beginning
// of one, or its name; of several of one name it is the one that ran last.
func ranAs(ctx context.Context, c *client.Client, name string) (id string, err error) {
	most := 200
	var res protocol.CronRuns
	p := protocol.CronRunsParams{Scope: "all", Query: name, Limit: &most}
	if err := c.Call(ctx, protocol.MethodCronRuns, p, &res); err != nil {
		return "", explainJob(err)
	}
	for i := range res.Entries {
		if r := &res.Entries[i]; isCalled(name, r.JobName, r.JobID) {
			return r.JobID, nil
		}
	}
	return "", noJob(name)
}

// began is when a run began, or was written down.
func began(r *protocol.CronRun) int64 {
	if r.RunAtMs == 0 {
		return r.TS
	}
	return r.RunAtMs
}

// runWords says how a run went.
func runWords(r *protocol.CronRun) string {
	words := map[string]string{
		"": "still running", protocol.CronOK: "done", protocol.CronError: "failed", protocol.CronSkipped: "left out",
	}[r.Status]
	if r.Hearth != nil && r.Hearth.Late {
		words += ", late"
	}
	switch r.DeliveryStatus {
	case protocol.CronDelivered:
		words += ", delivered"
	case protocol.CronNotDelivered:
		words += ", not delivered"
	case protocol.CronUnknown:
		if settled(r) {
			words += ", nobody knows whether it arrived"
		} else {
			words += ", on its way"
		}
	}
	for _, said := range []string{r.Error, r.DeliveryError, r.Summary} {
		if said != "" {
			return words + ": " + said
		}
	}
	return words
}

type scratchOptions struct {
	set, file string
	unset     bool
	revision  int64
}

func newCronScratch(a *app) *cobra.Command {
	var o scratchOptions
	c := &cobra.Command{Use: "scratch JOB", Short: "Show or replace what a job keeps from one run to the next", Args: cobra.ExactArgs(1)}
	c.RunE = a.run(func(ctx context.Context, args []string) error {
		if !c.Flags().Changed("expected-revision") {
			o.revision = -1
		}
		return jobScratch(ctx, a, o, c.Flags().Changed("set"), args[0])
	})
	c.Flags().StringVar(&o.set, "set", "", "replace it with this text")
	c.Flags().StringVar(&o.file, "file", "", "replace it with a file; - is the standard input")
	c.Flags().BoolVar(&o.unset, "unset", false, "forget it")
	c.Flags().Int64Var(&o.revision, "expected-revision", -1, "only if it is still this revision")
	c.MarkFlagsMutuallyExclusive("set", "file", "unset")
	return c
}

// maxScratch is what the gateway keeps for a job.
const maxScratch = 256 << 10

func jobScratch(ctx context.Context, a *app, o scratchOptions, set bool, name string) error {
	c, j, err := dialJob(ctx, a, name, protocol.ScopeRead, protocol.ScopeAdmin)
	if err != nil {
		return err
	}
	defer c.Close()
	id := protocol.CronIDParams{ID: j.ID}
	var res protocol.CronScratchState
	if err := c.Call(ctx, protocol.MethodCronScratchGet, id, &res); err != nil {
		return explainJob(err)
	}
	if !set && o.file == "" && !o.unset {
		if a.asJSON {
			return a.out().json(res)
		}
		if res.Scratch == nil {
			return a.errs().print(dim("It keeps nothing."), "\n")
		}
		return a.out().print(res.Scratch.Content)
	}
	p := protocol.CronScratchSetParams{CronIDParams: id, Content: &o.set, ExpectedRevision: &res.CurrentRevision}
	if o.revision >= 0 {
		p.ExpectedRevision = &o.revision
	}
	switch {
	case o.unset:
		p.Content = nil
	case o.file != "":
		content, err := a.readAll(o.file, maxScratch)
		if err != nil {
			return err
		}
		p.Content = &content
	}
	if err := c.Call(ctx, protocol.MethodCronScratchSet, p, &res); err != nil {
		return explainJob(err)
	}
	if res.OK != nil && !*res.OK {
		return &failure{
			exitFailure,
			fmt.Sprintf("it was changed meanwhile, and is revision %d now", res.CurrentRevision),
			"look at it again, then try again",
		}
	}
	return a.done(res, "Kept.")
}

// readAll reads a text file, or with - the standard input, of at most so many bytes.
func (a *app) readAll(path string, most int64) (string, error) {
	in := a.input()
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", &failure{exitUsage, line(path) + " cannot be read: " + cause(err).Error(),
				"name a file that can be read, or - for the standard input"}
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(b)) > most {
		return "", usage("%s is larger than %s", path, size(most))
	}
	return string(b), nil
}
