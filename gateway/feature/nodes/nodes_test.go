package nodes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// approveNode approves what a node asks for.
func approveNode(p *gatewaytest.Peer, id string) {
	p.T.Helper()
	var pairs protocol.NodePairs
	p.Do(protocol.MethodNodePairList, struct{}{}, &pairs)
	for _, q := range pairs.Pending {
		if q.NodeID == id {
			p.Do(protocol.MethodNodePairApprove, protocol.NodeRequestParams{RequestID: q.RequestID}, nil)
			return
		}
	}
	p.T.Fatal("the node asks for nothing")
}

func invoke(p *gatewaytest.Peer, id, command, key string, params any) (protocol.NodeInvokeResult, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		p.T.Fatal(err)
	}
	var res protocol.NodeInvokeResult
	err = p.Call(p.T.Context(), protocol.MethodNodeInvoke, protocol.NodeInvokeParams{NodeID: id, Command: command, Params: raw,
		TimeoutMs: 5000, IdempotencyKey: key}, &res)
	return res, err
}

// A node connects, a person approves it, it is called, and it is gone.
func TestNodeLife(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	n := r.Node(key, "device.info", "camera.snap", "made.up")
	p.Until("node.pair.requested", func(ev protocol.Event) bool { return ev.Event == protocol.EventNodePairRequested })
	if _, err := invoke(p, id, "device.info", "k0", nil); gatewaytest.FaultOf(err).Details["reason"] != "command not allowlisted" {
		t.Errorf("before the approval: %v", err)
	}
	approveNode(p, id)
	n.Does("device.info", func(raw json.RawMessage) (any, *protocol.NodeError) {
		return map[string]any{"model": "X", "got": raw}, nil
	})
	res, err := invoke(p, id, "device.info", "k1", map[string]any{"a": 1})
	if err != nil || !strings.Contains(string(res.Payload), `"got":{"a":1}`) || res.PayloadJSON == nil {
		t.Fatalf("invoke: %+v, %v", res, err)
	}
	for command, word := range map[string]string{"camera.snap": "gateway.nodes.commands.allow", "made.up": "allowlist",
		"device.status": "does not offer"} {
		if _, err := invoke(p, id, command, "k-"+command, nil); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", command, err)
		}
	}
	var d protocol.NodeDescription
	p.Do(protocol.MethodNodeDescribe, protocol.NodeIDParams{NodeID: id}, &d)
	if !d.Connected || d.ApprovalState != "approved" || len(d.Commands) != 1 || d.Refused["camera.snap"] == "" {
		t.Errorf("describe: %+v", d)
	}
	_ = n.Close()
	p.Until("node.presence", func(ev protocol.Event) bool {
		return ev.Event == protocol.EventNodePresence && strings.Contains(string(ev.Payload), `"disconnect"`)
	})
	if _, err := invoke(p, id, "device.info", "k2", nil); gatewaytest.FaultOf(err).Details["code"] != "NOT_CONNECTED" {
		t.Errorf("after it left: %v", err)
	}
}

// A command on a node runs only after a person allowed exactly what the node
// said it would run.
func TestNodeRunIsApproved(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	n := r.Node(key, "system.run", "system.run.prepare", "system.which")
	approveNode(p, id)
	n.Does("system.run.prepare", func(raw json.RawMessage) (any, *protocol.NodeError) {
		var q struct {
			Command []string `json:"command"`
		}
		_ = json.Unmarshal(raw, &q)
		return map[string]any{"plan": map[string]any{"argv": q.Command, "cwd": "/home/user", "commandText": strings.Join(q.Command, " ")}}, nil
	})
	n.Does("system.run", func(raw json.RawMessage) (any, *protocol.NodeError) {
		return map[string]any{"exitCode": 0, "timedOut": false, "success": true, "stdout": "hi\n", "stderr": "", "error": nil, "got": raw}, nil
	})
	type outcome struct {
		res protocol.NodeInvokeResult
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := invoke(p, id, "system.run", "r1", map[string]any{"command": []string{"echo", "hi"}})
		done <- outcome{res, err}
	}()
	var a protocol.Approval
	ev := p.Until("an approval", func(ev protocol.Event) bool { return ev.Event == protocol.EventExecApprovalRequested })
	if err := json.Unmarshal(ev.Payload, &a); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(a.Request.HearthLines, "\n"), "Attic") || !strings.Contains(a.Request.HearthTitle, "echo hi") {
		t.Errorf("shown: %+v", a.Request)
	}
	p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "allow-once"}, nil)
	got := <-done
	if got.err != nil || !strings.Contains(string(got.res.Payload), `"stdout":"hi\n"`) || !strings.Contains(string(got.res.Payload),
		`"approved":true`) {
		t.Fatalf("run: %s, %v", got.res.Payload, got.err)
	}
}
