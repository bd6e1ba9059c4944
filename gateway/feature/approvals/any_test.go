package approvals_test

import (
	"errors"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// OpenClaw's `approvals pending|resolve` asks for three lists at once, looks a
// request up by its id alone, and decides about it by its kind.
func TestApprovalMethodsOfAnyKind(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p, owner := r.Connect(), r.Connect()
	ask := func(command string) (id string) {
		var res protocol.ApprovalRequestResult
		p.Do(protocol.MethodExecApprovalRequest, protocol.ApprovalRequestParams{Command: command, TwoPhase: true}, &res)
		return res.ID
	}
	first, second := ask("make deploy"), ask("make test")
	for _, m := range []string{protocol.MethodPluginApprovalList, protocol.MethodOpenClawApprovalList} {
		var list []protocol.Approval
		if owner.Do(m, nil, &list); list == nil || len(list) != 0 {
			t.Errorf("%s: %v", m, list)
		}
	}
	var got protocol.AnyApprovalResult
	owner.Do(protocol.MethodApprovalGet, protocol.ApprovalIDParams{ID: first}, &got)
	if a := got.Approval; a.Status != "pending" || a.Presentation.Kind != "exec" || a.Presentation.CommandText != "make deploy" ||
		a.Presentation.WarningText == "" || a.Resolver != nil || a.URLPath != "/approve/"+first {
		t.Errorf("%+v", a)
	}
	resolve := func(id, kind, decision string) (res protocol.AnyApprovalResolved, err error) {
		return res, owner.Call(t.Context(), protocol.MethodApprovalResolve, protocol.AnyApprovalResolveParams{ID: id, Kind: kind,
			Decision: decision}, &res)
	}
	for _, c := range [][3]string{{first, "plugin", "deny"}, {first, "exec", "allow-always"}, {first, "exec", "yes"},
		{"made-up", "exec", "deny"}} {
		if res, err := resolve(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %+v", c, res)
		}
	}
	var pe *protocol.Error
	if _, err := resolve("made-up", "exec", "deny"); !errors.As(err, &pe) || pe.Message != "approval not found" {
		t.Errorf("%v", err)
	}
	if res, err := resolve(first, "exec", "allow-once"); err != nil || !res.Applied || res.Approval.Status != "allowed" ||
		res.Approval.Decision != "allow-once" || res.Approval.Resolver.ID == "" {
		t.Errorf("%+v %v", res, err)
	}
	if res, err := resolve(first, "exec", "deny"); err != nil || res.Applied || res.Approval.Decision != "allow-once" {
		t.Errorf("decided twice: %+v %v", res, err)
	}
	if res, err := resolve(second, "exec", "deny"); err != nil || !res.Applied || res.Approval.Status != "denied" ||
		res.Approval.Reason != "user" {
		t.Errorf("%+v %v", res, err)
	}
	ask("make later")
	var page protocol.AnyApprovalHistory
	owner.Do(protocol.MethodApprovalHistory, protocol.AnyApprovalHistoryParams{Limit: 1}, &page)
	if len(page.Items) != 1 || page.Items[0].ID != second || page.NextCursor == "" {
		t.Errorf("%+v", page)
	}
	var rest protocol.AnyApprovalHistory
	owner.Do(protocol.MethodApprovalHistory, protocol.AnyApprovalHistoryParams{Cursor: page.NextCursor}, &rest)
	if len(rest.Items) != 1 || rest.Items[0].ID != first || rest.NextCursor != "" {
		t.Errorf("%+v", rest)
	}
}
