package nodes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Commands on other machines: the node says what it would run, a person allows
// exactly that, the node runs exactly that.

const (
	commandRun     = "system.run"
	commandPrepare = "system.run.prepare"

	// runGrace is what a node may take beyond the time of the command itself.
	runGrace    = 10 * time.Second
	maxRunPlan  = 64 << 10
	defaultRunS = 120
	maxSaid     = 12 // lines of a node's own words
)

// nodeRun is a command for a node.
type nodeRun struct {
	Argv    []string
	Text    string // as a person or a model wrote it, for showing
	Dir     string
	Env     map[string]string
	Timeout time.Duration // 0: two minutes
	Why     string
}

// nodeRunPlan is what a node says that it would run.
type nodeRunPlan struct {
	Argv        []string `json:"argv"`
	Cwd         string   `json:"cwd"`
	CommandText string   `json:"commandText"`
	SessionKey  string   `json:"sessionKey"`
	AgentID     string   `json:"agentId"`
	// Our own node hosts say what the command starts, and what to look out for.
	Lines    []string `json:"hearthLines"`
	Warnings []string `json:"hearthWarnings"`

	raw json.RawMessage
}

// nodeRunResult is how it ended.
type nodeRunResult struct {
	ExitCode *int   `json:"exitCode"`
	TimedOut bool   `json:"timedOut"`
	Success  bool   `json:"success"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	Error    any    `json:"error"`
}

// invokeRun is system.run as a person called it: what it claims about approvals
// is refused, and the rest goes the way of every command.
func (f *Nodes) invokeRun(ctx context.Context, c *server.Caller, want node.Call, sessionKey string) (node.Result, error) {
	var p map[string]json.RawMessage
	if err := json.Unmarshal(want.Params, &p); err != nil {
		return node.Result{}, protocol.InvalidParams(protocol.MethodNodeInvoke, "params must be an object")
	}
	for _, name := range []string{"approved", "approvalDecision", "systemRunPlan", "runId"} {
		if _, forged := p[name]; forged {
			return node.Result{}, (&protocol.Error{Code: protocol.CodeForbidden, Message: "system.run: " + name + " is for Hearth alone to say; " +
				"leave it out, and decide about the request that follows"}).With("field", name)
		}
	}
	var run struct {
		Command   []string          `json:"command"`
		Cwd       string            `json:"cwd"`
		Env       map[string]string `json:"env"`
		TimeoutMs int64             `json:"timeoutMs"`
	}
	if err := json.Unmarshal(want.Params, &run); err != nil || len(run.Command) == 0 {
		return node.Result{}, protocol.InvalidParams(protocol.MethodNodeInvoke, "params.command must be a list of texts: the program and its "+
			"arguments")
	}
	scope, err := f.o.Direct.Scope(sessionKey, "", "invoke:"+uuid.New())
	if err != nil {
		return node.Result{}, err
	}
	scope.Sender = method.DeciderOf(c).ID
	call := tool.Call{Scope: scope, ID: uuid.New(), Progress: func(string) {}}
	i, ok := f.nodes.Get(want.NodeID)
	if !ok || !i.Connected {
		return node.Result{}, node.ErrNotConnected
	}
	return f.runOnNode(ctx, call, i, nodeRun{Argv: run.Command, Dir: run.Cwd, Env: run.Env, Timeout: method.Duration(run.TimeoutMs)}, want.Key)
}

// runOnNode asks the node for its plan, a person for their yes, and the node to
// run that plan. The key makes a repeated wish the same wish.
func (f *Nodes) runOnNode(ctx context.Context, call tool.Call, i node.Info, run nodeRun, key string) (node.Result, error) {
	if run.Timeout <= 0 {
		run.Timeout = defaultRunS * time.Second
	}
	p, err := f.prepareRun(ctx, call, i, run)
	if err != nil {
		return node.Result{}, err
	}
	if _, err := f.o.Gate.Permit(ctx, call, askNodeRun(call, i, run, p)); err != nil {
		return node.Result{}, err
	}
	id := uuid.New()
	params := map[string]any{
		"command": p.Argv, "systemRunPlan": p.raw, "cwd": p.Cwd, "timeoutMs": run.Timeout.Milliseconds(),
		"agentId": call.AgentID, "sessionKey": call.SessionKey, "runId": id, "approved": true, "approvalDecision": protocol.DecisionAllowOnce,
	}
	if p.CommandText != "" {
		params["rawCommand"] = p.CommandText
	}
	if len(run.Env) > 0 {
		params["env"] = run.Env
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return node.Result{}, fmt.Errorf("encode system.run: %w", err)
	}
	shown := ""
	res, err := f.nodes.Invoke(ctx, node.Call{
		NodeID: i.Row.ID, Command: commandRun, Params: raw, Timeout: run.Timeout + runGrace, Key: key, RunID: id,
		Progress: func(chunk string) { shown += chunk; call.Progress(shown) },
	})
	if err != nil {
		return node.Result{}, err
	}
	var out nodeRunResult
	if json.Unmarshal(res.Payload, &out) != nil {
		return node.Result{}, &node.BadAnswerError{Why: "it does not say how the command ended"}
	}
	return res, nil
}

// prepareRun has the node make its plan and refuses one for anything else than
// what was asked for (A-NODE-05).
func (f *Nodes) prepareRun(ctx context.Context, call tool.Call, i node.Info, run nodeRun) (nodeRunPlan, error) {
	var p nodeRunPlan
	if !offered(i, commandPrepare) {
		return p, &node.NotAllowedError{Command: commandPrepare, Why: "this node cannot say what it would run (system.run.prepare is missing " +
			"or not approved), so nothing can be approved"}
	}
	params := map[string]any{"command": run.Argv, "agentId": call.AgentID, "sessionKey": call.SessionKey}
	if run.Dir != "" {
		params["cwd"] = run.Dir
	}
	if len(run.Env) > 0 {
		params["env"] = run.Env
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return p, fmt.Errorf("encode system.run.prepare: %w", err)
	}
	res, err := f.nodes.Invoke(ctx, node.Call{NodeID: i.Row.ID, Command: commandPrepare, Params: raw})
	if err != nil {
		return p, err
	}
	return readRunPlan(res.Payload, run, call)
}

func readRunPlan(payload json.RawMessage, run nodeRun, call tool.Call) (p nodeRunPlan, err error) {
	var answer struct {
		Plan json.RawMessage `json:"plan"`
	}
	if len(payload) > maxRunPlan || json.Unmarshal(payload, &answer) != nil || json.Unmarshal(answer.Plan, &p) != nil {
		return p, &node.BadAnswerError{Why: "it is no plan of a command"}
	}
	var packed bytes.Buffer
	if err := json.Compact(&packed, answer.Plan); err != nil {
		return p, &node.BadAnswerError{Why: "it is no plan of a command"}
	}
	p.raw = packed.Bytes()
	switch {
	case !samePlan(run.Argv, p.Argv):
		return p, &node.BadAnswerError{Why: "its plan is for another command than the one that was asked for"}
	case run.Dir != "" && p.Cwd != run.Dir && filepath.Clean(p.Cwd) != filepath.Clean(run.Dir):
		return p, &node.BadAnswerError{Why: "its plan is for another folder than the one that was asked for"}
	case p.SessionKey != "" && p.SessionKey != call.SessionKey || p.AgentID != "" && p.AgentID != call.AgentID:
		return p, &node.BadAnswerError{Why: "its plan is for another conversation"}
	}
	return p, nil
}

// samePlan reports whether a plan is for what was asked. OpenClaw's node host
// says where it found the program: its plan may have the whole path of the
// program asked for by name. The owner is shown the path.
func samePlan(asked, planned []string) bool {
	if len(asked) == 0 || len(asked) != len(planned) || !slices.Equal(asked[1:], planned[1:]) {
		return false
	}
	return asked[0] == planned[0] || !strings.ContainsAny(asked[0], `/\`) && path.IsAbs(planned[0]) && path.Base(planned[0]) == asked[0]
}

// askNodeRun binds the yes to the node, the command, its environment and the
// whole plan of the node, and says all of it. It is for once: nobody here can
// see what the files over there become.
func askNodeRun(call tool.Call, i node.Info, run nodeRun, p nodeRunPlan) approval.Ask {
	a := approval.For(approval.KindExec, call)
	name := plan.Show(i.Row.DisplayName())
	a.Tool, a.Why, a.Host, a.Argv = "exec", run.Why, "node:"+i.Row.ID, p.Argv
	for _, n := range slices.Sorted(maps.Keys(run.Env)) {
		a.Env = append(a.Env, n+"="+run.Env[n])
	}
	if filepath.IsAbs(p.Cwd) && filepath.Clean(p.Cwd) == p.Cwd {
		a.Dir = p.Cwd
	}
	shown := run.Text
	if shown == "" {
		shown = strings.Join(p.Argv, " ")
	}
	a.Title = "Run " + plan.Show(shown) + " on " + name
	a.Says = sentence.New("device.run", "device", i.Row.DisplayName())
	a.Warnings = []string{"It runs on another machine, " + name + ", outside of the sandbox of this one."}
	a.Lines = []string{"Machine: " + name + " (" + approval.ShortID(i.Row.ID) + ", " + plan.Show(i.Row.About.Platform) + ")"}
	for n, arg := range p.Argv {
		a.Lines = append(a.Lines, fmt.Sprintf("Argument %d: %s", n, plan.Show(arg)))
	}
	a.Lines = append(a.Lines, "Folder: "+plan.Show(p.Cwd))
	for _, e := range a.Env {
		a.Lines = append(a.Lines, "Environment: "+plan.Show(e))
	}
	for _, w := range p.Warnings[:min(len(p.Warnings), maxSaid)] {
		a.Warnings = append(a.Warnings, name+" says: "+shortly(w))
	}
	a.Lines = append(a.Lines, a.Warnings...)
	for _, l := range p.Lines[:min(len(p.Lines), maxSaid)] {
		a.Lines = append(a.Lines, name+" says: "+shortly(l))
	}
	h := sha256.New()
	fmt.Fprintf(h, "hearth node run 1\x00%s\x00", i.Row.ID)
	h.Write(p.raw)
	a.Digest = [32]byte(h.Sum(nil))
	return a
}

// shortly is a line of a node's words, safe to show.
func shortly(s string) string {
	return plan.Show(text.Ellipsis(s, 400))
}

// words says how a command on a node ended, for a model.
func (r nodeRunResult) words() (string, error) {
	text := strings.TrimRight(r.Stdout, "\n")
	if r.Stderr != "" {
		if text != "" {
			text += "\n"
		}
		text += strings.TrimRight(r.Stderr, "\n")
	}
	switch {
	case r.TimedOut:
		return text, errors.New("The command was stopped because its time was over.")
	case r.ExitCode == nil && !r.Success:
		return text, errors.New("The command did not run to its end.")
	case r.ExitCode != nil && *r.ExitCode != 0:
		return text, fmt.Errorf("The command ended with exit code %d.", *r.ExitCode)
	}
	return text, nil
}
