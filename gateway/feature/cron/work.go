package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/schedule"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// longest is how long an answer may take that names no limit.
const longest = time.Hour

// contract is what a model reads of a job that nobody watches.
const contract = "Nobody reads along and nobody can answer a question. Do it now, completely; your last reply is what is delivered, " +
	"so begin with the result. Reply NO_REPLY if there is nothing to tell.]"

// Begin implements job.Does.
func (f *feature) Begin(ctx context.Context, c *job.Claim) error {
	p := c.Run.Spec.Payload
	switch {
	case p.Kind == protocol.CronSystemEvent && c.Job.Own().Reminder:
		if err := c.Commit(ctx); err != nil {
			return err
		}
		f.remind(ctx, c.Run)
		return nil
	case p.Kind == protocol.CronCommand:
		f.works(c.Run.RunID, true)
		if err := c.Commit(ctx); err != nil {
			f.works(c.Run.RunID, false)
			return err
		}
		f.Work.Go(func(ctx context.Context) { f.command(ctx, c.Run) })
		return nil
	}
	turn, err := f.turn(&c.Job, &c.Run)
	if err != nil {
		return err
	}
	c.Run.SessionKey = turn.SessionKey
	f.works(c.Run.RunID, true)
	if _, err := f.Sessions.SubmitWith(ctx, turn, c.Put); err != nil {
		f.works(c.Run.RunID, false)
		return err
	}
	c.Began()
	return nil
}

// works notes whether this process works on a run.
func (f *feature) works(runID string, does bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if does {
		f.working[runID] = true
	} else {
		delete(f.working, runID)
	}
}

func (f *feature) atWork(runID string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.working[runID]
}

// turn is what a job says to an agent.
func (f *feature) turn(j *job.Job, r *job.Run) (session.Turn, error) {
	p := r.Spec.Payload
	agent := f.agentOf(&j.CronSpec)
	key, err := f.target(j, r, agent)
	if err != nil {
		return session.Turn{}, err
	}
	words := cmp.Or(p.Message, p.Text)
	t := session.Turn{
		RunID: r.RunID, SessionKey: key, Text: words, Title: j.Name, Owner: !j.Guest, Mode: session.Followup, TimeoutMs: longest.Milliseconds(),
		Relay: session.Relay{},
	}
	if p.TimeoutSeconds != nil && *p.TimeoutSeconds > 0 {
		t.TimeoutMs = int64(min(*p.TimeoutSeconds, 24*3600) * 1000)
	}
	if p.Model != "" {
		t.Model = p.Model
		if ref, ok := f.Models.Meant(key, p.Model); ok {
			t.Model = ref
		}
	}
	t.Hints.Thinking = p.Thinking
	t.ForAgent = f.head(j, r) + "\n" + words
	return t, nil
}

// head tells a model what it is about to read.
func (f *feature) head(j *job.Job, r *job.Run) string {
	st := f.style()
	s := fmt.Sprintf("[The job “%s” is due", j.Name)
	if r.Slot != 0 {
		s += ": it was planned for " + st.Moment(r.Slot)
	}
	s += ". It is " + st.Moment(f.Now().UnixMilli()) + " now (" + st.ZoneName + ")."
	if r.Late {
		s += " Hearth was off or asleep at that time."
	}
	if r.Missed > 0 {
		s += fmt.Sprintf(" %d earlier times were missed; this stands for them too.", r.Missed)
	}
	if r.Spec.Payload.Kind == protocol.CronSystemEvent {
		return s + " Tell the person what it says, or do it. Reply NO_REPLY if there is nothing to tell.]"
	}
	return s + " " + contract
}

// agentOf is the agent of a job.
func (f *feature) agentOf(s *protocol.CronSpec) string {
	if s.AgentID != "" {
		return s.AgentID
	}
	if s.SessionKey != "" && strings.HasPrefix(s.SessionKey, "agent:") {
		return session.AgentOf(s.SessionKey)
	}
	return f.Agents.Book().Default().ID
}

// target is the session that a run is in. Isolated runs have one each.
func (f *feature) target(j *job.Job, r *job.Run, agent string) (string, error) {
	switch t := j.SessionTarget; {
	case t == protocol.CronIsolated:
		id := strings.TrimPrefix(strings.TrimPrefix(r.RunID, "cron:"+j.ID+":"), "manual:"+j.ID+":")
		return f.Agents.Canonical("cron:"+j.ID+":"+strings.ReplaceAll(id, ":", "-"), agent)
	case strings.HasPrefix(t, protocol.CronSessionPrefix):
		return f.Agents.Canonical(strings.TrimPrefix(t, protocol.CronSessionPrefix), agent)
	case t == protocol.CronCurrent && j.SessionKey != "":
		return f.Agents.Canonical(j.SessionKey, agent)
	}
	return f.main(agent), nil
}

func (f *feature) main(agent string) string {
	return rules.Keys(f.Settings.Snapshot().Config).Main(agent)
}

func (f *feature) style() schedule.Style {
	return schedule.Style{Zone: f.zone(), Twelve: f.Clock.Hours() == 12, ZoneName: f.Clock.ZoneName()}
}

// remind ends a run that only has something to say.
func (f *feature) remind(ctx context.Context, r job.Run) {
	text := r.Spec.Payload.Text
	if r.Late {
		text += "\n\n(This was planned for " + f.style().Moment(r.Slot) + "; Hearth was off or asleep then.)"
	}
	if err := f.book.End(ctx, r.RunID, job.Result{Status: protocol.CronOK, Text: text}); err != nil {
		f.Logger.Error("a reminder could not be ended", "run", r.RunID, "err", err)
	}
}

// Resume implements job.Does.
func (f *feature) Resume(ctx context.Context, r job.Run) {
	switch {
	case r.Stage == job.Ended:
		f.works(r.RunID, false)
		f.settle(ctx, r)
	case r.Stage == job.Delivering:
		f.awaitReceipt(ctx, r)
	case f.atWork(r.RunID):
	case r.Spec.Payload.Kind == protocol.CronCommand && r.Stage == job.Claimed:
		f.works(r.RunID, true)
		f.Work.Go(func(ctx context.Context) { f.command(ctx, r) })
	case r.Spec.Payload.Kind == protocol.CronCommand:
		f.end(ctx, r, job.Result{
			Status: protocol.CronError, Unknown: true, Error: "Hearth stopped while the command ran. It is not started a second time by itself.",
		})
	case r.Spec.Hearth != nil && r.Spec.Hearth.Reminder:
		f.remind(ctx, r)
	default:
		f.resumeAnswer(ctx, r)
	}
}

// resumeAnswer goes on with a run in a session, which takes it up by itself; its
// end is noted with it.
func (f *feature) resumeAnswer(ctx context.Context, r job.Run) {
	rec, err := f.Sessions.Why("", r.RunID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		f.end(ctx, r, job.Result{Status: protocol.CronError, Error: "Its conversation was deleted while it ran."})
	case err == nil && rec.State.Ended():
		f.end(ctx, r, f.result(nil, rec))
	case err == nil:
		f.works(r.RunID, true)
	}
}

func (f *feature) end(ctx context.Context, r job.Run, res job.Result) {
	if err := f.book.End(ctx, r.RunID, res); err != nil && ctx.Err() == nil {
		f.Logger.Error("the end of a job's run could not be kept", "run", r.RunID, "err", err)
	}
}

// Asks implements job.Does.
func (f *feature) Asks(j *job.Job) bool {
	k := j.Payload.Kind
	return k == protocol.CronAgentTurn || k == protocol.CronSystemEvent && !j.Own().Reminder
}

// Waits implements job.Does.
func (f *feature) Waits() string {
	if err := f.Pause.Check(pause.CallModel); err != nil {
		return err.Error()
	}
	if f.Budget.Poor() {
		return "the allowance is nearly used up, so nothing asks a model by itself"
	}
	return ""
}

// Refuses implements job.Does: the ceilings of a job.
func (f *feature) Refuses(j *job.Job) string {
	own := j.Own()
	if own.MaxRunsPerDay == 0 && own.MaxCostPerDay == 0 {
		return ""
	}
	y, m, d := f.Now().In(f.zone()).Date()
	runs, cost := f.book.Since(j.ID, time.Date(y, m, d, 0, 0, 0, 0, f.zone()).UnixMilli())
	switch {
	case own.MaxRunsPerDay > 0 && runs >= own.MaxRunsPerDay:
		return fmt.Sprintf("It ran %d times today, and no more are allowed (hearth.maxRunsPerDay).", runs)
	case own.MaxCostPerDay > 0 && cost >= own.MaxCostPerDay:
		return fmt.Sprintf("It cost %.2f today, and no more than %.2f are allowed (hearth.maxCostUsdPerDay).", cost, own.MaxCostPerDay)
	}
	return ""
}

// Tidy implements job.Does: sessions of isolated runs are kept for a day.
func (f *feature) Tidy(ctx context.Context) {
	keep := f.settings().Retention()
	if keep == 0 {
		return
	}
	before := f.Now().Add(-keep).UnixMilli()
	old, _, err := f.book.Runs(job.Query{Limit: 500, Asc: true, Fits: func(r *job.Run) bool {
		return !r.Open() && r.TS < before && strings.Contains(r.SessionKey, ":cron:"+r.JobID+":")
	}})
	if err != nil {
		f.Logger.Warn("the old runs of jobs could not be read", "err", err)
	}
	for _, r := range old {
		if _, err := f.Sessions.Delete(ctx, r.SessionKey, false); err != nil && ctx.Err() == nil {
			f.Logger.Debug("the session of an old run stays", "session", r.SessionKey, "err", err)
		}
	}
}

// rule lets the runs of a job use the tools that the job names.
func (f *feature) rule(name string, s tool.Scope) string {
	if !isRun(s.RunID) {
		return ""
	}
	for _, r := range f.book.Running("") {
		if r.RunID != s.RunID || r.Spec == nil || r.Spec.Payload.ToolsAllow == nil {
			continue
		}
		for _, t := range r.Spec.Payload.ToolsAllow {
			if t == "*" || t == name {
				return ""
			}
		}
		return name + " is not among the tools of this job (payload.toolsAllow)"
	}
	return ""
}
