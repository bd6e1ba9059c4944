package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// approvalOf is a request on the wire.
func approvalOf(r approval.Record, c config.Config) protocol.Approval {
	a := r.Ask
	req := protocol.ApprovalRequest{
		Command: a.Command, CommandArgv: a.Argv, Host: "gateway", AgentID: a.AgentID, SessionKey: a.SessionKey, SessionID: a.SessionID,
		RunID: a.RunID, ToolCallID: a.CallID, Security: c.Tools.Exec.Security, Ask: c.Tools.Exec.Ask, ResolvedPath: a.Program,
		WarningText: strings.Join(a.Warnings, " "), HearthKind: string(a.Kind), HearthTitle: a.Title, HearthWhy: plan.Show(a.Why),
		HearthLines: a.Lines, HearthFolder: strings.TrimPrefix(a.FolderTitle, readFilesIn), HearthWarn: a.Warnings, HearthAsked: r.Asked, HearthFrom: a.Surface,
		HearthUnconfined: a.Unconfined,
	}
	for _, s := range a.Scripts {
		req.HearthScripts = append(req.HearthScripts, protocol.ApprovalScript(s))
	}
	if a.Sender != "" {
		req.HearthFrom += ":" + a.Sender
	}
	if a.Dir != "" {
		req.Cwd = &a.Dir
	}
	if req.Command == "" {
		req.Command = cmp.Or(strings.Join(a.Argv, " "), a.Title)
	}
	req.AllowedDecisions = []string{protocol.DecisionAllowOnce}
	for _, s := range a.Scopes() {
		req.HearthScopes = append(req.HearthScopes, string(s))
		if s == approval.ScopeHere {
			req.AllowedDecisions = append(req.AllowedDecisions, protocol.DecisionAllowAlways)
		}
	}
	req.AllowedDecisions = append(req.AllowedDecisions, protocol.DecisionDeny)
	out := protocol.Approval{ID: r.ID, Request: req, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt, ApprovalKind: "exec", State: string(r.State)}
	if r.State != approval.StatePending {
		out.Decision, out.HearthScope, out.ResolvedBy, out.Reason = decisionOf(r), string(r.Scope), r.By, r.Reason
	}
	return out
}

// decisionOf is how a request ended, as other gateways' clients name it.
func decisionOf(r approval.Record) string {
	switch {
	case r.State != approval.StateAllowed:
		return protocol.DecisionDeny
	case r.Scope == approval.ScopeOnce:
		return protocol.DecisionAllowOnce
	}
	return protocol.DecisionAllowAlways
}

// approvalError gives the broker's errors their form on the wire.
func approvalError(err error) error {
	switch {
	case isAny(err, approval.ErrNotFound):
		return protocol.Invalid("%v. `hearth approvals` lists those that wait.", err).With("reason", "APPROVAL_NOT_FOUND")
	case isAny(err, approval.ErrResolved):
		return protocol.Invalid("%v. `hearth approvals` lists those that wait.", err).With("reason", "APPROVAL_ALREADY_RESOLVED").With("code", "CONFLICT")
	case isAny(err, approval.ErrNotYours):
		return protocol.Invalid("%v", err).With("reason", "APPROVAL_NOT_ALLOWED")
	case isAny(err, approval.ErrScope):
		return protocol.Invalid("%v; choose once or deny.", err).With("reason", "APPROVAL_SCOPE")
	case isAny(err, approval.ErrMalformed, approval.ErrTooLong, approval.ErrFlood, approval.ErrTired):
		return protocol.Invalid("%v", err)
	}
	return err
}

func (g *Gateway) approvalList(context.Context, method.None) ([]protocol.Approval, error) {
	out := []protocol.Approval{}
	for _, r := range g.approvals.Pending() {
		out = append(out, approvalOf(r, g.config.Snapshot().Config))
	}
	return out, nil
}

func (g *Gateway) approvalGet(_ context.Context, p protocol.ApprovalIDParams) (protocol.Approval, error) {
	r, err := g.approvals.Get(p.ID)
	return approvalOf(r, g.config.Snapshot().Config), approvalError(err)
}

func (g *Gateway) approvalResolve(ctx context.Context, c *server.Caller, p protocol.ApprovalResolveParams) (protocol.OKResult, error) {
	scope, ok := approval.ParseScope(cmp.Or(p.HearthScope, p.Decision))
	if !ok {
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodExecApprovalResolve, "decision must be allow-once, allow-always or deny")
	}
	_, err := g.approvals.Resolve(ctx, p.ID, scope, method.DeciderOf(c))
	return protocol.OKResult{OK: err == nil}, approvalError(err)
}

// approvalRequest asks on behalf of a client, which waits for the answer here
// or with waitDecision.
func (g *Gateway) approvalRequest(ctx context.Context, c *server.Caller, p protocol.ApprovalRequestParams) (protocol.ApprovalRequestResult, error) {
	a, err := g.clientAsk(c, p)
	if err != nil {
		return protocol.ApprovalRequestResult{}, err
	}
	r, err := g.approvals.Open(ctx, a, method.DeciderOf(c).ID)
	if err != nil {
		return protocol.ApprovalRequestResult{}, approvalError(err)
	}
	if p.TwoPhase {
		return protocol.ApprovalRequestResult{Status: "accepted", ID: r.ID, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt}, nil
	}
	return g.approvalWait(ctx, protocol.ApprovalIDParams{ID: r.ID})
}

// clientAsk: what a client runs is not ours to know, so it is allowed once.
func (g *Gateway) clientAsk(c *server.Caller, p protocol.ApprovalRequestParams) (approval.Ask, error) {
	var key, agent, dir string
	if p.SessionKey != nil {
		key = *p.SessionKey
	}
	if p.AgentID != nil {
		agent = *p.AgentID
	}
	key, err := g.agents.Canonical(key, agent)
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
	a.Title = fmt.Sprintf("%s wants to run %s", plan.Show(method.CallerName(c)), strings.ReplaceAll(plan.Show(cmp.Or(a.Command, strings.Join(a.Argv, " "))), "\n", " ⏎ "))
	return a, nil
}

func (g *Gateway) approvalWait(ctx context.Context, p protocol.ApprovalIDParams) (protocol.ApprovalRequestResult, error) {
	r, err := g.approvals.Wait(ctx, p.ID)
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

func (g *Gateway) approvalRules(context.Context, method.None) (protocol.ApprovalRules, error) {
	out := protocol.ApprovalRules{Rules: []protocol.ApprovalRule{}}
	for _, r := range g.approvals.Rules() {
		out.Rules = append(out.Rules, protocol.ApprovalRule{
			ID: r.ID, Scope: string(r.Scope), Kind: string(r.Kind), Title: r.Words(), AgentID: r.AgentID, SessionKey: r.SessionKey,
			Dir: cmp.Or(r.Dir, r.Folder), Program: r.Program, By: r.By, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt,
			AnyArguments: r.Scope == approval.ScopeProgram, Unconfined: r.Unconfined,
		})
	}
	return out, nil
}

func (g *Gateway) approvalRemoveRule(ctx context.Context, c *server.Caller, p protocol.ApprovalIDParams) (protocol.OKResult, error) {
	was, err := g.approvals.RemoveRule(ctx, p.ID)
	if was {
		g.noteRuleGone(p.ID, method.CallerName(c))
	}
	return protocol.OKResult{OK: was}, err
}
