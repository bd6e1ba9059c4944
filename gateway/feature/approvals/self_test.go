package approvals_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// connectProgram is a connection of a program without a key.
func connectProgram(t *testing.T, r *gatewaytest.Rig, info protocol.ClientInfo) *client.Client {
	t.Helper()
	url, token, err := client.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	info.Version, info.Platform = "test", "linux"
	c, err := client.Dial(t.Context(), client.Options{
		URL: url, Token: token, Client: info, Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite,
			protocol.ScopeApprovals},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestSec_A_EXEC_19_ASecondConnectionIsNobodyElse: a program that asks cannot allow
// it by connecting again; the owner's own programs and devices can.
func TestSec_A_EXEC_19_ASecondConnectionIsNobodyElse(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	owner := r.Connect()
	backend := protocol.ClientInfo{ID: "gateway-client", Mode: "backend"}
	asker, again := connectProgram(t, r, backend), connectProgram(t, r, backend)
	probe := connectProgram(t, r, protocol.ClientInfo{ID: "openclaw-probe", Mode: "probe"})
	var req protocol.ApprovalRequestResult
	if err := asker.Call(t.Context(), protocol.MethodExecApprovalRequest, protocol.ApprovalRequestParams{Command: "make deploy",
		TwoPhase: true}, &req); err != nil {
		t.Fatal(err)
	}
	p := protocol.ApprovalResolveParams{ID: req.ID, Decision: protocol.DecisionAllowOnce}
	var ok protocol.OKResult
	for name, c := range map[string]*client.Client{"the same": asker, "a second connection": again, "another name": probe} {
		if err := c.Call(t.Context(), protocol.MethodExecApprovalResolve, p, &ok); err == nil ||
			!strings.Contains(err.Error(), "another device") {
			t.Errorf("%s: %v", name, err)
		}
	}
	owner.Do(protocol.MethodExecApprovalResolve, p, &ok)
	if !ok.OK {
		t.Error("the owner's own program cannot decide")
	}
}
