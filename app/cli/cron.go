package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newCron(a *app) *cobra.Command {
	var all bool
	var agent string
	list := func(ctx context.Context, _ []string) error { return listJobs(ctx, a, agent, all) }
	listed := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List what is planned, what is next first",
		Args:    cobra.NoArgs,
		RunE:    a.run(list),
	}
	listed.Flags().BoolVar(&all, "all", false, "also those that are switched off, and Hearth's own")
	listed.Flags().StringVar(&agent, "agent", "", "only those of this assistant")
	toggle := func(use, short string, on bool) *cobra.Command {
		return &cobra.Command{Use: use + " JOB", Short: short, Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return enableJob(ctx, a, args[0], on) })}
	}
	c := group("cron", "See and change what happens by itself: reminders, and work at fixed times",
		listed,
		newCronAdd(a), newCronEdit(a),
		&cobra.Command{Use: "show JOB", Short: "Show a job, by its id or its name", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return showJob(ctx, a, args[0]) })},
		&cobra.Command{Use: "get JOB", Short: "Show a job as JSON", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error {
				j, err := findJob(ctx, a, args[0])
				if err != nil {
					return err
				}
				return a.out().json(j)
			})},
		toggle("enable", "Switch a job on", true), toggle("disable", "Switch a job off; it stays", false),
		&cobra.Command{Use: "remove JOB", Aliases: []string{"rm", "delete"}, Short: "Delete a job", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeJob(ctx, a, args[0]) })},
		newCronRun(a), newCronRuns(a), newCronScratch(a),
		&cobra.Command{Use: "status", Short: "Say whether jobs are run, and when the next one is due", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return cronStatus(ctx, a) })},
	)
	c.Aliases = []string{"automations"}
	c.RunE = a.run(list)
	return c
}

// noJob says that there is no such job.
func noJob(name string) error {
	return &failure{exitFailure, "there is no job " + line(name), "`hearth cron list --all` lists them with their ids"}
}

// eachJob pages through the jobs, until f says that it has enough.
func eachJob(ctx context.Context, c *client.Client, p protocol.CronListParams, f func(*protocol.CronJob) (more bool)) error {
	most := 200
	p.Limit = &most
	for {
		var res protocol.CronList
		if err := c.Call(ctx, protocol.MethodCronList, p, &res); err != nil {
			return err
		}
		for i := range res.Jobs {
			if !f(&res.Jobs[i]) {
				return nil
			}
		}
		if !res.HasMore || res.NextOffset == nil || *res.NextOffset <= p.Offset {
			return nil
		}
		p.Offset = *res.NextOffset
	}
}

// findJob finds a job by its id, the beginning of one, or its name.
func findJob(ctx context.Context, a *app, name string) (*protocol.CronJob, error) {
	c, j, err := dialJob(ctx, a, name, protocol.ScopeRead)
	if err != nil {
		return nil, err
	}
	c.Close()
	return j, nil
}

// dialJob connects with these rights and finds a job; the caller closes c.
func dialJob(ctx context.Context, a *app, name string, scopes ...protocol.Scope) (c *client.Client, j *protocol.CronJob, err error) {
	if c, err = a.dial(ctx, client.Options{Scopes: scopes}); err != nil {
		return nil, nil, err
	}
	if j, err = findJobBy(ctx, c, name); err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, j, nil
}

// isCalled: what somebody typed is the name of a job, or the beginning of its id.
func isCalled(typed, name, id string) bool {
	const enough = 4 // characters that tell a beginning from a word
	return strings.EqualFold(name, typed) || len(typed) >= enough && strings.HasPrefix(id, typed)
}

func findJobBy(ctx context.Context, c *client.Client, name string) (*protocol.CronJob, error) {
	var exact *protocol.CronJob
	var found []*protocol.CronJob
	err := eachJob(ctx, c, protocol.CronListParams{IncludeDisabled: true}, func(j *protocol.CronJob) bool {
		if j.ID == name {
			exact = j
			return false
		}
		if isCalled(name, j.Name, j.ID) {
			found = append(found, j)
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case exact != nil:
		return exact, nil
	case len(found) == 0:
		return nil, noJob(name)
	case len(found) > 1:
		return nil, &failure{exitUsage, count(len(found), "job") + " are called " + line(name), "say the id: `hearth cron list --all` shows them"}
	}
	return found[0], nil
}

func listJobs(ctx context.Context, a *app, agent string, all bool) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	jobs := []*protocol.CronJob{}
	p := protocol.CronListParams{IncludeDisabled: all, AgentID: agent}
	if err := eachJob(ctx, c, p, func(j *protocol.CronJob) bool { jobs = append(jobs, j); return true }); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(map[string]any{"jobs": jobs, "total": len(jobs)})
	}
	if len(jobs) == 0 {
		return a.out().print("Nothing is planned. `hearth cron add \"every weekday at 8\" \"Summarize my mail\"` plans something,\n" +
			"`hearth cron list --all` shows also what is switched off.\n")
	}
	now := time.Now()
	var rows [][]string
	for _, j := range jobs {
		name := text.Ellipsis(line(jobName(j)), 60)
		if j.Hearth != nil && j.Hearth.System {
			name += " [system]"
		}
		rows = append(rows, []string{shortID(j.ID), nextWords(j, now), scheduleWords(j, now), resultWords(j, now), name})
	}
	return a.out().table([]string{"ID", "NEXT", "SCHEDULE", "LAST", "NAME"}, rows)
}

func showJob(ctx context.Context, a *app, name string) error {
	j, err := findJob(ctx, a, name)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(j)
	}
	now := time.Now()
	rows := [][]string{
		{"id", j.ID}, {"schedule", scheduleWords(j, now)}, {"next", nextWords(j, now)}, {"last", resultWords(j, now)},
		{"does", payloadWords(j)}, {"session", j.SessionTarget}, {"result goes", deliveryWords(j.Delivery)},
	}
	if own := j.Hearth; own != nil {
		var next []string
		for _, at := range own.Next {
			next = append(next, moment(at, now))
		}
		if len(next) > 1 {
			rows = append(rows, []string{"then", strings.Join(next[1:], ", ")})
		}
		rows = appendSaid(rows, "zone", own.Zone)
		rows = appendSaid(rows, "careful", own.Warning)
		if c := own.CatchUp; c != nil {
			rows = append(rows, []string{"missed", catchUpWords(c)})
		}
		if w := own.Watching; w != nil {
			looked := "looked"
			if j.Schedule.Kind == protocol.CronStream {
				looked = "started"
			}
			rows = append(rows, []string{looked, moment(w.LookedAtMs, now)})
			rows = appendSaid(rows, "problem", w.Problem)
			if w.Problem != "" && w.NextLookAtMs > 0 {
				rows = append(rows, []string{"tried again", moment(w.NextLookAtMs, now)})
			}
		}
	}
	rows = appendSaid(rows, "error", j.State.LastError)
	if d := j.State.AutoDisabled; d != nil {
		rows = append(rows, []string{"switched off",
			"by itself at " + stamp(d.AtMs) + " after " + count(d.ConsecutiveErrors, "failure") + " in a row"})
	}
	if err := a.out().print(bold(line(jobName(j))), "\n"); err != nil {
		return err
	}
	for _, r := range rows {
		if err := a.out().print(dim(r[0]+strings.Repeat(" ", max(1, 14-len(r[0])))), line(r[1]), "\n"); err != nil {
			return err
		}
	}
	return nil
}

func appendSaid(rows [][]string, name, value string) [][]string {
	if value == "" {
		return rows
	}
	return append(rows, []string{name, value})
}

// updateJob changes a job and says so. A job that somebody else changed meanwhile
// is left alone.
func updateJob(ctx context.Context, a *app, name string,
	change func(*protocol.CronJob) (map[string]any, error)) (*protocol.CronJob, error) {
	c, j, err := dialJob(ctx, a, name, protocol.ScopeRead, protocol.ScopeAdmin)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	fields, err := change(j)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	p := protocol.CronUpdateParams{CronIDParams: protocol.CronIDParams{ID: j.ID}, Patch: patch, ExpectedConfigRevision: j.ConfigRevision}
	var res protocol.CronJob
	if err := c.Call(ctx, protocol.MethodCronUpdate, p, &res); err != nil {
		return nil, explainJob(err)
	}
	return &res, nil
}

// byFlags says what a job may say by the flags of the command.
var byFlags = strings.NewReplacer(
	"schedule.match", "--stream-match", "schedule.mode", "--stream-mode", "schedule.command", "--stream-command",
	"trigger.script", "--trigger-script", "payload.script", "--script", "payload.toolBudget", "--script-tool-budget",
	"payload.argv", "--command-argv", "payload.message", "--message", "payload.text", "--remind",
	"delivery.to", "--webhook", "delivery.mode", "--announce, --webhook or --no-deliver",
	"failureAlert.to", "--failure-alert-to", "failureAlert.mode", "--failure-alert-mode",
	"sessionTarget", "--session", "wakeMode", "--wake", "pacing.min", "--pacing-min", "pacing.max", "--pacing-max",
	"hearth.catchUp.mode", "--catch-up", "hearth.catchUp.within", "--catch-up-within",
)

// explainJob adds what to do to a refusal of the gateway.
func explainJob(err error) error {
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidRequest {
		return &failure{exitFailure, byFlags.Replace(refusalWords(refusal)),
			"`hearth cron add --help` shows what a job may say, `hearth cron list --all` what there is"}
	}
	return err
}

func enableJob(ctx context.Context, a *app, name string, on bool) error {
	j, err := updateJob(ctx, a, name, func(*protocol.CronJob) (map[string]any, error) { return map[string]any{"enabled": on}, nil })
	if err != nil {
		return err
	}
	if !on {
		return a.done(j, "Switched off: "+line(jobName(j))+". `hearth cron enable "+shortID(j.ID)+"` brings it back.")
	}
	return a.done(j, "Switched on: "+line(jobName(j))+". Next: "+nextWords(j, time.Now())+".")
}

func removeJob(ctx context.Context, a *app, name string) error {
	c, j, err := dialJob(ctx, a, name, protocol.ScopeRead, protocol.ScopeAdmin)
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.CronRemoved
	if err := c.Call(ctx, protocol.MethodCronRemove, protocol.CronIDParams{ID: j.ID}, &res); err != nil {
		return explainJob(err)
	}
	if !res.Removed {
		return noJob(name)
	}
	return a.done(res, "Deleted: "+line(jobName(j))+".")
}

func cronStatus(ctx context.Context, a *app) error {
	var res protocol.CronStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodCronStatus, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	words := "Jobs are run: there " + map[bool]string{true: "is ", false: "are "}[res.Jobs == 1] + count(res.Jobs, "job") + "."
	if !res.Enabled {
		words = "Jobs are switched off (`cron.enabled` in the settings): none is run, " + count(res.Jobs, "job") + " are kept."
	}
	if res.Waiting != "" {
		words += "\nJust now none is begun: " + line(res.Waiting)
	}
	if res.NextWakeAtMs != nil {
		words += "\nNext: " + moment(*res.NextWakeAtMs, time.Now()) + "."
	}
	return a.out().print(words, "\n")
}
