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
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// longest is how long an answer may take that names no limit.
const longest = time.Hour

// jobID is how long the id of a job is.
const jobID = 36

// contract is what a model reads of a job that nobody watches.
const contract = "Nobody reads along and nobody can answer a question. Do it now, completely; your last reply is what is delivered, " +
	"so begin with the result. Reply NO_REPLY if there is nothing to tell.]"

// Begin implements job.Does. A run with a condition begins with asking it.
func (f *feature) Begin(ctx context.Context, c *job.Claim) error {
	if len(c.Run.Items) > 0 {
		c.Run.Event, c.Run.Outside = changesOf(c.Run.Items), true
	}
	if c.Run.Stage == job.Checking {
		return f.commit(ctx, c, f.ask)
	}
	return f.begin(ctx, c)
}

// begin begins the payload.
func (f *feature) begin(ctx context.Context, c *job.Claim) error {
	p := c.Run.Spec.Payload
	switch {
	case p.Kind == protocol.CronSystemEvent && c.Job.Own().Reminder:
		if err := c.Commit(ctx); err != nil {
			return err
		}
		f.remind(ctx, c.Run)
		return nil
	case p.Kind == protocol.CronSystemEvent && c.Run.Spec.WakeMode == protocol.CronWakeNext:
		return f.commit(ctx, c, f.leave)
	case p.Kind == protocol.CronCommand:
		return f.commit(ctx, c, f.command)
	case p.Kind == protocol.CronScript:
		return f.commit(ctx, c, f.script)
	}
	turn, err := f.turn(&c.Job, &c.Run)
	if monitors(c.Run.Spec) {
		if f.Monitor == nil {
			return protocol.Invalid("%s", errNoHeartbeats)
		}
		turn, err = f.monitored(ctx, &c.Job, &c.Run)
	}
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

// commit begins a run whose work is done here, in the background.
func (f *feature) commit(ctx context.Context, c *job.Claim, work func(ctx context.Context, r job.Run)) error {
	f.works(c.Run.RunID, true)
	if err := c.Commit(ctx); err != nil {
		f.works(c.Run.RunID, false)
		return err
	}
	f.Work.Go(func(ctx context.Context) { work(ctx, c.Run) })
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
		delete(f.looks, runID)
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
	key, err := f.target(j.ID, r, agent)
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
	t.Terms = f.terms(j, p, key)
	t.ForAgent = f.head(j, r) + "\n" + words
	if r.Event != "" {
		t.Text = strings.TrimSpace(t.Text + "\n\n" + r.Event)
		t.ForAgent += "\n\n" + f.eventFor(r)
		t.Outside = r.Outside
		t.Owner = t.Owner && !wary(r.Spec.Schedule.Watch)
	}
	return t, nil
}

// terms are what a job sets for its answer beside its words.
func (f *feature) terms(j *job.Job, p protocol.CronPayload, key string) *session.Terms {
	own := j.Own()
	if p.Fallbacks == nil && !p.LightContext && own.MaxCostUSD == 0 {
		return nil
	}
	t := &session.Terms{MaxCost: own.MaxCostUSD, Light: p.LightContext}
	if p.Fallbacks != nil {
		t.Fallbacks = make([]string, 0, len(p.Fallbacks))
	}
	for _, name := range p.Fallbacks {
		if ref, ok := f.Models.Meant(key, name); ok {
			name = ref
		}
		t.Fallbacks = append(t.Fallbacks, name)
	}
	return t
}

// eventFor is what happened, as a model reads it.
func (f *feature) eventFor(r *job.Run) string {
	if !r.Outside {
		return r.Event
	}
	return untrusted.Wrapper{}.Wrap("what the job “"+untrusted.Clean(r.JobName)+"” watches", r.Event)
}

// head tells a model what it is about to read.
func (f *feature) head(j *job.Job, r *job.Run) string {
	st := f.style()
	s := fmt.Sprintf("[The job “%s” is due", j.Name)
	switch {
	case changed(r):
		s += ": what it watches has changed; what has changed stands below"
	case len(r.Items) > 0:
		s += ": the program that it watches has ended or said something, which stands below"
	case r.Slot != 0 && r.Spec.Schedule.Kind != protocol.CronWatch:
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
	if p := r.Spec.Pacing; p != nil {
		s += " Call the tool cron with action next_check and in (as 30m) to say when it looks again" + paceWords(p) + "."
	}
	return s + " " + contract
}

func paceWords(p *protocol.CronPacing) (s string) {
	if p.Min != "" {
		s = ", after " + p.Min + " at the earliest"
	}
	if p.Max != "" {
		s += ", after " + p.Max + " at the latest"
	}
	return s
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
func (f *feature) target(id string, r *job.Run, agent string) (string, error) {
	switch t := r.Spec.SessionTarget; {
	case t == protocol.CronIsolated:
		run := strings.TrimPrefix(strings.TrimPrefix(r.RunID, "cron:"+id+":"), "manual:"+id+":")
		return f.Agents.Canonical("cron:"+id+":"+strings.ReplaceAll(run, ":", "-"), agent)
	case strings.HasPrefix(t, protocol.CronSessionPrefix):
		return f.Agents.Canonical(strings.TrimPrefix(t, protocol.CronSessionPrefix), agent)
	case t == protocol.CronCurrent && r.Spec.SessionKey != "":
		return f.Agents.Canonical(r.Spec.SessionKey, agent)
	}
	return rules.Main(f.Settings, agent), nil
}

// said are the words of a job, with what happened.
func (f *feature) said(r *job.Run) string {
	return strings.TrimSpace(cmp.Or(r.Spec.Payload.Text, r.Spec.Payload.Message) + "\n\n" + r.Event)
}

// remind ends a run that only has something to say.
func (f *feature) remind(ctx context.Context, r job.Run) {
	text := f.said(&r)
	if changed(&r) {
		text = strings.TrimSpace(r.Spec.Payload.Text + "\n\n" + happened(r.Items))
	}
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
	case r.Stage == job.Checking:
		f.again(r, f.ask)
	case r.Spec.Payload.Kind == protocol.CronCommand && r.Stage == job.Claimed:
		f.again(r, f.command)
	case r.Spec.Payload.Kind == protocol.CronScript && r.Stage == job.Claimed:
		f.again(r, f.script)
	case r.Spec.Payload.Kind == protocol.CronCommand || r.Spec.Payload.Kind == protocol.CronScript:
		f.end(ctx, r, job.Result{
			Status: protocol.CronError, Unknown: true,
			Error: "Hearth stopped while the " + r.Spec.Payload.Kind + " ran. It is not started a second time by itself.",
		})
	case r.Spec.Hearth != nil && r.Spec.Hearth.Reminder:
		f.remind(ctx, r)
	case r.Spec.Payload.Kind == protocol.CronSystemEvent && r.Spec.WakeMode == protocol.CronWakeNext:
		f.again(r, f.leave)
	default:
		f.resumeAnswer(ctx, r)
	}
}

// again goes on with work that is done here.
func (f *feature) again(r job.Run, work func(ctx context.Context, r job.Run)) {
	f.works(r.RunID, true)
	f.Work.Go(func(ctx context.Context) { work(ctx, r) })
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
	return k == protocol.CronAgentTurn || k == protocol.CronHeartbeat ||
		k == protocol.CronSystemEvent && !j.Own().Reminder && j.WakeMode != protocol.CronWakeNext
}

// Waits implements job.Does.
func (f *feature) Waits(j *job.Job) string {
	if f.Asks(j) {
		if why := f.modelsWait(); why != "" {
			return why
		}
	}
	if k := j.Payload.Kind; k != protocol.CronCommand && k != protocol.CronScript && j.Trigger == nil {
		return ""
	}
	if err := f.Pause.Check(pause.UseTool); err != nil {
		return err.Error()
	}
	return ""
}

// modelsWait says why nothing asks a model by itself now; "" = nothing keeps it.
func (f *feature) modelsWait() string {
	if err := f.Pause.Check(pause.CallModel); err != nil {
		return err.Error()
	}
	if f.Budget.Poor() {
		return "the allowance is nearly used up, so nothing asks a model by itself"
	}
	return ""
}

// eventful reports whether a job has a script, a condition or a program that it
// watches.
func (f *feature) eventful(j *job.Job) bool {
	return j.Trigger != nil || j.Payload.Kind == protocol.CronScript || watches(&j.CronSpec)
}

func watches(s *protocol.CronSpec) bool {
	return s.Schedule.Kind == protocol.CronOnExit || s.Schedule.Kind == protocol.CronStream
}

// Refuses implements job.Does: the ceilings of a job.
func (f *feature) Refuses(j *job.Job) string {
	own := j.Own()
	if monitors(&j.CronSpec) {
		if f.Monitor == nil {
			return protocol.Sentence(errNoHeartbeats.Error())
		}
		return f.Monitor.Skips(f.Work.Context(), j)
	}
	if f.eventful(j) && !f.settings().Triggers {
		return protocol.Sentence(errSwitchedOff.Error())
	}
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
	open := map[string]bool{}
	for _, r := range f.book.Running("") {
		open[r.SessionKey] = true
	}
	before := f.Now().Add(-keep).UnixMilli()
	var old []string
	for at := 0; ; {
		page, err := f.Sessions.List(ctx, protocol.SessionsListParams{Search: ":cron:", Limit: 1000, Offset: at})
		if err != nil {
			f.Logger.Warn("the conversations of old runs could not be read", "err", err)
			return
		}
		old = append(old, oldSessions(page.Sessions, open, before)...)
		if at += len(page.Sessions); !page.HasMore {
			break
		}
	}
	for _, key := range old {
		if _, err := f.Sessions.Delete(ctx, key, false); err != nil && ctx.Err() == nil {
			f.Logger.Debug("the session of an old run stays", "session", key, "err", err)
		}
	}
}

// oldSessions are those of isolated runs that nothing was said in since a moment. The
// log of runs is no help here: a job that runs often leaves it sooner.
func oldSessions(rows []protocol.SessionRow, open map[string]bool, before int64) (out []string) {
	for _, r := range rows {
		parts := strings.Split(r.Key, ":") // agent:<id>:cron:<job>:<run>
		isolated := len(parts) == 5 && parts[0] == "agent" && parts[2] == "cron" && len(parts[3]) == jobID
		if isolated && !open[r.Key] && r.UpdatedAt < before {
			out = append(out, r.Key)
		}
	}
	return out
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
		if allows(r.Spec.Payload.ToolsAllow, name, false) {
			return ""
		}
		return name + " is not among the tools of this job (payload.toolsAllow)"
	}
	return ""
}
