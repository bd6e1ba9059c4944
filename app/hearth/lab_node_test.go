//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/netlab"
)

// playInvoke HOME N: as the owner on the gateway's machine, asks its one node N
// times and says how long that took.
func playInvoke(ctx context.Context, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	c, err := client.Open(ctx, statedir.Dir(args[0]), client.Options{
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"}, Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeWrite,
			protocol.ScopeRead},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	var l protocol.NodeList
	if err := c.Call(ctx, protocol.MethodNodeList, nil, &l); err != nil {
		return err
	}
	if len(l.Nodes) != 1 {
		return errors.New("not one node")
	}
	var all []time.Duration
	for i := range n {
		began := time.Now()
		err := c.Call(ctx, protocol.MethodNodeInvoke, protocol.NodeInvokeParams{
			NodeID: l.Nodes[0].NodeID, Command: "system.which", Params: json.RawMessage(`{"bins":["sh"]}`), IdempotencyKey: fmt.Sprint("lab", i),
			TimeoutMs: 5000,
		}, nil)
		if err != nil {
			return err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	fmt.Printf("there and back over the network: p50 %s, p95 %s, ready\n", all[n/2].Round(10*time.Microsecond),
		all[n*95/100].Round(10*time.Microsecond))
	<-ctx.Done()
	return nil
}

// A machine of the network becomes a node: paired by a code, agreed to, asked,
// back after the gateway was killed, out as soon as it is removed. A command
// runs there only after a yes on the gateway's machine.
func TestLabNode(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	home := newMachine(t, l, "h1", "10.77.0.1/24", "")
	attic := newMachine(t, l, "h2", "10.77.0.2/24", "")
	gw := home.gateway()
	home.hearth("lan", "on")
	code := strings.TrimSpace(home.hearth("qr", "--node", "--code"))
	node := attic.Start(attic.env(), attic.exe, "node", "run", "--name", "attic", code)
	l.Until(netlab.Patience, "it asks", func() bool { return strings.Contains(home.hearth("nodes"), "asks") })
	if out, err := home.try("nodes", "invoke", "attic", "system.which", "--params", `{"bins":["sh"]}`); err == nil {
		t.Errorf("it does things before anybody agreed: %s", out)
	}
	if out, err := attic.try("connect", code); err == nil {
		t.Errorf("the code of a node opens more, and twice: %s", out)
	}
	home.hearth("nodes", "approve", "attic")
	if out := home.hearth("nodes", "invoke", "attic", "system.which", "--params", `{"bins":["sh"]}`); !strings.Contains(out, `/sh"`) {
		t.Error(out)
	}
	p := home.play("invoke", home.home, "200")
	t.Log(strings.TrimSpace(p.Output()))
	p.Stop()

	run := home.Person().Start(home.env(), home.exe, "nodes", "invoke", "attic", "system.run", "--params", `{"command":["/bin/hostname"]}`)
	home.approve(l)
	if !netlab.Wait(netlab.Patience, func() bool {
		return strings.Contains(run.Output(), `"exitCode": 0`) || strings.Contains(run.Output(), `"exitCode":0`)
	}) {
		t.Errorf("the command: %s", run.Output())
	}

	gw.Kill()
	gw = home.gateway()
	began := time.Now()
	connected := func() bool { return strings.Contains(home.hearth("nodes"), "connected") }
	l.Until(netlab.Patience, "it is back", connected)
	t.Logf("back %s after the gateway answered", time.Since(began).Round(time.Millisecond))

	home.hearth("devices", "remove", deviceNamed(home.hearth("devices"), "attic"))
	began = time.Now()
	if !netlab.Wait(netlab.Patience, func() bool { return !node.Lives() }) ||
		!strings.Contains(node.Output(), "does not want this machine any more") {
		t.Errorf("after it was removed: %s", node.Output())
	}
	t.Logf("out %s after it was removed", time.Since(began).Round(time.Millisecond))
	if out, err := attic.try("node", "run"); err == nil || strings.Contains(out, "Connected") {
		t.Errorf("it came again: %s", out)
	}
	gw.Stop()
	if strings.Contains(gw.Output()+node.Output(), "DATA RACE") {
		t.Error(gw.Output(), node.Output())
	}
}

// deviceNamed is the id at the beginning of a device's line.
func deviceNamed(list, name string) string {
	for line := range strings.Lines(list) {
		if strings.Contains(line, name) {
			return strings.Fields(line)[0]
		}
	}
	return "none"
}
