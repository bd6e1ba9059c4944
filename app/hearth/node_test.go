package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// otherAddress is one by which other machines could reach this one.
func otherAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address by which others could reach it")
	return ""
}

// nodeHouse is a gateway, and a node of it with a home of its own.
type nodeHouse struct {
	*house
	nodeHome string
	decide   func(protocol.Approval) string // what the owner says; "" = nothing
	ops      *client.Client
	id       string
}

func (h *nodeHouse) node(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), "hearth", append([]string{"node"}, args...)...)
	cmd.Env = []string{"HEARTH_HOME=" + h.nodeHome, "HOME=" + filepath.Dir(h.nodeHome), "PATH=" + os.Getenv("PATH"), "GORACE=" + noNap}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// operator connects the owner's two programs: one that asks, one that decides.
func (h *nodeHouse) operator() {
	h.t.Helper()
	dial := func(on func(protocol.Event)) *client.Client {
		c, err := client.Open(h.t.Context(), statedir.Dir(h.home), client.Options{
			Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"}, OnEvent: on,
			Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeWrite, protocol.ScopeRead, protocol.ScopePairing, protocol.ScopeApprovals},
		})
		if err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ready := make(chan *client.Client, 1)
	decider := dial(func(e protocol.Event) {
		var q protocol.Approval
		if e.Event != protocol.EventExecApprovalRequested || json.Unmarshal(e.Payload, &q) != nil {
			return
		}
		if d := h.decide(q); d != "" {
			c := <-ready
			ready <- c
			_ = c.Call(context.WithoutCancel(h.t.Context()), protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{
				ID: q.ID, Decision: d}, nil)
		}
	})
	ready <- decider
	h.ops = dial(nil)
}

func (h *nodeHouse) invoke(command string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	var r protocol.NodeInvokeResult
	err = h.ops.Call(ctx, protocol.MethodNodeInvoke, protocol.NodeInvokeParams{
		NodeID: h.id, Command: command, Params: raw, IdempotencyKey: rawID(), TimeoutMs: 20000,
	}, &r)
	return r.Payload, err
}

func rawID() string { return time.Now().Format(time.RFC3339Nano) }

// connected waits until the node is there and may do what it offers.
func (h *nodeHouse) connected() {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
		var l protocol.NodeList
		if err := h.ops.Call(h.t.Context(), protocol.MethodNodeList, nil, &l); err != nil {
			h.t.Fatal(err)
		}
		if len(l.Nodes) == 1 && l.Nodes[0].Connected && slices.Contains(l.Nodes[0].Commands, "system.run") {
			h.id = l.Nodes[0].NodeID
			if l.Nodes[0].DisplayName != "attic" {
				h.t.Errorf("%+v", l.Nodes[0])
			}
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the node is not there: %+v", l)
		}
	}
}

// A machine becomes a node by a code, does what was agreed to and nothing else,
// is back after the gateway was killed, and out as soon as it is removed.
func TestNodeHost(t *testing.T) {
	address := otherAddress(t)
	h := &nodeHouse{house: newHouse(t, "echo"), nodeHome: filepath.Join(t.TempDir(), "node"), decide: func(protocol.Approval) string {
		return ""
	}}
	gw := h.gateway()
	for _, set := range [][]string{{"gateway.customBindHost", address}, {"gateway.bind", "custom"}} {
		if out, err := h.hearth("config", "set", set[0], set[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	h.until(address, "lan")
	code, err := h.hearth("qr", "--node", "--code").Output()
	if err != nil {
		t.Fatal(err)
	}
	host := h.node("run", "--name", "attic", strings.TrimSpace(string(code)))
	var said syncBuffer
	host.Stdout, host.Stderr = &said, &said
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Wait() }()
	h.operator()
	h.agree(&said)
	h.connected()
	h.speed()
	h.runs()

	if out, err := h.hearth("lan", "rotate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.kill(gw)
	h.gateway()
	began := time.Now()
	h.operator()
	h.connected()
	t.Logf("back %s after the gateway was", time.Since(began).Round(time.Millisecond))
	if _, err := h.invoke("device.info", map[string]any{}); err != nil {
		t.Errorf("after the gateway was killed: %v", err)
	}

	if kept, err := os.ReadFile(statedir.Dir(h.nodeHome).Node()); err != nil || strings.Count(string(kept), h.pin()) != 1 {
		t.Errorf("the gateway's next key is not known: %v %s", err, kept)
	}

	began = time.Now()
	if out, err := h.hearth("devices", "remove", h.id).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var exit *exec.ExitError
	select {
	case err := <-ended:
		if !errors.As(err, &exit) || exit.ExitCode() != 4 || !strings.Contains(said.String(), "does not want this machine any more") {
			t.Errorf("the node ended with %v: %s", err, said.String())
		}
		t.Logf("out after %s", time.Since(began).Round(time.Millisecond))
	case <-time.After(10 * time.Second):
		t.Fatalf("the node goes on after it was removed: %s", said.String())
	}
	if _, err := h.invoke("device.info", map[string]any{}); err == nil {
		t.Error("a removed node answers")
	}
	if out, err := h.node("run").CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 4 ||
		strings.Contains(string(out), "Connected") {
		t.Errorf("it came again: %v %s", err, out)
	}
}

// pin is the gateway's next key.
func (h *nodeHouse) pin() string {
	var st protocol.ReachStatus
	if err := h.ops.Call(h.t.Context(), protocol.MethodReachStatus, nil, &st); err != nil || len(st.Pins) != 2 {
		h.t.Fatalf("%v %v", st.Pins, err)
	}
	return st.Pins[1]
}

// agree says yes to what the node offers, as its owner.
func (h *nodeHouse) agree(said *syncBuffer) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
		var p protocol.NodePairs
		if err := h.ops.Call(h.t.Context(), protocol.MethodNodePairList, nil, &p); err != nil {
			h.t.Fatal(err)
		}
		if len(p.Pending) == 1 {
			if c := p.Pending[0].Commands; !slices.Contains(c, "system.run") || slices.Contains(c, "screen.snapshot") {
				h.t.Errorf("it offers %v", c)
			}
			h.id = p.Pending[0].NodeID
			if _, err := h.invoke("system.which", map[string]any{"bins": []string{"sh"}}); err == nil {
				h.t.Error("it does things before anybody agreed")
			}
			if err := h.ops.Call(h.t.Context(), protocol.MethodNodePairApprove, protocol.NodeRequestParams{RequestID: p.Pending[0].RequestID},
				nil); err != nil {
				h.t.Fatal(err)
			}
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("nothing waits: %+v\n%s", p, said.String())
		}
	}
}

func (h *nodeHouse) speed() {
	var all []time.Duration
	for range 50 {
		began := time.Now()
		if _, err := h.invoke("system.which", map[string]any{"bins": []string{"sh"}}); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	h.t.Logf("node.invoke there and back: p50 %s, p95 %s", all[len(all)/2].Round(10*time.Microsecond),
		all[len(all)*95/100].Round(10*time.Microsecond))
}

// runs has commands run: none without a yes to exactly that.
func (h *nodeHouse) runs() {
	t := h.t
	work := h.nodeHome + "-node"
	asked := make(chan protocol.Approval, 8)
	answer := "allow-once"
	h.decide = func(q protocol.Approval) string { asked <- q; return answer }
	payload, err := h.invoke("system.run", map[string]any{"command": []string{"/bin/sh", "-c", "echo here; pwd"}})
	if err != nil || !strings.Contains(string(payload), `here\n`+work) {
		t.Errorf("%s %v", payload, err)
	}
	if q := <-asked; !strings.Contains(strings.Join(q.Request.HearthLines, "\n"), "echo here; pwd") {
		t.Errorf("what was asked: %+v", q.Request)
	}
	answer = "deny"
	if _, err := h.invoke("system.run", map[string]any{"command": []string{"/usr/bin/touch", "proof"}}); err == nil {
		t.Error("it ran after a no")
	}
	<-asked
	for name, forged := range map[string]map[string]any{
		"approved": {"approved": true, "approvalDecision": "allow-once"},
		"a plan":   {"systemRunPlan": map[string]any{"argv": []string{"/usr/bin/touch", "proof"}}},
	} {
		forged["command"] = []string{"/usr/bin/touch", "proof"}
		if _, err := h.invoke("system.run", forged); err == nil {
			t.Errorf("TestSec_A_NODE_04: %s was believed", name)
		}
	}
	if _, err := os.Stat(filepath.Join(work, "proof")); err == nil {
		t.Error("it ran without a yes")
	}
	if _, err := h.invoke("screen.snapshot", map[string]any{}); err == nil {
		t.Error("a picture of a screen that its owner did not allow")
	}
}
