package gateway_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What commands leave behind, in the real program.

// gone waits until a process has ended.
func (g *guarded) gone(pid int) {
	g.t.Helper()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-g.ctx.Done():
			g.t.Fatalf("process %d still runs", pid)
		}
	}
}

// pidIn waits for a pid in a file of the workspace.
func (g *guarded) pidIn(name string) int {
	g.t.Helper()
	for {
		if pid, err := strconv.Atoi(strings.TrimSpace(g.canary(name))); err == nil {
			return pid
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-g.ctx.Done():
			g.t.Fatal("the command did not start")
		}
	}
}

// leaveRunning lets a command run on, and returns its process id.
func (g *guarded) leaveRunning() int {
	g.t.Helper()
	_ = os.Remove(g.work + "/pid")
	run := g.say(`run:{"command":"echo $$ > pid; exec sleep 600","background":true}`)
	if err := g.resolve(g.ask().ID, "once"); err != nil {
		g.t.Fatal(err)
	}
	if said := g.answer(run); !strings.Contains(said, "still running") {
		g.t.Fatal(said)
	}
	pid := g.pidIn("pid")
	if err := syscall.Kill(pid, 0); err != nil {
		g.t.Fatalf("it does not run: %v", err)
	}
	return pid
}

// A session that begins anew or is deleted takes its background commands along.
func TestSec_A_EXEC_24_SessionsEndTheirCommands(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	for name, end := range map[string]func() error{
		"reset": func() error {
			return g.c.Call(g.ctx, protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: "main"}, &json.RawMessage{})
		},
		"delete": func() error {
			return g.c.Call(g.ctx, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: "main"}, &json.RawMessage{})
		},
		"/new": func() error { g.say("/new"); return nil },
	} {
		pid := g.leaveRunning()
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g.gone(pid)
	}
}
