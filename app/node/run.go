package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/process"
)

// runParams are what system.run and system.run.prepare get.
type runParams struct {
	Command    []string          `json:"command"`
	RawCommand string            `json:"rawCommand"`
	Cwd        string            `json:"cwd"`
	Env        map[string]string `json:"env"`
	TimeoutMs  int64             `json:"timeoutMs"`
	AgentID    string            `json:"agentId"`
	SessionKey string            `json:"sessionKey"`
	RunID      string            `json:"runId"`
	Security   string            `json:"security"`
	// Plan is what was prepared, and the next two what a person said of it.
	Plan     *runPlan `json:"systemRunPlan"`
	Approved bool     `json:"approved"`
	Decision string   `json:"approvalDecision"`
	Quiet    bool     `json:"suppressNotifyOnExit"`
	// Unconfined is ours: outside the sandbox.
	Unconfined bool `json:"hearthUnconfined"`
}

// runPlan is a plan as the gateway shows it and sends it back.
type runPlan struct {
	Argv    []string  `json:"argv"`
	Cwd     string    `json:"cwd"`
	Text    string    `json:"commandText"`
	Preview string    `json:"commandPreview,omitempty"`
	AgentID *string   `json:"agentId"`
	Session *string   `json:"sessionKey"`
	Policy  *runLevel `json:"policySnapshot,omitempty"`
	// What follows is ours: what names this one plan, and what is the same whenever
	// the same would run; all that will run, for people.
	ID         string   `json:"hearthPlan,omitempty"`
	Digest     string   `json:"hearthDigest,omitempty"`
	Lines      []string `json:"hearthLines,omitempty"`
	Warnings   []string `json:"hearthWarnings,omitempty"`
	Unconfined bool     `json:"hearthUnconfined,omitempty"`
}

type runLevel struct {
	Security string `json:"security"`
	Ask      string `json:"ask"`
}

// prepare says what a command would run here. It runs nothing.
func (h *Host) prepare(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p runParams
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	level, _, err := h.level(p)
	if err != nil {
		return nil, err
	}
	made, err := h.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	pin, loose := launch.Pinning(ctx, h.keeper, made, !p.Unconfined && h.confined.Confined)
	one := h.plans.add(prepared{
		plan: made, pin: pin, agent: p.AgentID, session: p.SessionKey, asked: p.Unconfined, unconfined: p.Unconfined || !h.confined.Confined,
	})
	out := runPlan{
		Argv: made.Argv, Cwd: made.Dir, Text: quoted(made.Argv), Preview: p.RawCommand, AgentID: some(p.AgentID), Session: some(p.SessionKey),
		Policy: &level, ID: one.id, Digest: one.digest(), Lines: made.Lines(), Warnings: made.Warnings(), Unconfined: one.unconfined,
	}
	switch {
	case !h.confined.Confined:
		out.Warnings = append(out.Warnings, "It runs without a sandbox: it can read and change everything that the person can whose machine "+
			"that is. "+strings.Join(h.confined.Words, " "))
	case p.Unconfined:
		out.Warnings = append(out.Warnings, "It runs outside the sandbox: it can read and change everything that the person can whose machine "+
			"that is, and reach the network.")
	}
	if loose != "" {
		out.Warnings = append(out.Warnings, loose)
	}
	return map[string]any{
		"plan": out, "execPolicy": level, "allowAlwaysCoverage": map[string]any{"complete": false, "patterns": []string{}},
	}, nil
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// level is what the owner of this machine allows; the gateway can only ask for less.
func (h *Host) level(p runParams) (runLevel, Approvals, error) {
	a, _, _, err := h.o.Folder.Approvals()
	if err != nil {
		return runLevel{}, a, denied("%v", err)
	}
	security, ask := a.level(p.AgentID)
	if security == securityDeny || p.Security == securityDeny {
		return runLevel{}, a, denied("commands are switched off on this machine")
	}
	return runLevel{security, ask}, a, nil
}

func denied(format string, args ...any) error {
	return &fault{"SYSTEM_RUN_DENIED", fmt.Sprintf(format, args...)}
}

// resolve plans a command in the folder that is meant.
func (h *Host) resolve(ctx context.Context, p runParams) (plan.Plan, error) {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return plan.Plan{}, invalid("command is needed: the program and its arguments")
	}
	dir := p.Cwd
	switch {
	case dir == "":
		dir = h.o.Work
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(h.o.Home, dir[1:])
	case !filepath.IsAbs(dir):
		dir = filepath.Join(h.o.Work, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return plan.Plan{}, invalid("the folder %s is not there on this machine", plan.Show(dir))
	}
	made, err := h.resolver.Resolve(ctx, plan.Request{Argv: p.Command, Dir: dir, Env: p.Env})
	if err != nil {
		return plan.Plan{}, invalid("%v", err)
	}
	return made, nil
}

// run runs exactly a plan that was prepared here and agreed to, or what the
// owner of this machine listed.
func (h *Host) run(ctx context.Context, cn *conn, raw json.RawMessage) (any, error) {
	var p runParams
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	one, err := h.permit(ctx, p)
	if err != nil {
		cn.tellRun(ctx, p, "exec.denied", map[string]any{"reason": err.Error()})
		return nil, err
	}
	r, err := h.execute(ctx, p, one, cn.progress(ctx))
	if err != nil {
		return nil, err
	}
	cn.tellRun(context.WithoutCancel(ctx), p, "exec.finished", map[string]any{
		"exitCode": r.ExitCode, "timedOut": r.TimedOut, "success": r.Success, "output": clipped(r.Stdout + r.Stderr),
		"suppressNotifyOnExit": p.Quiet,
	})
	return r, nil
}

// permit decides whether a command runs. A yes without the plan that it was
// said to is no yes.
func (h *Host) permit(ctx context.Context, p runParams) (prepared, error) {
	level, list, err := h.level(p)
	if err != nil {
		return prepared{}, err
	}
	var one prepared
	found := false
	if p.Plan != nil {
		if one, found = h.plans.take(*p.Plan, p.AgentID, p.SessionKey); !found {
			return prepared{}, denied("this is not a plan that was made here for this session in the last %s and not used yet; prepare it again",
				planLife)
		}
		if err := same(p, one); err != nil {
			return prepared{}, err
		}
	} else {
		made, err := h.resolve(ctx, p)
		if err != nil {
			return prepared{}, err
		}
		one = prepared{plan: made, unconfined: !h.confined.Confined}
	}
	if found && p.Approved && (p.Decision == "allow-once" || p.Decision == "allow-always") {
		return one, nil
	}
	if level.Ask != askAlways && !one.unconfined && list.covers(p.AgentID, one.plan) {
		return one, nil
	}
	program := firstOf(one.plan)
	if why := AskedAbout(ctx, program); why != "" {
		return prepared{}, denied("approval required: nobody has agreed to this command, and a person must each time: %s", why)
	}
	return prepared{}, denied("approval required: nobody has agreed to this command; the owner of this machine can list its program with "+
		"`hearth node allow %s`", plan.Show(program))
}

// same: what is to run is what was prepared, in every part that is named again.
func same(p runParams, one prepared) error {
	differs := func(what string) error {
		return &fault{"CONFLICT", what + " differs from the plan that was agreed to; nothing was run"}
	}
	asked := one.plan.Request()
	switch {
	case len(p.Command) > 0 && !slices.Equal(p.Command, one.plan.Argv):
		return differs("the command")
	case p.Cwd != "" && filepath.Clean(p.Cwd) != one.plan.Dir && p.Cwd != asked.Dir:
		return differs("the folder")
	case len(p.Env)+len(asked.Env) > 0 && !maps.Equal(p.Env, asked.Env):
		return differs("the environment")
	case p.Unconfined && !one.unconfined, p.Plan.Unconfined && !one.unconfined:
		return differs("the sandbox")
	}
	return nil
}

func firstOf(p plan.Plan) string {
	if len(p.Programs) > 0 && p.Programs[0].Path != "" {
		return p.Programs[0].Path
	}
	return p.Argv[0]
}

// runResult is how it ended.
type runResult struct {
	ExitCode *int    `json:"exitCode"` // null: it did not end by itself
	TimedOut bool    `json:"timedOut"`
	Success  bool    `json:"success"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Error    *string `json:"error"`
	// Sandbox is ours: confined, or why not.
	Sandbox string `json:"hearthSandbox"`
}

const (
	owner      = "gateway"
	keepOutput = 200 << 10
	newsOutput = 8 << 10
)

func (h *Host) execute(ctx context.Context, p runParams, one prepared, told func([]byte)) (runResult, error) {
	var limit time.Duration
	if p.TimeoutMs > 0 {
		limit = time.Duration(min(p.TimeoutMs, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	out, w, err := os.Pipe()
	if err != nil {
		return runResult{}, fmt.Errorf("make a pipe: %w", err)
	}
	defer out.Close()
	place := launch.Place{Resolver: h.resolver, Home: h.o.Home, Environ: h.o.Environ, Hide: []string{string(h.o.Folder.Dir)}}
	s, err := place.Spec(ctx, one.plan, launch.Terms{
		Owner: owner, Workspace: h.o.Work, Confined: !one.unconfined, Timeout: limit, Stdout: w, Pin: one.pin,
	})
	if err != nil {
		_ = w.Close()
		return runResult{}, refusedStart(err)
	}
	proc, err := h.keeper.Start(ctx, s)
	_ = w.Close()
	if err != nil {
		_ = os.RemoveAll(s.Temp)
		return runResult{}, refusedStart(err)
	}
	said := make(chan ends)
	go func() { said <- readEnds(out, keepOutput, told) }()
	cut := false
	select {
	case <-proc.Done():
	case <-ctx.Done():
		cut = true
		proc.Stop()
		<-proc.Done()
	}
	r := result(proc, one, cut && errors.Is(ctx.Err(), context.DeadlineExceeded))
	r.Stdout = (<-said).String()
	_ = h.keeper.Remove(owner, proc.ID())
	return r, nil
}

func refusedStart(err error) error {
	if errors.Is(err, plan.ErrChanged) || errors.Is(err, process.ErrMoved) {
		return &fault{"CONFLICT", err.Error()}
	}
	return err
}

func result(proc *process.Process, one prepared, late bool) runResult {
	x, kept := proc.Info().Exit, proc.Output()
	e := ends{head: kept.Head, tail: kept.Tail, dropped: kept.Dropped}
	r := runResult{TimedOut: x.TimedOut || late, Success: x.OK(), Stderr: e.String(), Sandbox: "confined"}
	if one.unconfined {
		r.Sandbox = "not confined"
	}
	words := ""
	switch {
	case r.TimedOut:
		words = "its time was over"
	case x.Stopped:
		words = "stopped"
	case x.Lost != "":
		words = "how it ended is not known: " + x.Lost
	case x.Signal != "":
		words = "ended by " + x.Signal
	default:
		code := x.Code
		r.ExitCode = &code
	}
	r.Error = some(words)
	return r
}

// tellRun tells what became of a command, where somebody asked to know.
func (cn *conn) tellRun(ctx context.Context, p runParams, event string, more map[string]any) {
	if p.RunID == "" {
		return
	}
	session := p.SessionKey
	if session == "" {
		session = "node"
	}
	more["sessionKey"], more["runId"], more["host"], more["command"] = session, p.RunID, "node", quoted(p.Command)
	cn.news(ctx, event, more)
}

func clipped(s string) string {
	if len(s) > newsOutput {
		s = s[len(s)-newsOutput:]
	}
	return strings.TrimRight(strings.ToValidUTF8(s, ""), "\n")
}

// quoted is a command as a person reads it.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`|&;<>()*?[]#~!{}") {
			out[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a) + `"`
		}
	}
	return strings.Join(out, " ")
}
