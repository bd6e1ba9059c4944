package nodes_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A node has a key of its own and is nobody's screen.
func TestSec_A_NODE_01_ANodeHasAKey(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	url, token, err := client.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := gatewaytest.NodeKey(t)
	for name, o := range map[string]client.Options{
		"without a key": {Client: protocol.ClientInfo{ID: "node-host", Mode: "node"}},
		"as a screen":   {Client: protocol.ClientInfo{ID: "openclaw-control-ui", Mode: "webchat"}, Device: &client.Identity{Key: key}},
		"as a ui":       {Client: protocol.ClientInfo{ID: "openclaw-ios", Mode: "ui"}, Device: &client.Identity{Key: key}},
	} {
		o.URL, o.Token, o.Role, o.Commands = url, token, protocol.RoleNode, []string{"device.info"}
		if c, err := client.Dial(t.Context(), o); err == nil {
			_ = c.Close()
			t.Errorf("%s: let in", name)
		}
	}
	var list protocol.NodeList
	p.Do(protocol.MethodNodeList, struct{}{}, &list)
	if len(list.Nodes) != 0 {
		t.Errorf("%+v", list.Nodes)
	}
	// And a node calls nothing of people's.
	n := r.Node(key, "device.info")
	if err := n.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "hi", IdempotencyKey: "x"},
		nil); err == nil || !strings.Contains(err.Error(), "unauthorized role: node") {
		t.Errorf("chat.send of a node: %v", err)
	}
}

// What decides about approvals is not called, and nobody says of themselves that
// they are approved.
func TestSec_A_NODE_04_ApprovalsAreNotForged(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	n := r.Node(key, "system.run", "system.run.prepare", "system.execApprovals.set", "system.execApprovals.get")
	approveNode(p, id)
	for name, params := range map[string]map[string]any{
		"approved":         {"command": []string{"id"}, "approved": true},
		"approvalDecision": {"command": []string{"id"}, "approvalDecision": "allow-always"},
		"systemRunPlan":    {"command": []string{"id"}, "systemRunPlan": map[string]any{"argv": []string{"id"}}},
		"runId":            {"command": []string{"id"}, "runId": "r"},
	} {
		if _, err := invoke(p, id, "system.run", "f-"+name, params); gatewaytest.FaultOf(err).Code != protocol.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, command := range []string{"system.execApprovals.set", "system.execApprovals.get"} {
		if _, err := invoke(p, id, command, "f-"+command,
			map[string]any{"file": map[string]any{}}); gatewaytest.FaultOf(err).Code != protocol.CodeForbidden {
			t.Errorf("%s: %v", command, err)
		}
	}
	url, token, err := client.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := client.Dial(t.Context(), client.Options{
		URL: url, Token: token, Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Platform: "linux"},
		Scopes: []protocol.Scope{protocol.ScopeWrite, protocol.ScopePairing},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	err = writer.Call(t.Context(), protocol.MethodNodeInvoke, protocol.NodeInvokeParams{NodeID: id, Command: "system.run",
		Params: json.RawMessage(`{"command":["id"]}`), IdempotencyKey: "w"}, nil)
	if gatewaytest.FaultOf(err).Code != protocol.CodeForbidden {
		t.Errorf("without the right to change settings: %v", err)
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if len(n.Seen) != 0 {
		t.Errorf("the node was asked: %+v", n.Seen)
	}
}

// Every stage of a command on a node is bound to the one before.
func TestSec_A_NODE_05_PlansAreBound(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	n := r.Node(key, "system.run", "system.run.prepare")
	approveNode(p, id)
	var sent json.RawMessage
	n.Does("system.run.prepare", func(raw json.RawMessage) (any, *protocol.NodeError) {
		var q map[string]any
		_ = json.Unmarshal(raw, &q)
		return map[string]any{"plan": map[string]any{"argv": q["command"], "cwd": "/srv", "executable": map[string]any{"path": "/bin/id",
			"sha256": "abc"}, "hearthLines": []string{"Starts: /usr/bin/id\x1b[2J"}}}, nil
	})
	n.Does("system.run", func(raw json.RawMessage) (any, *protocol.NodeError) {
		sent = raw
		return map[string]any{"exitCode": 0, "success": true, "stdout": ""}, nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := invoke(p, id, "system.run", "b1", map[string]any{"command": []string{"id", "-u"}, "cwd": "/srv",
			"env": map[string]string{"A": "1"}})
		done <- err
	}()
	ev := p.Until("an approval", func(ev protocol.Event) bool { return ev.Event == protocol.EventExecApprovalRequested })
	var a protocol.Approval
	if err := json.Unmarshal(ev.Payload, &a); err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(a.Request.HearthLines, "\n")
	for _, want := range []string{"Argument 0: id", "Argument 1: -u", "/srv", "A=1", "Attic", "says: Starts: /usr/bin/id"} {
		if !strings.Contains(lines, want) {
			t.Errorf("not shown: %q in\n%s", want, lines)
		}
	}
	if !slices.Equal(a.Request.AllowedDecisions, []string{"allow-once", "deny"}) {
		t.Errorf("decisions: %v", a.Request.AllowedDecisions)
	}
	p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "allow-once"}, nil)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var got struct {
		Command       []string
		Cwd           string
		Env           map[string]string
		SystemRunPlan struct {
			Argv       []string
			Executable map[string]string
		}
		Approved bool
	}
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Command, []string{"id", "-u"}) || got.Cwd != "/srv" || got.Env["A"] != "1" ||
		got.SystemRunPlan.Executable["sha256"] != "abc" || !got.Approved {
		t.Errorf("sent: %s", sent)
	}
	// The same again asks again, and a no reaches nobody.
	go func() {
		_, err := invoke(p, id, "system.run", "b2", map[string]any{"command": []string{"id", "-u"}, "cwd": "/srv"})
		done <- err
	}()
	ev = p.Until("another approval", func(ev protocol.Event) bool {
		var next protocol.Approval
		return ev.Event == protocol.EventExecApprovalRequested && json.Unmarshal(ev.Payload, &next) == nil && next.ID != a.ID
	})
	_ = json.Unmarshal(ev.Payload, &a)
	sent = nil
	p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "deny"}, nil)
	if err := <-done; err == nil || sent != nil {
		t.Errorf("after a no: %v, sent %s", err, sent)
	}
}

// A node whose device was removed is gone at once, with its open call, and does
// not come back.
func TestSec_A_NODE_08_RevokedIsGone(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	n := r.Node(key, "device.info")
	approveNode(p, id)
	done := make(chan error, 1)
	go func() {
		_, err := invoke(p, id, "device.info", "x", nil)
		done <- err
	}()
	n.Asked()
	began := time.Now()
	p.Do(protocol.MethodPairRemove, protocol.PairRemoveParams{DeviceID: id}, nil)
	if err := <-done; !strings.Contains(err.Error(), "DISCONNECTED") {
		t.Errorf("the open call: %v", err)
	}
	<-n.Done()
	t.Logf("gone after %v", time.Since(began))
	if _, err := r.DialNode(key, "device.info"); err == nil {
		t.Error("it came back")
	}
	var pairs protocol.NodePairs
	p.Do(protocol.MethodNodePairList, struct{}{}, &pairs)
	if slices.ContainsFunc(pairs.Paired, func(n protocol.PairedNode) bool { return n.NodeID == id }) {
		t.Errorf("what it was approved for is kept: %+v", pairs.Paired)
	}
}

// flock connects many nodes at once and reports those that failed. As nodes do,
// they come again when a handshake took too long.
func flock(r *gatewaytest.Rig, keys []ed25519.PrivateKey) (all []*gatewaytest.FakeNode, err error) {
	all = make([]*gatewaytest.FakeNode, len(keys))
	errs := make([]error, len(keys))
	var wg sync.WaitGroup
	for i, key := range keys {
		wg.Go(func() {
			for range 8 { // as a device does that a busy gateway did not hear out
				all[i], errs[i] = r.DialNode(key, "device.info")
				if !errors.Is(errs[i], context.DeadlineExceeded) && !errors.Is(errs[i], client.ErrLost) {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

// Many devices come back at once after the gateway was away.
func TestManyNodesComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("many connections")
	}
	r := gatewaytest.New(t, "chat/echo")
	keys := make([]ed25519.PrivateKey, 500)
	for i := range keys {
		keys[i], _ = gatewaytest.NodeKey(t)
	}
	if _, err := flock(r, keys); err != nil {
		t.Fatal(err)
	}
	r.Restart()
	p := r.Connect()
	began := time.Now()
	all, err := flock(r, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes were back after %v", len(all), time.Since(began))
	var list protocol.NodeList
	p.Do(protocol.MethodNodeList, struct{}{}, &list)
	here := 0
	for _, n := range list.Nodes {
		if n.Connected {
			here++
		}
	}
	if here != len(keys) {
		t.Errorf("%d of %d are connected", here, len(keys))
	}
}
