package cron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
)

// Limits of scripts, which run with nobody there.
const (
	scriptTime     = 5 * time.Minute
	maxScriptTime  = 15 * time.Minute
	scriptCalls    = 50
	maxScriptCalls = 200
	checkTime      = 30 * time.Second
	checkCalls     = 5
	maxScript      = 64 << 10
	maxState       = 16 << 10
)

// Programs run scripts.
type Programs interface {
	// RunScript runs one to its end. brought says which tools of MCP servers it has.
	RunScript(ctx context.Context, s codemode.Script, brought func(name string) bool) (codemode.Result, error)
	// Readable says what is wrong with the text of a script; nil: it can be begun.
	Readable(ctx context.Context, code string) error
}

// script does the payload of a job that is a program of code mode.
func (f *feature) script(ctx context.Context, r job.Run) {
	defer f.works(r.RunID, false)
	if err := f.book.Started(ctx, r.RunID); err != nil {
		if !errors.Is(err, job.ErrTaken) && ctx.Err() == nil {
			f.Logger.Error("the script of a job could not begin", "run", r.RunID, "err", err)
		}
		return
	}
	res := f.runScript(ctx, r)
	if ctx.Err() != nil && res.Status != protocol.CronOK {
		res = job.Result{Status: protocol.CronError, Unknown: true, Error: "Hearth stopped while the script ran."}
	}
	f.end(ctx, r, res)
}

func (f *feature) runScript(ctx context.Context, r job.Run) job.Result {
	p := r.Spec.Payload
	fail := func(reason string, format string, a ...any) job.Result {
		return job.Result{Status: protocol.CronError, Error: fmt.Sprintf(format, a...), Reason: reason}
	}
	limit, calls := scriptTime, scriptCalls
	if p.TimeoutSeconds != nil && *p.TimeoutSeconds > 0 {
		limit = min(time.Duration(*p.TimeoutSeconds*float64(time.Second)), maxScriptTime)
	}
	if p.ToolBudget > 0 {
		calls = min(p.ToolBudget, maxScriptCalls)
	}
	res, err := f.code(ctx, r, p.Script, limit, calls)
	if err != nil {
		return fail(reasonOf(err), "%s", protocol.Sentence(err.Error()))
	}
	var out struct {
		Notify, Wake, NextCheck string
		State                   json.RawMessage
	}
	if said := res.Said(); len(said) > 0 && said[0] == '{' {
		if err := json.Unmarshal(said, &out); err != nil {
			return fail("", "The script returned something else than { notify, wake, state, nextCheck }: %v.", err)
		}
	}
	done := job.Result{Status: protocol.CronOK, Text: out.Notify}
	if done.Keeps, err = stateOf(out.State); err != nil {
		return fail("", "%s", protocol.Sentence(err.Error()))
	}
	if done.Look, err = lookOf(r.Spec, out.NextCheck); err != nil {
		return fail("", "%s", protocol.Sentence(err.Error()))
	}
	if err := f.wakes(ctx, r, out.Wake, out.Notify); err != nil {
		return fail("", "%s", protocol.Sentence(err.Error()))
	}
	return done
}

// wakes tells the assistant what a script found, when the script says so.
func (f *feature) wakes(ctx context.Context, r job.Run, mode, text string) error {
	switch mode {
	case "":
		return nil
	case protocol.CronWakeNow, protocol.CronWakeNext:
	default:
		return fmt.Errorf("the script returned wake %q; it is now or next-heartbeat", headline(mode))
	}
	if text == "" {
		text = "The job “" + r.JobName + "” is done."
	}
	return f.noticed(ctx, notice{
		id: "wake:" + r.RunID, key: rules.Main(f.Settings, f.agentOf(r.Spec)), text: text, title: r.JobName, outside: true,
		now: mode == protocol.CronWakeNow,
	})
}

// errScript is a script that ended in an error of its own.
type errScript struct{ reason, words string }

func (e *errScript) Error() string { return e.words }

func reasonOf(err error) string {
	var own *errScript
	if errors.As(err, &own) {
		return own.reason
	}
	return ""
}

// code runs a program of a job as its agent, in the conversation that it
// belongs to.
func (f *feature) code(ctx context.Context, r job.Run, text string, limit time.Duration, calls int) (codemode.Result, error) {
	agent := f.agentOf(r.Spec)
	key := rules.Main(f.Settings, agent)
	if r.Spec.SessionTarget == protocol.CronIsolated {
		key = "cron:" + r.JobID
	}
	scope, err := f.Direct.Scope(key, agent, r.RunID)
	if err != nil {
		return codemode.Result{}, err
	}
	scope.Owner = !r.Guest && !r.Outside
	trigger := map[string]any{"state": nil, "event": nil}
	if keeps, err := f.book.Kept(r.JobID); err != nil {
		return codemode.Result{}, err
	} else if len(keeps) > 0 {
		trigger["state"] = keeps
	}
	if r.Event != "" {
		trigger["event"] = r.Event
		if r.Spec.Schedule.Kind == protocol.CronStream {
			trigger["streamBatch"] = r.Event
		}
	}
	res, err := f.Programs.RunScript(ctx, codemode.Script{
		Scope: scope, Code: text, Given: map[string]any{"trigger": trigger}, Limit: limit, Calls: calls,
	}, func(name string) bool {
		return r.Spec.Payload.ToolsAllow != nil && allows(r.Spec.Payload.ToolsAllow, name, true)
	})
	switch {
	case err != nil:
		return res, err
	case res.Status != codemode.Completed:
		words := res.Error
		if res.Line > 0 {
			words += fmt.Sprintf(" (line %d)", res.Line)
		}
		reason := ""
		if res.Code == "timeout" {
			reason = "timeout"
		}
		return res, &errScript{reason, "the script failed: " + words}
	}
	return res, nil
}

// allows reports whether a list of tools names one. With exact, a star alone does
// not.
func allows(list []string, tool string, exact bool) bool {
	for _, name := range list {
		prefix, glob := strings.CutSuffix(name, "*")
		switch {
		case name == tool, mcp.Prefix+name == tool, name == "*" && !exact:
			return true
		case glob && strings.Contains(prefix, "__") && (strings.HasPrefix(tool, prefix) || strings.HasPrefix(tool, mcp.Prefix+prefix)):
			return true
		}
	}
	return false
}

// stateOf is what a script keeps until the next time; nil is nothing new.
func stateOf(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > maxState {
		return nil, fmt.Errorf("the script returned a state of %d bytes, at most %d are kept", len(raw), maxState)
	}
	return raw, nil
}

// lookOf is after how long a job wants to be looked at again.
func lookOf(s *protocol.CronSpec, in string) (time.Duration, error) {
	if in == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(in)
	switch {
	case s.Pacing == nil:
		return 0, errors.New("this job has no pacing, so it cannot say when it looks again (nextCheck)")
	case err != nil || d <= 0:
		return 0, fmt.Errorf("it looks again after %q; write it like 15m", headline(in))
	}
	return d, nil
}

// ask asks the condition of a run whether it is to begin, and begins it then.
func (f *feature) ask(ctx context.Context, r job.Run) {
	v, fire, err := f.verdict(ctx, r)
	f.works(r.RunID, false)
	switch {
	case ctx.Err() != nil:
		return // the next start asks again
	case err != nil:
		f.end(ctx, r, job.Result{
			Status: protocol.CronError, Reason: job.ReasonCondition, Error: "The condition could not be asked. " + protocol.Sentence(err.Error()),
		})
		return
	case fire:
		if err = f.fired(ctx, r, v); !errors.Is(err, job.ErrTaken) && !errors.Is(err, job.ErrNotFound) {
			break
		}
		v.Keeps = nil // it was disabled or changed while its condition was asked
		fallthrough
	default:
		err = f.book.Unfired(ctx, r, v.Keeps)
	}
	if err != nil && ctx.Err() == nil {
		f.end(ctx, r, job.Result{Status: protocol.CronError, Error: "The condition said yes, and the job could not begin: " + err.Error() + "."})
	}
}

func (f *feature) fired(ctx context.Context, r job.Run, v job.Verdict) error {
	c, err := f.book.Fired(r, v)
	if err != nil {
		return err
	}
	return f.begin(ctx, c)
}

// verdict runs the script of a condition.
func (f *feature) verdict(ctx context.Context, r job.Run) (v job.Verdict, fire bool, err error) {
	res, err := f.code(ctx, r, r.Spec.Trigger.Script, checkTime, checkCalls)
	if err != nil {
		return v, false, err
	}
	var out struct {
		Fire    *bool
		Message string
		State   json.RawMessage
	}
	if err := json.Unmarshal(res.Said(), &out); err != nil || out.Fire == nil {
		return v, false, errors.New("the script has to return { fire: true or false, message, state }")
	}
	if v.Keeps, err = stateOf(out.State); err != nil {
		return v, false, err
	}
	v.Message, v.Outside = out.Message, len(res.Outside()) > 0
	return v, *out.Fire, nil
}
