package approvals

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) approvalList(context.Context, method.None) ([]protocol.Approval, error) {
	out := []protocol.Approval{}
	for _, r := range f.o.Broker.Pending() {
		out = append(out, approvalOf(r, f.o.Settings.Snapshot().Config))
	}
	return out, nil
}

func (f *feature) approvalGet(_ context.Context, p protocol.ApprovalIDParams) (protocol.Approval, error) {
	r, err := f.o.Broker.Get(p.ID)
	return approvalOf(r, f.o.Settings.Snapshot().Config), approvalError(err)
}

func (f *feature) approvalResolve(ctx context.Context, c *server.Caller, p protocol.ApprovalResolveParams) (protocol.OKResult, error) {
	scope, ok := approval.ParseScope(cmp.Or(p.HearthScope, p.Decision))
	if !ok {
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodExecApprovalResolve, "decision must be allow-once, allow-always or "+
			"deny")
	}
	_, err := f.o.Broker.Resolve(ctx, p.ID, scope, method.DeciderOf(c))
	return protocol.OKResult{OK: err == nil}, approvalError(err)
}

// approvalRequest asks on behalf of a client, which waits for the answer here
// or with waitDecision.
func (f *feature) approvalRequest(ctx context.Context, c *server.Caller, p protocol.ApprovalRequestParams) (protocol.ApprovalRequestResult,
	error) {
	a, err := f.clientAsk(c, p)
	if err != nil {
		return protocol.ApprovalRequestResult{}, err
	}
	r, err := f.o.Broker.Open(ctx, a, method.DeciderOf(c).ID)
	if err != nil {
		return protocol.ApprovalRequestResult{}, approvalError(err)
	}
	if p.TwoPhase {
		return protocol.ApprovalRequestResult{Status: "accepted", ID: r.ID, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt}, nil
	}
	return f.approvalWait(ctx, protocol.ApprovalIDParams{ID: r.ID})
}

// clientAsk: what a client runs is not ours to know, so it is allowed once.
func (f *feature) clientAsk(c *server.Caller, p protocol.ApprovalRequestParams) (approval.Ask, error) {
	var key, agent, dir string
	if p.SessionKey != nil {
		key = *p.SessionKey
	}
	if p.AgentID != nil {
		agent = *p.AgentID
	}
	key, err := f.o.Agents.Canonical(key, agent)
	if err != nil {
		return approval.Ask{}, err
	}
	if p.Cwd != nil {
		dir = *p.Cwd
	}
	a := approval.Ask{
		Kind: approval.KindExec, SessionKey: key, AgentID: session.AgentOf(key), Command: p.Command, Argv: p.CommandArgv, Dir: dir,
		Surface: c.Client.ID, Warnings: []string{"A client asks for this and runs it itself; Hearth cannot tell what it will do."},
	}
	if a.Command == "" && len(a.Argv) == 0 {
		return a, protocol.InvalidParams(protocol.MethodExecApprovalRequest, "command or commandArgv is needed")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		a.Env = append(a.Env, name+"="+p.Env[name])
	}
	a.Title = fmt.Sprintf("%s wants to run %s", plan.Show(method.CallerName(c)),
		strings.ReplaceAll(plan.Show(cmp.Or(a.Command, strings.Join(a.Argv, " "))), "\n", " ⏎ "))
	a.Says = sentence.New("client").By(method.CallerName(c))
	return a, nil
}

func (f *feature) approvalWait(ctx context.Context, p protocol.ApprovalIDParams) (protocol.ApprovalRequestResult, error) {
	r, err := f.o.Broker.Wait(ctx, p.ID)
	if err != nil {
		return protocol.ApprovalRequestResult{}, approvalError(err)
	}
	res := protocol.ApprovalRequestResult{ID: r.ID, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt}
	if r.State == approval.StateAllowed || r.State == approval.StateDenied {
		d := decisionOf(r)
		res.Decision = &d
	}
	return res, nil
}

func (f *feature) approvalRules(context.Context, method.None) (protocol.ApprovalRules, error) {
	out := protocol.ApprovalRules{Rules: []protocol.ApprovalRule{}}
	for _, r := range f.o.Broker.Rules() {
		out.Rules = append(out.Rules, protocol.ApprovalRule{
			ID: r.ID, Scope: string(r.Scope), Kind: string(r.Kind), Title: r.Words(), AgentID: r.AgentID, SessionKey: r.SessionKey,
			Dir: cmp.Or(r.Dir, r.Folder), Program: r.Program, By: r.By, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt,
			AnyArguments: r.Scope == approval.ScopeProgram, Unconfined: r.Unconfined,
		})
	}
	return out, nil
}

func (f *feature) approvalRemoveRule(ctx context.Context, c *server.Caller, p protocol.ApprovalIDParams) (protocol.OKResult, error) {
	was, err := f.o.Broker.RemoveRule(ctx, p.ID)
	if was {
		f.noteRuleGone(p.ID, method.CallerName(c))
	}
	return protocol.OKResult{OK: was}, err
}
