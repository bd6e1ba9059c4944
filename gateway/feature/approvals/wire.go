package approvals

import (
	"cmp"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// approvalOf is a request on the wire.
func approvalOf(r approval.Record, c config.Config) protocol.Approval {
	a, how := r.Ask, approval.CommandsSection.Of(c)
	req := protocol.ApprovalRequest{
		Command: a.Command, CommandArgv: a.Argv, Host: "gateway", AgentID: a.AgentID, SessionKey: a.SessionKey, SessionID: a.SessionID,
		RunID: a.RunID, ToolCallID: a.CallID, Security: how.Security, Ask: how.Ask, ResolvedPath: a.Program,
		WarningText: strings.Join(a.Warnings, " "), HearthKind: string(a.Kind), HearthTitle: a.Title, HearthWhy: plan.Show(a.Why),
		HearthLines: a.Lines, HearthFolder: strings.TrimPrefix(a.FolderTitle, approval.ReadFilesIn), HearthWarn: a.Warnings, HearthAsked: r.Asked,
		HearthFrom:       a.Surface,
		HearthUnconfined: a.Unconfined,
	}
	if a.Says.Code != "" { // a record of an earlier version has none
		req.HearthSays = &protocol.ApprovalSentence{Code: string(a.Says.Code), Params: a.Says.Params, Text: a.Says.English()}
	}
	for _, f := range a.Facts() {
		req.HearthFacts = append(req.HearthFacts, protocol.ApprovalFact(f))
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
	out := protocol.Approval{ID: r.ID, Request: req, CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt, ApprovalKind: "exec",
		State: string(r.State)}
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
	case method.ErrorIs(err, approval.ErrNotFound):
		return protocol.Invalid("%v. `hearth approvals` lists those that wait.", err).With("reason", "APPROVAL_NOT_FOUND")
	case method.ErrorIs(err, approval.ErrResolved):
		return protocol.Invalid("This request was decided before, or its time is over.").With("reason", "APPROVAL_ALREADY_RESOLVED").
			With("code", "CONFLICT")
	case method.ErrorIs(err, approval.ErrNotYours):
		return protocol.Invalid("%v", err).With("reason", "APPROVAL_NOT_ALLOWED")
	case method.ErrorIs(err, approval.ErrScope):
		return protocol.Invalid("%v; choose once or deny.", err).With("reason", "APPROVAL_SCOPE")
	case method.ErrorIs(err, approval.ErrMalformed, approval.ErrTooLong, approval.ErrFlood, approval.ErrTired):
		return protocol.Invalid("%v", err)
	}
	return err
}
