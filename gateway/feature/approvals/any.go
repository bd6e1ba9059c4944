package approvals

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// The methods for any kind of request, which newer clients of other gateways
// use. There are requests of commands, of plugins and of the system agent there;
// ours are all shown as commands.

const (
	anyKind           = "exec"
	anyApprovalsLimit = 100
)

// noApprovals is the list of a kind that we do not have.
func (f *feature) noApprovals(context.Context, method.None) ([]protocol.Approval, error) {
	return []protocol.Approval{}, nil
}

func (f *feature) anyApproval(r approval.Record) protocol.AnyApproval {
	a := approvalOf(r, f.o.Settings.Snapshot().Config)
	out := protocol.AnyApproval{
		ID: r.ID, URLPath: "/approve/" + url.PathEscape(r.ID), CreatedAtMs: r.CreatedAt, ExpiresAtMs: r.ExpiresAt, Status: string(r.State),
		Presentation: protocol.ApprovalPresentation{
			Kind: anyKind, CommandText: a.Request.Command, WarningText: a.Request.WarningText, Host: a.Request.Host, AgentID: a.Request.AgentID,
			AllowedDecisions: a.Request.AllowedDecisions,
		},
	}
	if r.State == approval.StatePending {
		return out
	}
	out.ResolvedAtMs = cmp.Or(r.DecidedAt, r.ExpiresAt)
	out.Source = &protocol.ApprovalSource{AgentID: a.Request.AgentID, SessionKey: a.Request.SessionKey}
	out.Resolver = &protocol.ApprovalDecider{Kind: "system"}
	if r.By != "" {
		out.Resolver = &protocol.ApprovalDecider{Kind: "runtime", ID: r.By}
	}
	switch r.State {
	case approval.StateAllowed:
		out.Decision, out.Reason = a.Decision, "user"
	case approval.StateDenied:
		out.Decision, out.Reason = a.Decision, "user"
		if r.By == "" {
			out.Reason = "no-route" // nobody who may decide could be reached
		}
	case approval.StateExpired:
		out.Reason = "timeout"
	default:
		out.Status, out.Reason = "cancelled", "run-aborted"
	}
	return out
}

// anyApprovalError has the words that those clients look for.
func anyApprovalError(err error) error {
	if errors.Is(err, approval.ErrNotFound) {
		return protocol.Invalid("approval not found").With("reason", "APPROVAL_NOT_FOUND")
	}
	return approvalError(err)
}

func (f *feature) anyApprovalGet(_ context.Context, p protocol.ApprovalIDParams) (protocol.AnyApprovalResult, error) {
	r, err := f.o.Broker.Get(p.ID)
	if err != nil {
		return protocol.AnyApprovalResult{}, anyApprovalError(err)
	}
	return protocol.AnyApprovalResult{Approval: f.anyApproval(r)}, nil
}

// anyApprovalResolve decides. What was decided before is told, not decided anew.
func (f *feature) anyApprovalResolve(ctx context.Context, c *server.Caller,
	p protocol.AnyApprovalResolveParams) (res protocol.AnyApprovalResolved, err error) {
	const name = protocol.MethodApprovalResolve
	scope, ok := approval.ParseScope(p.Decision)
	switch {
	case !ok:
		return res, protocol.InvalidParams(name, "decision must be allow-once, allow-always or deny")
	case p.Kind != anyKind:
		return res, protocol.InvalidParams(name, "kind must be %q: all requests here are of this kind", anyKind)
	case p.GrantExpiresInDays != 0:
		return res, protocol.InvalidParams(name, "grantExpiresInDays is not known here: rules end by themselves after their time")
	}
	r, err := f.o.Broker.Resolve(ctx, p.ID, scope, method.DeciderOf(c))
	if errors.Is(err, approval.ErrResolved) {
		if before, gerr := f.o.Broker.Get(p.ID); gerr == nil && before.State != approval.StatePending {
			return protocol.AnyApprovalResolved{Approval: f.anyApproval(before)}, nil
		}
	}
	if err != nil {
		return res, anyApprovalError(err)
	}
	return protocol.AnyApprovalResolved{Applied: true, Approval: f.anyApproval(r)}, nil
}

func (f *feature) anyApprovalHistory(_ context.Context, p protocol.AnyApprovalHistoryParams) (protocol.AnyApprovalHistory, error) {
	out := protocol.AnyApprovalHistory{Items: []protocol.AnyApproval{}}
	var before uint64
	if p.Cursor != "" {
		var err error
		if before, err = strconv.ParseUint(p.Cursor, 10, 64); err != nil {
			return out, protocol.Invalid("invalid approval.history cursor")
		}
	}
	if p.Kind != "" && p.Kind != anyKind {
		return out, nil
	}
	if p.Limit <= 0 || p.Limit > anyApprovalsLimit {
		p.Limit = anyApprovalsLimit
	}
	over, next, err := f.o.Broker.Over(before, p.Limit)
	for _, r := range over {
		out.Items = append(out.Items, f.anyApproval(r))
	}
	if next != 0 {
		out.NextCursor = strconv.FormatUint(next, 10)
	}
	return out, err
}
