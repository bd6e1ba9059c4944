package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxJobScript is the largest script of a job.
const maxJobScript = 64 << 10

// common puts what belongs to neither schedule, payload nor delivery into a job.
// was is the job so far, nil for a new one.
func (f *jobFlags) common(c *cobra.Command, job map[string]any, was *protocol.CronJob) error {
	set := c.Flags().Changed
	for flag, to := range map[string]struct {
		field string
		value any
	}{
		"name": {"name", f.name}, "display-name": {"displayName", f.displayName}, "description": {"description", f.description},
		"agent": {"agentId", f.agent}, "session": {"sessionTarget", f.session}, "session-key": {"sessionKey", f.sessionKey},
		"wake": {"wakeMode", f.wake}, "delete-after-run": {"deleteAfterRun", f.deleteAfter}, "keep-after-run": {"deleteAfterRun", !f.keepAfter},
	} {
		if set(flag) {
			job[to.field] = to.value
		}
	}
	if f.name != "" {
		job["name"] = f.name
	}
	if set("pacing-min") || set("pacing-max") {
		pacing := map[string]any{}
		if f.pacingMin != "" {
			pacing["min"] = f.pacingMin
		}
		if f.pacingMax != "" {
			pacing["max"] = f.pacingMax
		}
		job["pacing"] = pacing
	}
	if s := f.session; s != "" && !strings.HasPrefix(s, protocol.CronSessionPrefix) &&
		!slices.Contains([]string{protocol.CronMain, protocol.CronIsolated, protocol.CronCurrent}, s) {
		return usage("--session is main, isolated, current or session:KEY, not %s", line(s))
	}
	if f.wake != "" && f.wake != protocol.CronWakeNow && f.wake != protocol.CronWakeNext {
		return usage("--wake is now or next-heartbeat, not %s", line(f.wake))
	}
	own := map[string]any{}
	if set("catch-up") || set("catch-up-within") {
		catchUp := map[string]any{}
		switch {
		case slices.Contains([]string{"once", "skip", "all"}, f.catchUp):
			catchUp["mode"] = f.catchUp
		case set("catch-up"):
			return usage("--catch-up is once, skip or all, not %s", line(f.catchUp))
		case was == nil || was.Hearth == nil || was.Hearth.CatchUp == nil:
			return usage("--catch-up-within needs --catch-up: once, skip or all")
		}
		if d, err := time.ParseDuration(f.catchUpWithin); f.catchUpWithin != "" && (err != nil || d <= 0) {
			return usage("--catch-up-within is a length of time such as 6h, not %s", line(f.catchUpWithin))
		}
		if f.catchUpWithin != "" {
			catchUp["within"] = f.catchUpWithin
		}
		own["catchUp"] = catchUp
	}
	for flag, to := range map[string]struct {
		field string
		value any
	}{"max-cost": {"maxCostUsd", f.maxCost}, "max-cost-per-day": {"maxCostUsdPerDay", f.maxCostDay}, "important": {"important", f.important}} {
		if set(flag) {
			own[to.field] = to.value
		}
	}
	if f.remind != "" {
		own["reminder"] = true
	}
	if len(own) > 0 {
		job["hearth"] = own
	}
	return nil
}

// payload is what the job does, nil when nothing was said about it; job is the
// job so far, nil for a new one.
func (f *jobFlags) payload(a *app, c *cobra.Command, job *protocol.CronJob) (map[string]any, error) {
	p, was := map[string]any{}, ""
	if job != nil {
		was = job.Payload.Kind
	}
	switch {
	case f.remind != "":
		p["kind"], p["text"] = protocol.CronSystemEvent, f.remind
	case f.systemEvent != "":
		p["kind"], p["text"] = protocol.CronSystemEvent, f.systemEvent
	case f.message != "":
		p["kind"], p["message"] = protocol.CronAgentTurn, f.message
	case f.command != "":
		p["kind"], p["argv"] = protocol.CronCommand, []string{"sh", "-lc", f.command}
	case f.argv != "":
		var argv []string
		if json.Unmarshal([]byte(f.argv), &argv) != nil || len(argv) == 0 {
			return nil, usage(`--command-argv is a JSON list of words, such as '["df","-h"]'`)
		}
		p["kind"], p["argv"] = protocol.CronCommand, argv
	case f.script != "":
		text, err := a.readAll(f.script, maxJobScript)
		if err != nil {
			return nil, err
		}
		p["kind"], p["script"] = protocol.CronScript, strings.TrimSpace(text)
	}
	said := len(p) > 0
	if words, ok := cmp.Or(p["text"], p["message"]).(string); ok && strings.TrimSpace(words) == "" {
		return nil, &failure{exitUsage, "there is nothing to remind of or to do: the words are empty",
			"say it behind the time, as in `hearth cron add 20m --remind \"The tea is ready\"`"}
	}
	if f.asksNobody(job, p) {
		for _, flag := range []string{"model", "fallbacks", "thinking", "light-context"} {
			if c.Flags().Changed(flag) {
				return nil, &failure{exitUsage, "--" + flag + " is for what the assistant is asked, and this job asks no model",
					"say with --message what the assistant is to do"}
			}
		}
	}
	for flag, to := range map[string]struct {
		field string
		value any
	}{
		"model": {"model", f.model}, "thinking": {"thinking", f.thinking},
		"fallbacks": {"fallbacks", commas(f.fallbacks)}, "tools": {"toolsAllow", commas(f.tools)},
		"timeout-seconds": {"timeoutSeconds", f.timeout}, "script-timeout-seconds": {"timeoutSeconds", f.scriptTimeout},
		"light-context": {"lightContext", f.light}, "command-cwd": {"cwd", f.commandCwd},
		"command-input": {"input", f.input}, "no-output-timeout-seconds": {"noOutputTimeoutSeconds", f.quiet},
		"output-max-bytes": {"outputMaxBytes", f.maxOutput}, "script-tool-budget": {"toolBudget", f.toolBudget},
	} {
		if c.Flags().Changed(flag) {
			p[to.field] = to.value
		}
	}
	if len(f.env) > 0 {
		env := map[string]string{}
		for _, v := range f.env {
			key, value, ok := strings.Cut(v, "=")
			if !ok || key == "" {
				return nil, usage("--command-env is KEY=VALUE, not %s", line(v))
			}
			env[key] = value
		}
		p["env"] = env
	}
	switch {
	case len(p) == 0 || !said && was == "":
		return nil, nil
	case !said:
		p["kind"] = was
	}
	return p, nil
}

// asksNobody reports whether a job asks no model: p is what the flags say of what it does,
// and job the one so far.
func (f *jobFlags) asksNobody(job *protocol.CronJob, p map[string]any) bool {
	kind, reminds := p["kind"], f.remind != ""
	if kind == nil && job != nil {
		kind, reminds = job.Payload.Kind, job.Hearth != nil && job.Hearth.Reminder
	}
	return kind == protocol.CronCommand || kind == protocol.CronScript || kind == protocol.CronSystemEvent && reminds
}

func commas(s string) []string {
	list := []string{}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// delivery is where the result goes, nil when nothing was said about it.
func (f *jobFlags) delivery(c *cobra.Command) map[string]any {
	d := map[string]any{}
	switch {
	case f.announce:
		d["mode"] = protocol.CronDeliverAnnounce
	case f.noDeliver:
		d["mode"] = protocol.CronDeliverNone
	case f.webhook != "":
		d["mode"], d["to"] = protocol.CronDeliverWebhook, f.webhook
	}
	for flag, to := range map[string]struct {
		field string
		value any
	}{
		"channel": {"channel", f.channel}, "to": {"to", f.to}, "thread-id": {"threadId", f.thread}, "account": {"accountId", f.account},
		"best-effort-deliver": {"bestEffort", f.bestEffort},
	} {
		if c.Flags().Changed(flag) {
			d[to.field] = to.value
		}
	}
	if len(d) == 0 {
		return nil
	}
	if d["mode"] == nil && c.Name() == "add" {
		d["mode"] = protocol.CronDeliverAnnounce
	}
	return d
}

// clearing is something that `hearth cron edit` can forget.
type clearing struct{ flag, part, field, words string }

func cleared() []clearing {
	return []clearing{
		{"display-name", "", "displayName", "the name that is shown"}, {"agent", "", "agentId", "which assistant does it"},
		{"session-key", "", "sessionKey", "the conversation that it belongs to"}, {"pacing", "", "pacing", "when it looks again"},
		{"trigger", "", "trigger", "the script that says whether there is anything to do"},
		{"thinking", "payload", "thinking", "how much the model thinks"}, {"fallbacks", "payload", "fallbacks", "the other models"},
		{"model", "payload", "model", "the model"}, {"tools", "payload", "toolsAllow", "which tools it may use"},
		{"channel", "delivery", "channel", "the network"}, {"to", "delivery", "to", "to whom"},
		{"thread-id", "delivery", "threadId", "the thread"}, {"account", "delivery", "accountId", "the account"},
	}
}

// triggerOf puts the script into a job that says whether there is anything to do.
func (f *jobFlags) triggerOf(a *app, job map[string]any) error {
	if f.trigger == "" {
		return nil
	}
	script, err := a.readAll(f.trigger, maxJobScript)
	if err == nil {
		job["trigger"] = map[string]any{"script": strings.TrimSpace(script), "once": f.once}
	}
	return err
}

// failureFlags are about telling failures.
func failureFlags(c *cobra.Command) {
	f := c.Flags()
	f.Bool("failure-alert", false, "tell when it fails")
	f.Bool("no-failure-alert", false, "never tell when it fails")
	f.Int("failure-alert-after", 0, "tell after so many failures in a row")
	f.String("failure-alert-cooldown", "", "and not again for so long, such as 1h")
	f.String("failure-alert-mode", "", "announce or webhook")
	f.String("failure-alert-channel", "", "on which network")
	f.String("failure-alert-to", "", "to whom there")
	f.String("failure-alert-account-id", "", "from which account there")
	f.Bool("failure-alert-include-skipped", false, "count runs that were left out")
	f.Bool("failure-alert-exclude-skipped", false, "do not count them")
	c.MarkFlagsMutuallyExclusive("failure-alert", "no-failure-alert")
	c.MarkFlagsMutuallyExclusive("failure-alert-include-skipped", "failure-alert-exclude-skipped")
}

// failureAlert is what was said about telling failures, nil for nothing.
func failureAlert(c *cobra.Command) (any, error) {
	f := c.Flags()
	if no, _ := f.GetBool("no-failure-alert"); no {
		return false, nil
	}
	alert := map[string]any{}
	for flag, field := range map[string]string{"mode": "mode", "channel": "channel", "to": "to", "account-id": "accountId"} {
		if v, _ := f.GetString("failure-alert-" + flag); v != "" {
			alert[field] = v
		}
	}
	if n, _ := f.GetInt("failure-alert-after"); n > 0 {
		alert["after"] = n
	}
	if v, _ := f.GetString("failure-alert-cooldown"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return nil, usage("--failure-alert-cooldown is a length of time, such as 1h")
		}
		alert["cooldownMs"] = d.Milliseconds()
	}
	for flag, value := range map[string]bool{"include": true, "exclude": false} {
		if f.Changed("failure-alert-" + flag + "-skipped") {
			alert["includeSkipped"] = value
		}
	}
	if on, _ := f.GetBool("failure-alert"); on || len(alert) > 0 {
		return alert, nil
	}
	return nil, nil
}

// patch is what the flags of edit change in a job.
func (f *jobFlags) patch(ctx context.Context, a *app, c *cobra.Command, j *protocol.CronJob,
	forget map[string]*bool) (map[string]any, error) {
	patch := map[string]any{}
	if err := f.common(c, patch, j); err != nil {
		return nil, err
	}
	if f.enabled || f.disabled {
		patch["enabled"] = f.enabled
	}
	schedule, err := f.schedule(ctx, a, &j.Schedule)
	if err != nil {
		return nil, err
	}
	if schedule != nil {
		patch["schedule"] = schedule
	}
	payload, err := f.payload(a, c, j)
	if err != nil {
		return nil, err
	}
	parts := map[string]map[string]any{"payload": payload, "delivery": f.delivery(c)}
	for _, what := range cleared() {
		switch {
		case !*forget[what.flag]:
		case what.part == "":
			patch[what.field] = nil
		default:
			if parts[what.part] == nil {
				parts[what.part] = map[string]any{}
			}
			parts[what.part][what.field] = nil
		}
	}
	if p := parts["payload"]; p != nil && p["kind"] == nil {
		p["kind"] = j.Payload.Kind
	}
	for name, part := range parts {
		if part != nil {
			patch[name] = part
		}
	}
	if err := f.triggerOf(a, patch); err != nil {
		return nil, err
	}
	alert, err := failureAlert(c)
	if err != nil {
		return nil, err
	}
	if alert != nil {
		patch["failureAlert"] = alert
	}
	if len(patch) == 0 {
		return nil, &failure{exitUsage, "say what to change", "`hearth cron edit --help` lists what there is"}
	}
	return patch, nil
}
