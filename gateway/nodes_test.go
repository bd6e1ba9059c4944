package gateway_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// fakeNode is a device that answers as it is told.
type fakeNode struct {
	*client.Client
	t    testing.TB
	id   string
	key  ed25519.PrivateKey
	asks chan protocol.NodeInvokeRequest // those that nobody answers by itself

	mu     sync.Mutex
	answer map[string]func(json.RawMessage) (any, *protocol.NodeError)
	seen   []protocol.NodeInvokeRequest
	events []protocol.Event
}

// nodeKey makes a device key and its id.
func nodeKey(t *testing.T) (ed25519.PrivateKey, string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pub)
	return key, hex.EncodeToString(sum[:])
}

// node connects a device that declares the commands.
func (r *rig) node(key ed25519.PrivateKey, commands ...string) *fakeNode {
	r.t.Helper()
	n, err := r.dialNode(key, commands...)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) dialNode(key ed25519.PrivateKey, commands ...string) (*fakeNode, error) {
	url, token, err := client.Find(r.dir)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	n := &fakeNode{t: r.t, id: hex.EncodeToString(sum[:]), key: key, asks: make(chan protocol.NodeInvokeRequest, 64),
		answer: map[string]func(json.RawMessage) (any, *protocol.NodeError){}}
	n.Client, err = client.Dial(r.t.Context(), client.Options{
		URL: url, Token: token, Role: protocol.RoleNode, Commands: commands, Caps: []string{"device"}, Device: &client.Identity{Key: key},
		Client: protocol.ClientInfo{ID: "node-host", Mode: "node", Version: "test", Platform: "linux", DeviceFamily: "Linux",
			DisplayName: "Attic"},
		OnEvent: n.on,
	})
	if err != nil {
		return nil, err
	}
	r.t.Cleanup(func() { _ = n.Close() })
	// The gateway knows it a moment after the hello, and before its first request:
	// one that is refused will do.
	if err := n.Call(r.t.Context(), protocol.MethodStatus, struct{}{}, nil); err != nil && faultOf(err).Code == "" {
		return nil, err
	}
	return n, nil
}

func (n *fakeNode) on(ev protocol.Event) {
	n.mu.Lock()
	n.events = append(n.events, ev)
	n.mu.Unlock()
	var q protocol.NodeInvokeRequest
	if ev.Event != protocol.EventNodeInvokeRequest || json.Unmarshal(ev.Payload, &q) != nil {
		return
	}
	n.mu.Lock()
	n.seen = append(n.seen, q)
	answer := n.answer[q.Command]
	n.mu.Unlock()
	if answer == nil {
		n.asks <- q
		return
	}
	params := json.RawMessage("null")
	if q.ParamsJSON != nil {
		params = json.RawMessage(*q.ParamsJSON)
	}
	payload, fault := answer(params)
	n.reply(q.ID, payload, fault)
}

// reply answers a call; the acknowledgement is not waited for in OnEvent.
func (n *fakeNode) reply(id string, payload any, fault *protocol.NodeError) {
	p := protocol.NodeResultParams{ID: id, NodeID: n.id, OK: fault == nil, Error: fault}
	if fault == nil {
		raw, err := json.Marshal(payload)
		if err != nil {
			n.t.Error(err)
		}
		text := string(raw)
		p.PayloadJSON = &text
	}
	if err := n.Call(n.t.Context(), protocol.MethodNodeInvokeResult, p, nil); err != nil && !errors.Is(err, client.ErrLost) &&
		!errors.Is(err, client.ErrClosed) && n.t.Context().Err() == nil {
		n.t.Errorf("answer: %v", err)
	}
}

func (n *fakeNode) does(command string, f func(json.RawMessage) (any, *protocol.NodeError)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer[command] = f
}

func (n *fakeNode) asked() protocol.NodeInvokeRequest {
	n.t.Helper()
	select {
	case q := <-n.asks:
		return q
	case <-time.After(10 * time.Second):
		n.t.Fatal("the node was not asked")
		return protocol.NodeInvokeRequest{}
	}
}

// approveNode approves what a node asks for.
func (p *peer) approveNode(id string) {
	p.t.Helper()
	var pairs protocol.NodePairs
	p.call(protocol.MethodNodePairList, struct{}{}, &pairs)
	for _, q := range pairs.Pending {
		if q.NodeID == id {
			p.call(protocol.MethodNodePairApprove, protocol.NodeRequestParams{RequestID: q.RequestID}, nil)
			return
		}
	}
	p.t.Fatal("the node asks for nothing")
}

func (p *peer) invoke(id, command, key string, params any) (protocol.NodeInvokeResult, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	var res protocol.NodeInvokeResult
	err = p.Call(p.t.Context(), protocol.MethodNodeInvoke, protocol.NodeInvokeParams{NodeID: id, Command: command, Params: raw,
		TimeoutMs: 5000, IdempotencyKey: key}, &res)
	return res, err
}

func faultOf(err error) *protocol.Error {
	var e *protocol.Error
	errors.As(err, &e)
	if e == nil {
		return &protocol.Error{}
	}
	return e
}

// A node connects, a person approves it, it is called, and it is gone.
func TestNodeLife(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	key, id := nodeKey(t)
	n := r.node(key, "device.info", "camera.snap", "made.up")
	p.until("node.pair.requested", func(ev protocol.Event) bool { return ev.Event == protocol.EventNodePairRequested })
	if _, err := p.invoke(id, "device.info", "k0", nil); faultOf(err).Details["reason"] != "command not allowlisted" {
		t.Errorf("before the approval: %v", err)
	}
	p.approveNode(id)
	n.does("device.info", func(raw json.RawMessage) (any, *protocol.NodeError) {
		return map[string]any{"model": "X", "got": raw}, nil
	})
	res, err := p.invoke(id, "device.info", "k1", map[string]any{"a": 1})
	if err != nil || !strings.Contains(string(res.Payload), `"got":{"a":1}`) || res.PayloadJSON == nil {
		t.Fatalf("invoke: %+v, %v", res, err)
	}
	for command, word := range map[string]string{"camera.snap": "gateway.nodes.commands.allow", "made.up": "allowlist",
		"device.status": "not approved"} {
		if _, err := p.invoke(id, command, "k-"+command, nil); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", command, err)
		}
	}
	var d protocol.NodeDescription
	p.call(protocol.MethodNodeDescribe, protocol.NodeIDParams{NodeID: id}, &d)
	if !d.Connected || d.ApprovalState != "approved" || len(d.Commands) != 1 || d.Refused["camera.snap"] == "" {
		t.Errorf("describe: %+v", d)
	}
	_ = n.Close()
	p.until("node.presence", func(ev protocol.Event) bool {
		return ev.Event == protocol.EventNodePresence && strings.Contains(string(ev.Payload), `"disconnect"`)
	})
	if _, err := p.invoke(id, "device.info", "k2", nil); faultOf(err).Details["code"] != "NOT_CONNECTED" {
		t.Errorf("after it left: %v", err)
	}
}

// A command on a node runs only after a person allowed exactly what the node
// said it would run.
func TestNodeRunIsApproved(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	key, id := nodeKey(t)
	n := r.node(key, "system.run", "system.run.prepare", "system.which")
	p.approveNode(id)
	n.does("system.run.prepare", func(raw json.RawMessage) (any, *protocol.NodeError) {
		var q struct {
			Command []string `json:"command"`
		}
		_ = json.Unmarshal(raw, &q)
		return map[string]any{"plan": map[string]any{"argv": q.Command, "cwd": "/home/user", "commandText": strings.Join(q.Command, " ")}}, nil
	})
	n.does("system.run", func(raw json.RawMessage) (any, *protocol.NodeError) {
		return map[string]any{"exitCode": 0, "timedOut": false, "success": true, "stdout": "hi\n", "stderr": "", "error": nil, "got": raw}, nil
	})
	type outcome struct {
		res protocol.NodeInvokeResult
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := p.invoke(id, "system.run", "r1", map[string]any{"command": []string{"echo", "hi"}})
		done <- outcome{res, err}
	}()
	var a protocol.Approval
	ev := p.until("an approval", func(ev protocol.Event) bool { return ev.Event == protocol.EventExecApprovalRequested })
	if err := json.Unmarshal(ev.Payload, &a); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(a.Request.HearthLines, "\n"), "Attic") || !strings.Contains(a.Request.HearthTitle, "echo hi") {
		t.Errorf("shown: %+v", a.Request)
	}
	p.call(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "allow-once"}, nil)
	got := <-done
	if got.err != nil || !strings.Contains(string(got.res.Payload), `"stdout":"hi\n"`) || !strings.Contains(string(got.res.Payload),
		`"approved":true`) {
		t.Fatalf("run: %s, %v", got.res.Payload, got.err)
	}
}
