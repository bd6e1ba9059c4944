package cron

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/when"
)

const (
	loopEvery  = 10 * time.Minute // of a /loop that does not say
	shortID    = 8                // enough of an id to tell it from others
	mostListed = 30
)

// commands are what a person types.
func (f *feature) commands() []command.Command {
	return []command.Command{
		{Spec: command.Spec{
			Name: "remind", Args: "<when> <what>", Category: "tools",
			Description: "Remind you: /remind on Friday at nine to call mum. With ! in front it asks again until you have seen it",
		}, Do: f.cmdRemind},
		{Spec: command.Spec{
			Name: "loop", Args: "[every] <prompt>", Category: "tools",
			Description: "Ask the assistant the same again and again: /loop 10m is the build done?",
		}, Do: f.cmdLoop},
		{Spec: command.Spec{
			Name: "cron", Aliases: []string{"automations"}, Args: "[list|run|pause|resume|delete|yes|no] [job]", Category: "tools",
			Description: "See what is planned, and change it", Choices: []string{"list", "run", "pause", "resume", "delete", "yes", "no"},
		}, Do: f.cmdCron},
	}
}

func (f *feature) cmdRemind(ctx context.Context, key, args string) (string, error) {
	args, important := strings.CutPrefix(strings.TrimSpace(args), "!")
	args = strings.TrimSpace(args)
	for _, me := range []string{"me ", "us ", "mich ", "uns "} {
		args = strings.TrimPrefix(args, me)
	}
	plan, what, ok, err := when.Find(args, f.Now().In(f.zone()))
	switch {
	case err != nil:
		return err.Error() + " Say another time.", nil
	case !ok:
		return "When? For example `/remind in 20 minutes to look at the oven`, `/remind on Friday at nine to call mum` or " +
			"`/remind every weekday at 8 to stretch`.", nil
	case what == "":
		return "Remind you of what? Say it behind the time: `/remind " + oneLine(args) + " to call mum`.", nil
	}
	return f.plan(ctx, key, plan, protocol.CronSpec{
		Name: headline(what), Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: what},
		Hearth: &protocol.CronOwn{Reminder: true, Important: important},
	})
}

func (f *feature) cmdLoop(ctx context.Context, key, args string) (string, error) {
	plan, what, said, err := loop(strings.TrimSpace(args), f.Now().In(f.zone()))
	switch {
	case err != nil:
		return err.Error() + " Say another time.", nil
	case what == "":
		return "What is to be done again and again? For example `/loop 10m is the build done?` or " +
			"`/loop every weekday at 8 summarize my mail`.", nil
	}
	spec := protocol.CronSpec{Name: headline(what), Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: what}}
	if !said {
		spec.Pacing = &protocol.CronPacing{Min: "1m", Max: "1h"} // the assistant says how often
	}
	return f.plan(ctx, key, plan, spec)
}

// loop reads an interval, as a length or in words, and what is to be done; without
// an interval it is ten minutes, until the assistant says something else.
func loop(args string, now time.Time) (p when.Plan, what string, said bool, err error) {
	first, rest, _ := strings.Cut(args, " ")
	if every, ok, err := when.Read("every "+first, now); ok && err != nil {
		return every, args, true, err
	} else if ok && every.Every > 0 {
		return every, strings.TrimSpace(rest), true, nil
	}
	if p, what, ok, err := when.Find(args, now); ok && (err == nil && p.Recurs() || errors.Is(err, when.TooOften)) {
		return p, what, true, err
	}
	return when.Plan{Every: loopEvery}, args, false, nil
}

// inSession makes a job that of a conversation: made there, done there, told where
// it was held last.
func (f *feature) inSession(key string, s protocol.CronSpec) protocol.CronSpec {
	agent := f.Agents.OfSession(key).ID
	s.AgentID, s.SessionKey, s.Owner = agent, key, &protocol.CronOwner{AgentID: agent, SessionKey: key}
	s.SessionTarget = protocol.CronSessionPrefix + key
	if key == rules.Main(f.Settings, agent) && s.Payload.Kind == protocol.CronSystemEvent {
		s.SessionTarget = protocol.CronMain
	}
	s.Delivery = &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: "last"}
	return s
}

// plan makes a job of a conversation, and says when it is due.
func (f *feature) plan(ctx context.Context, key string, p when.Plan, s protocol.CronSpec) (string, error) {
	s.Schedule = ofPlan(p)
	added, err := f.addFor(ctx, f.inSession(key, s), false)
	if err != nil {
		return "", err
	}
	j := &added.CronJob
	line := "Planned: **%s**"
	if s.Hearth != nil && s.Hearth.Reminder {
		line = "I will remind you: **%s**"
	}
	var b strings.Builder
	fmt.Fprintf(&b, line+"\n%s%s", oneLine(j.Name), capital(j.Hearth.Words), inZone(j))
	if p.Recurs() && len(j.Hearth.Next) > 0 {
		var next []string
		for _, at := range j.Hearth.Next[:min(3, len(j.Hearth.Next))] {
			next = append(next, f.style().Moment(at))
		}
		b.WriteString(". Next: " + strings.Join(next, "; "))
	}
	b.WriteString(".")
	if j.Hearth.Warning != "" {
		b.WriteString("\nCareful: " + j.Hearth.Warning)
	}
	id := j.ID[:min(shortID, len(j.ID))]
	fmt.Fprintf(&b, "\n`/cron delete %s` takes it back, `/cron pause %s` stops it for a while.", id, id)
	return b.String(), nil
}

// ofPlan is a plan in words as a schedule.
func ofPlan(p when.Plan) protocol.CronSchedule {
	switch {
	case !p.At.IsZero():
		return protocol.CronSchedule{Kind: protocol.CronAt, At: p.At.UTC().Format(time.RFC3339)}
	case p.Every > 0:
		s := protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: p.Every.Milliseconds()}
		if !p.Anchor.IsZero() {
			at := p.Anchor.UnixMilli()
			s.AnchorMs = &at
			if zone := p.Anchor.Location().String(); zone != "Local" { // whole days are counted there
				s.TZ = zone
			}
		}
		return s
	}
	return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: p.Expr}
}

func inZone(j *protocol.CronJob) string {
	if j.Hearth.Zone == "" || j.Schedule.Kind == protocol.CronEvery { // whose words say it
		return ""
	}
	return " (" + j.Hearth.Zone + ")"
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// oneLine is text that cannot break out of its place in Markdown.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "[", "(", "]", ")").Replace(s)), " ")
}

// asItIs keeps signs that Markdown would take, as in the names of files.
func asItIs(s string) string {
	if strings.ContainsAny(s, "*_[]<>") {
		return "`" + strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " ") + "`"
	}
	return oneLine(s)
}

func (f *feature) cmdCron(ctx context.Context, key, args string) (string, error) {
	do, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	if do == "yes" || do == "no" {
		return f.cmdAnswer(ctx, key, name, do == "yes")
	}
	if do == "seen" || do == "later" {
		return f.cmdReminded(ctx, do, name)
	}
	if do == "" || do == "list" {
		return f.listed(ctx)
	}
	if !slices.Contains([]string{"run", "pause", "disable", "resume", "enable", "delete", "remove", "rm"}, do) || name == "" {
		return "Say `/cron list`, or `/cron run`, `pause`, `resume` or `delete` with the id or the name of a job.", nil
	}
	j, refusal := f.named(name)
	if refusal != "" {
		return refusal, nil
	}
	id := protocol.CronIDParams{ID: j.ID}
	switch do {
	case "run":
		r, err := f.start(ctx, protocol.CronRunParams{CronIDParams: id, Mode: "force"})
		if err == nil && !r.Enqueued {
			return "It was not begun: " + cmp.Or(strings.ReplaceAll(r.Reason, "-", " "), "it runs already") + ".", nil
		}
		return "It runs: **" + oneLine(j.Name) + "**.", err
	case "delete", "remove", "rm":
		_, err := f.remove(ctx, id)
		return "Deleted: **" + oneLine(j.Name) + "**.", err
	}
	on := do == "resume" || do == "enable"
	patch, err := json.Marshal(map[string]bool{"enabled": on})
	if err != nil {
		return "", err
	}
	now, err := f.update(ctx, protocol.CronUpdateParams{CronIDParams: id, Patch: patch})
	if err != nil {
		return "", err
	}
	if !on {
		return "Paused: **" + oneLine(j.Name) + "**.", nil
	}
	return "It goes on: **" + oneLine(j.Name) + "**, " + f.dueWords(&now) + ".", nil
}

// named finds a job by its id, the beginning of one, or its name.
func (f *feature) named(name string) (found protocol.CronJob, refusal string) {
	all, _ := f.book.All()
	n := 0
	for _, j := range all {
		if j.ID == name {
			return f.wire(*j), ""
		}
		if strings.EqualFold(j.Name, name) || len(name) >= 4 && strings.HasPrefix(j.ID, name) {
			found = f.wire(*j)
			n++
		}
	}
	switch n {
	case 0:
		return found, "There is no job " + oneLine(name) + ". `/cron list` shows them."
	case 1:
		return found, ""
	}
	return found, "Several jobs are called that; say the id: `/cron list` shows it."
}

func (f *feature) dueWords(j *protocol.CronJob) string {
	switch {
	case j.Enabled != nil && !*j.Enabled:
		return "paused"
	case !slices.Contains([]string{protocol.CronAt, protocol.CronEvery, protocol.CronExpr}, j.Schedule.Kind):
		return "when it happens"
	case j.State.NextRunAtMs == 0:
		return "no next time"
	}
	return "next " + f.style().Moment(j.State.NextRunAtMs)
}

// listed is the list of jobs, what is due first in front.
func (f *feature) listed(ctx context.Context) (string, error) {
	most := mostListed
	page, err := f.list(ctx, protocol.CronListParams{IncludeDisabled: true, Limit: &most, Compact: true})
	if err != nil {
		return "", err
	}
	if len(page.Jobs) == 0 {
		return "Nothing is planned. `/remind on Friday at nine to call mum` plans a reminder.", nil
	}
	var b strings.Builder
	b.WriteString("Planned:\n")
	for i := range page.Jobs {
		j := &page.Jobs[i]
		fmt.Fprintf(&b, "- `%s` **%s**: %s, %s", j.ID[:min(shortID, len(j.ID))], oneLine(j.Name), asItIs(j.Hearth.Words), f.dueWords(j))
		if j.State.LastRunStatus == protocol.CronError {
			b.WriteString(", failed last: " + oneLine(headline(j.State.LastError)))
		}
		b.WriteString("\n")
	}
	if page.HasMore {
		fmt.Fprintf(&b, "… and %d more.", page.Total-len(page.Jobs))
	}
	return strings.TrimSpace(b.String()), nil
}
