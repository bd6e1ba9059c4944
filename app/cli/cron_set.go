package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// jobFlags are what a job may say, by the flags of OpenClaw's command.
type jobFlags struct {
	name, displayName, description, agent, session, sessionKey, wake string

	at, every, expr, tz, onExit, onExitCwd                     string
	stagger, pacingMin, pacingMax                              string
	streamCommand, streamCwd, streamMode, streamMatch, trigger string
	streamBatch, streamBytes                                   int64
	exact, once, deleteAfter, keepAfter, disabled, enabled     bool

	message, remind, systemEvent, script, command, argv, commandCwd, input string
	model, thinking, fallbacks, tools                                      string
	env                                                                    []string
	timeout, quiet, scriptTimeout                                          float64
	maxOutput                                                              int64
	toolBudget                                                             int
	light                                                                  bool

	announce, noDeliver, bestEffort        bool
	webhook, channel, to, thread, account  string
	catchUp, catchUpWithin, declarationKey string
	maxCost, maxCostDay                    float64
	important                              bool
}

const cronTimes = `TIME is a length of time ("20m"), a time ("2026-12-24 18:00", of your zone unless it says
another one) or words ("Friday at nine", "am Freitag um neun", "周五九点").`

func newCronAdd(a *app) *cobra.Command {
	var f jobFlags
	c := &cobra.Command{
		Use:     "add [SCHEDULE] [PROMPT]",
		Aliases: []string{"create"},
		Short:   "Plan something: a reminder, or work at fixed times",
		Args:    cobra.MaximumNArgs(2),
		Long: "Plan something: a reminder, or work at fixed times.\n\n" + cronTimes +
			"\nSCHEDULE is one of those, a cron expression of five or six fields, or “every …”.",
		Example: "  hearth cron add \"every weekday at 8\" \"Summarize my mail\"\n" +
			"  hearth cron add --at 20m --remind \"The tea is ready\"\n" +
			"  hearth cron add --cron \"0 9 * * 1\" --tz Europe/Vienna --message \"Plan the week\" --announce",
	}
	f.register(c)
	c.Flags().StringVar(&f.declarationKey, "declaration-key", "", "a name for programs: adding it again changes that job")
	c.Flags().BoolVar(&f.disabled, "disabled", false, "leave it switched off")
	c.RunE = a.run(func(ctx context.Context, args []string) error { return addJob(ctx, a, c, &f, args) })
	return c
}

func newCronEdit(a *app) *cobra.Command {
	var f jobFlags
	forget := map[string]*bool{}
	c := &cobra.Command{
		Use:   "edit JOB",
		Short: "Change a job; what is not named stays",
		Args:  cobra.ExactArgs(1),
		Long:  "Change a job; what is not named stays.\n\n" + cronTimes,
	}
	f.register(c)
	c.Flags().BoolVar(&f.enabled, "enable", false, "switch it on")
	c.Flags().BoolVar(&f.disabled, "disable", false, "switch it off")
	for _, what := range cleared() {
		forget[what.flag] = c.Flags().Bool("clear-"+what.flag, false, "forget "+what.words)
	}
	failureFlags(c)
	c.RunE = a.run(func(ctx context.Context, args []string) error {
		j, err := updateJob(ctx, a, args[0], func(j *protocol.CronJob) (map[string]any, error) { return f.patch(ctx, a, c, j, forget) })
		if err != nil {
			return err
		}
		return a.done(j, "Changed: "+line(jobName(j))+" ("+scheduleWords(j, time.Now())+"). Next: "+nextWords(j, time.Now())+".")
	})
	return c
}

// register gives a command the flags that add and edit share.
func (f *jobFlags) register(c *cobra.Command) {
	s, b := c.Flags().StringVar, c.Flags().BoolVar
	s(&f.name, "name", "", "what to call it")
	s(&f.displayName, "display-name", "", "what to show as its name")
	s(&f.description, "description", "", "a note about it")
	s(&f.agent, "agent", "", "which assistant does it")
	s(&f.session, "session", "", "where: main, isolated (a fresh conversation each time), current, session:KEY")
	s(&f.sessionKey, "session-key", "", "the conversation that it belongs to")
	s(&f.wake, "wake", "", "now, or next-heartbeat")
	s(&f.at, "at", "", "once, at TIME")
	s(&f.every, "every", "", "again and again, such as 10m, 2h, 1d")
	s(&f.expr, "cron", "", "by a cron expression of five or six fields")
	s(&f.tz, "tz", "", "the time zone of --at and --cron, such as Europe/Vienna (default: yours)")
	s(&f.stagger, "stagger", "", "begin within so much of the time, such as 30s")
	b(&f.exact, "exact", false, "begin exactly at the time")
	s(&f.onExit, "on-exit", "", "when this command ends")
	s(&f.onExitCwd, "on-exit-cwd", "", "the folder of that command")
	s(&f.streamCommand, "stream-command", "", "for each line that a program prints: its command as a JSON list")
	s(&f.streamCwd, "stream-cwd", "", "the folder of that program")
	s(&f.streamMode, "stream-mode", "line", "line, or match for only some lines")
	s(&f.streamMatch, "stream-match", "", "which lines")
	c.Flags().Int64Var(&f.streamBatch, "stream-batch-ms", 0, "put together what is printed within so many milliseconds")
	c.Flags().Int64Var(&f.streamBytes, "stream-max-batch-bytes", 0, "and at most so many bytes")
	s(&f.pacingMin, "pacing-min", "", "where a job says itself when it looks again: at the earliest after")
	s(&f.pacingMax, "pacing-max", "", "at the latest after")
	s(&f.trigger, "trigger-script", "", "a script that says whether there is anything to do (- is the standard input)")
	b(&f.once, "trigger-once", false, "and only the first time")
	b(&f.deleteAfter, "delete-after-run", false, "delete it when it was done")
	b(&f.keepAfter, "keep-after-run", false, "keep it when it was done")
	s(&f.message, "message", "", "ask the assistant this")
	s(&f.remind, "remind", "", "remind you of this, where you are reached; no model is asked")
	s(&f.systemEvent, "system-event", "", "put this into your own conversation, where the assistant takes note of it")
	s(&f.command, "command", "", "run this shell command; no model is asked")
	s(&f.argv, "command-argv", "", "run this command, a JSON list; no model is asked")
	s(&f.commandCwd, "command-cwd", "", "the command's folder")
	c.Flags().StringArrayVar(&f.env, "command-env", nil, "a variable of the command, KEY=VALUE")
	s(&f.input, "command-input", "", "what the command reads")
	c.Flags().Float64Var(&f.quiet, "no-output-timeout-seconds", 0, "end a command that prints nothing for so long")
	c.Flags().Int64Var(&f.maxOutput, "output-max-bytes", 0, "keep so much of what a command prints")
	s(&f.script, "script", "", "run a script in code mode (- is the standard input); no model is asked")
	c.Flags().Float64Var(&f.scriptTimeout, "script-timeout-seconds", 0, "end the script after so long")
	c.Flags().IntVar(&f.toolBudget, "script-tool-budget", 0, "how many calls of tools the script has")
	s(&f.model, "model", "", "ask this model, provider/model")
	s(&f.fallbacks, "fallbacks", "", "and these when it fails, with commas")
	s(&f.thinking, "thinking", "", "how much the model thinks")
	s(&f.tools, "tools", "", "it may use only these tools, with commas")
	c.Flags().Float64Var(&f.timeout, "timeout-seconds", 0, "end it after so long")
	b(&f.light, "light-context", false, "leave out what the workspace's files say")
	b(&f.announce, "announce", false, "send the result to a messaging network")
	b(&f.announce, "deliver", false, "the same as --announce")
	b(&f.noDeliver, "no-deliver", false, "send the result nowhere")
	s(&f.webhook, "webhook", "", "send the result to this address")
	s(&f.channel, "channel", "", "the network of --announce (default: where you wrote last)")
	s(&f.to, "to", "", "to whom there")
	s(&f.thread, "thread-id", "", "in which thread there")
	s(&f.account, "account", "", "from which account there")
	b(&f.bestEffort, "best-effort-deliver", false, "a result that does not arrive is no failure")
	s(&f.catchUp, "catch-up", "", "what was missed while the machine slept: once, skip or all")
	s(&f.catchUpWithin, "catch-up-within", "", "unless it is longer ago than this, such as 6h")
	c.Flags().Float64Var(&f.maxCost, "max-cost", 0, "what a run may cost, in dollars")
	c.Flags().Float64Var(&f.maxCostDay, "max-cost-per-day", 0, "what all runs of a day may cost")
	b(&f.important, "important", false, "ask again until you have seen it")
	c.MarkFlagsMutuallyExclusive("at", "every", "cron", "on-exit", "stream-command")
	c.MarkFlagsMutuallyExclusive("message", "remind", "system-event", "command", "command-argv", "script")
	c.MarkFlagsMutuallyExclusive("announce", "no-deliver", "webhook")
	c.MarkFlagsMutuallyExclusive("deliver", "no-deliver", "webhook")
	c.MarkFlagsMutuallyExclusive("stagger", "exact")
	c.MarkFlagsMutuallyExclusive("delete-after-run", "keep-after-run")
}

// arguments takes what stands without a flag: the schedule or the name, and what
// to do.
func (f *jobFlags) arguments(c *cobra.Command, args []string) error {
	timed := false
	for _, name := range []string{"at", "every", "cron", "on-exit", "stream-command"} {
		timed = timed || c.Flags().Changed(name)
	}
	said := f.remind+f.systemEvent+f.message+f.command+f.argv+f.script != ""
	switch {
	case timed && f.name == "" && (len(args) > 1 || len(args) == 1 && said): // the first is the name then
		f.name, args = args[0], args[1:]
	case len(args) == 0 && !timed:
		return &failure{
			exitUsage,
			"say when: `hearth cron add SCHEDULE PROMPT`, or --at, --every or --cron",
			"`hearth cron add --help` has examples",
		}
	case len(args) > 0 && !timed:
		f.positional(args[0])
		args = args[1:]
	}
	if len(args) > 0 {
		if f.message != "" && f.message != args[0] {
			return usage("say what to do once: after the schedule, or with --message")
		}
		f.message = args[0]
	}
	return nil
}

// job is the new job, as it goes to the gateway.
func (f *jobFlags) job(ctx context.Context, a *app, c *cobra.Command) (map[string]any, error) {
	job := map[string]any{"enabled": !f.disabled, "wakeMode": cmp.Or(f.wake, protocol.CronWakeNow)}
	if err := f.common(c, job, nil); err != nil {
		return nil, err
	}
	schedule, err := f.schedule(ctx, a, nil)
	if err != nil {
		return nil, err
	}
	payload, err := f.payload(a, c, nil)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, &failure{
			exitUsage,
			"say what to do: a prompt, --remind, --system-event, --command or --script",
			"`hearth cron add --help` has examples",
		}
	}
	job["schedule"], job["payload"] = schedule, payload
	job["sessionTarget"] = cmp.Or(f.session,
		map[bool]string{true: protocol.CronMain, false: protocol.CronIsolated}[payload["kind"] == protocol.CronSystemEvent])
	if f.name == "" {
		job["name"] = nameOf(f)
	}
	if d := f.delivery(c); d != nil {
		job["delivery"] = d
	}
	if err := f.triggerOf(a, job); err != nil {
		return nil, err
	}
	if f.declarationKey != "" {
		job["declarationKey"] = f.declarationKey
	}
	return job, nil
}

func addJob(ctx context.Context, a *app, c *cobra.Command, f *jobFlags, args []string) error {
	if err := f.arguments(c, args); err != nil {
		return err
	}
	job, err := f.job(ctx, a, c)
	if err != nil {
		return err
	}
	cl, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer cl.Close()
	var res protocol.CronAdded
	if err := cl.Call(ctx, protocol.MethodCronAdd, job, &res); err != nil {
		return explainJob(err)
	}
	if a.asJSON {
		return a.out().json(res)
	}
	j := &res.CronJob
	if res.Job != nil {
		j = res.Job
	}
	return a.out().print(plannedWords(j), "\n")
}

// plannedWords says what was planned.
func plannedWords(j *protocol.CronJob) string {
	words := "Planned: " + line(jobName(j)) + " (" + scheduleWords(j, time.Now()) + "), next " + nextWords(j, time.Now()) +
		". Its id is " + shortID(j.ID) + "."
	if j.Hearth != nil && j.Hearth.Warning != "" {
		words += "\nCareful: " + line(j.Hearth.Warning)
	}
	return words
}

// positional takes a schedule without a flag.
func (f *jobFlags) positional(s string) {
	rest, recurs := strings.CutPrefix(strings.ToLower(strings.TrimSpace(s)), "every ")
	fields := strings.Fields(s)
	_, err := time.ParseDuration(strings.ReplaceAll(rest, " ", ""))
	switch {
	case recurs && err == nil:
		f.every = rest
	case (len(fields) == 5 || len(fields) == 6) && strings.Trim(fields[0], "0123456789*/,-?L") == "":
		f.expr = s
	default:
		f.at = s // words too; the gateway says what they mean
	}
}

// nameOf is a name for a job without one: the beginning of what it does.
func nameOf(f *jobFlags) string {
	for _, s := range []string{f.message, f.remind, f.systemEvent, f.command, f.argv, f.script} {
		if s != "" {
			runes := []rune(line(s))
			return string(runes[:min(60, len(runes))])
		}
	}
	return "Job"
}

// schedule is the schedule that was said, nil for none; was is the one so far.
func (f *jobFlags) schedule(ctx context.Context, a *app, was *protocol.CronSchedule) (*protocol.CronSchedule, error) {
	stagger, err := f.staggerMs()
	if err != nil {
		return nil, err
	}
	s := &protocol.CronSchedule{StaggerMs: stagger}
	switch {
	case f.at != "":
		return f.inWords(ctx, a, f.at)
	case f.every != "":
		return f.inWords(ctx, a, "every "+strings.TrimSpace(strings.TrimPrefix(f.every, "every ")))
	case f.expr != "":
		s.Kind, s.Expr, s.TZ = protocol.CronExpr, f.expr, f.tz
		return s, nil
	case f.onExit != "":
		s.Kind, s.Cwd = protocol.CronOnExit, f.onExitCwd
		s.Command, err = json.Marshal(f.onExit)
		return s, err
	case f.streamCommand != "":
		if !json.Valid([]byte(f.streamCommand)) || !strings.HasPrefix(strings.TrimSpace(f.streamCommand), "[") {
			return nil, usage(`--stream-command is a JSON list, such as '["tail","-f","/var/log/syslog"]'`)
		}
		s.Kind, s.Command, s.Cwd = protocol.CronStream, json.RawMessage(f.streamCommand), f.streamCwd
		s.Mode, s.Match = f.streamMode, f.streamMatch
		s.BatchMs, s.MaxBatch = f.streamBatch, f.streamBytes
		return s, nil
	case was == nil || f.tz == "" && stagger == nil:
		return nil, nil
	case was.Kind != protocol.CronExpr:
		return nil, usage("--tz, --stagger and --exact are about cron expressions; this job has none")
	}
	changed := *was
	if f.tz != "" {
		changed.TZ = f.tz
	}
	if stagger != nil {
		changed.StaggerMs = stagger
	}
	return &changed, nil
}

func (f *jobFlags) staggerMs() (*int64, error) {
	var ms int64
	switch {
	case f.exact:
	case f.stagger == "":
		return nil, nil
	default:
		d, err := time.ParseDuration(f.stagger)
		if err != nil || d < 0 {
			return nil, usage("--stagger is a length of time, such as 30s")
		}
		ms = d.Milliseconds()
	}
	return &ms, nil
}

// inWords has the gateway read a time: it knows the person's zone.
func (f *jobFlags) inWords(ctx context.Context, a *app, said string) (*protocol.CronSchedule, error) {
	var res protocol.CronPreview
	p := protocol.CronPreviewParams{Text: said, TZ: f.tz}
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodCronPreview, p, &res); err != nil {
		return nil, explainJob(err)
	}
	if res.Error != "" || res.Schedule == nil {
		return nil, noTime(said, res.Error)
	}
	return res.Schedule, nil
}

// noTime says why what was said is no time, and how times are said.
func noTime(said, problem string) error {
	why := cmp.Or(strings.TrimSuffix(line(problem), "."), "“"+line(said)+"” is no time that Hearth understands")
	for _, c := range []struct{ like, hint string }{
		{"; write it like", "for example 20m, \"2026-12-24 18:00\", \"Friday at nine\", \"every weekday at 8\" or \"0 9 * * 1-5\""},
		{"; zones are called like", "zones are called like Europe/Vienna; without --tz it is yours"},
	} {
		if before, _, ok := strings.Cut(why, c.like); ok {
			return &failure{exitUsage, before, c.hint}
		}
	}
	return &failure{exitUsage, why, "`hearth cron add --help` says how times may be said"}
}
