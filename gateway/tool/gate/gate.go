// Package gate stands in front of every call of a tool, whoever asked for it:
// whether the policy of the settings lets it use a tool, the pause, the owner's
// yes, and the audit log. It does not own the policy's
// rules (tool/policy), the requests for a yes (approval) nor the tools.
package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/stopwatch"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// Rule refuses tools for a reason that the policy of the settings does not know,
// such as a tool whose service is switched off. It is the feature's that has the
// tool. The answer is the reason, "" for none.
type Rule func(name string, s tool.Scope) (why string)

// Programs know the tools that the program of a run brought along.
type Programs interface{ HasTool(runID, name string) bool }

// Options of a Gate; all are needed.
type Options struct {
	Settings *config.File
	Agents   *agents.Directory
	Audit    *audit.Log
	Pause    *pause.Switch
	Broker   *approval.Broker
}

// Gate is safe for concurrent use once its rules and programs are set.
type Gate struct {
	o        Options
	rules    []Rule
	programs Programs
	policies atomic.Pointer[madePolicy]
}

// New returns a gate without rules of features.
func New(o Options) *Gate { return &Gate{o: o} }

// AddRule adds a rule. It is called before anything is asked.
func (g *Gate) AddRule(r Rule) { g.rules = append(g.rules, r) }

// SetPrograms says who knows the tools of programs. It is called before anything
// is asked.
func (g *Gate) SetPrograms(p Programs) { g.programs = p }

// May decides about a tool; the one place that is asked.
func (g *Gate) May(name string, s tool.Scope) policy.Decision {
	for _, r := range g.rules {
		if why := r(name, s); why != "" {
			return policy.Decision{Why: why}
		}
	}
	if _, ok := g.o.Agents.Book().Get(s.AgentID); !ok && name != "session_status" {
		// Its rules are gone with it, and may have been narrower.
		return policy.Decision{Why: fmt.Sprintf("the agent %q is not in agents.list any more", s.AgentID)}
	}
	return g.policy().Decide(name, s)
}

// Before stands in front of every call of a tool. The policy is asked again:
// settings may have changed since the run began.
func (g *Gate) Before(_ context.Context, name string, call tool.Call) error {
	if err := g.o.Pause.Check(pause.UseTool); err != nil {
		return err
	}
	e := audit.Entry{
		Kind: audit.KindTool, What: "used " + name, Who: strings.TrimSuffix(call.Surface+":"+call.Sender, ":"),
		Session: call.SessionKey, Run: call.RunID, Facts: map[string]string{"call": call.ID, "args": string(call.Args)},
	}
	if g.programs != nil && g.programs.HasTool(call.RunID, name) {
		e.What, e.Who = "asked the program for "+name, call.Sender
		g.o.Audit.Add(e)
		return nil
	}
	if policy.GroupOf(name) == "group:runtime" {
		e.Kind = audit.KindExec
	}
	if name == "message" {
		e.Kind = audit.KindSend
	}
	d := g.May(name, call.Scope)
	if !d.Allowed {
		e.What, e.Facts["why"] = "was not allowed "+name, d.Why
		g.o.Audit.Add(e)
		return errors.New("Not allowed: " + d.Why + ". Do not try the same in another way.")
	}
	g.o.Audit.Add(e)
	return nil
}

// BeforeProgram stands in front of exec and wait of code mode. The calls of their
// programs pass Before, each by itself.
func (g *Gate) BeforeProgram(_ context.Context, name string, call tool.Call) error {
	if err := g.o.Pause.Check(pause.UseTool); err != nil {
		return err
	}
	g.o.Audit.Add(audit.Entry{
		Kind: audit.KindTool, What: "ran a program", Who: strings.TrimSuffix(call.Surface+":"+call.Sender, ":"), Session: call.SessionKey,
		Run:   call.RunID,
		Facts: map[string]string{"call": call.ID, "tool": name, "args": string(call.Args)},
	})
	return nil
}

// Permit asks people on behalf of a tool's call, and shows there that it waits.
// The clocks of the call, its run and its program stand still meanwhile.
func (g *Gate) Permit(ctx context.Context, call tool.Call, a approval.Ask) (approval.Grant, error) {
	call.Progress("Waiting for your approval: " + a.Title)
	defer Waiting(ctx)() // people take their time
	return g.o.Broker.Permit(ctx, a)
}

// Waiting stops the clocks of what waits for somebody: the run's, that of a
// program which made the call, and the call's own, until resume is called.
func Waiting(ctx context.Context) (resume func()) {
	run, program, call := session.Waiting(ctx), codemode.WaitingForPerson(ctx), stopwatch.Hold(ctx)
	return func() { call(); program(); run() }
}
