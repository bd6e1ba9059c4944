package approvals_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSec_A_EXEC_01_WholeProcess(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	run := g.Say("run:echo pwned >> canary")
	a := g.Ask()
	if a.Request.Command != "echo pwned >> canary" || a.Request.Cwd == nil || *a.Request.Cwd != g.Work || a.Request.HearthKind != "exec" {
		t.Errorf("%+v", a.Request)
	}
	if g.Canary("canary") != "" {
		t.Fatal("it ran before anybody allowed it")
	}
	if out, err := g.CLI("approvals"); err != nil || !strings.Contains(out, "echo pwned >> canary") || !strings.Contains(out, a.ID[:8]) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := g.CLI("approvals", "approve", a.ID[:8]); err != nil || !strings.Contains(out, "Allowed (once)") {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.Answer(run); g.Canary("canary") != "pwned\n" {
		t.Fatalf("it did not run once: %q, %q", g.Canary("canary"), said)
	}
	if err := g.Resolve(a.ID, "once"); err == nil || !strings.Contains(err.Error(), "decided before") {
		t.Errorf("a second decision: %v", err)
	}
	// The same again is asked again; a no is told to the model.
	run = g.Say("run:echo pwned >> canary")
	if out, err := g.CLI("approvals", "deny", g.Ask().ID[:8]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.Answer(run); !strings.Contains(said, "the owner said no") || g.Canary("canary") != "pwned\n" {
		t.Errorf("%q, %q", said, g.Canary("canary"))
	}
	if out, err := g.CLI("audit", "verify"); err != nil || !strings.Contains(out, "is whole") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := g.CLI("audit", "list", "--kind", "approval")
	for _, want := range []string{"asked: Run echo pwned", "allowed: Run echo pwned", "denied: Run echo pwned", "hearth command line"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q is missing: %v\n%s", want, err, out)
		}
	}
}

// A yes for here holds for exactly this here, and nothing else.
func TestSec_A_EXEC_08_WholeProcess(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	run := g.Say("run:ls")
	a := g.Ask()
	if err := g.Resolve(a.ID, "here"); err != nil {
		t.Fatalf("%v; offered %v, %v", err, a.Request.HearthScopes, a.Request.HearthLines)
	}
	g.Answer(run)
	if said := g.Answer(g.Say("run:ls")); len(g.Asks) != 0 || strings.Contains(said, "Not done") {
		t.Errorf("asked again, or not done: %s", said)
	}
	for _, other := range []string{"ls -a", "ls; echo pwned > canary", "ls\n"} {
		run := g.Say("run:" + other)
		if other == "ls\n" {
			other = "ls" // the second line is empty
			g.Answer(run)
			continue
		}
		if a := g.Ask(); a.Request.Command != other {
			t.Errorf("asked for %q", a.Request.Command)
		} else if err := g.Resolve(a.ID, "deny"); err != nil {
			t.Fatal(err)
		}
		g.Answer(run)
	}
	out, err := g.CLI("approvals", "rules")
	if err != nil || !strings.Contains(out, "here") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := g.CLI("approvals", "forget", strings.Fields(strings.Split(out, "\n")[1])[0]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run = g.Say("run:ls")
	if err := g.Resolve(g.Ask().ID, "deny"); err != nil {
		t.Fatal(err)
	}
	g.Answer(run)
}

// A client that may only write cannot approve, by method or by typing.
func TestSec_A_EXEC_19_WholeProcess(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	run := g.Say("run:echo pwned > canary")
	a := g.Ask()
	token, err := os.ReadFile(g.Dir.Token())
	if err != nil {
		t.Fatal(err)
	}
	weak, err := client.Dial(g.Ctx, client.Options{
		URL: fmt.Sprintf("http://127.0.0.1:%d", g.Port), Token: strings.TrimSpace(string(token)),
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"}, Scopes: []protocol.Scope{protocol.ScopeRead,
			protocol.ScopeWrite},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer weak.Close()
	var ok protocol.OKResult
	if err := weak.Call(g.Ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "allow-once"},
		&ok); err == nil || !strings.Contains(err.Error(), "missing scope") {
		t.Errorf("%v", err)
	}
	for i, text := range []string{"/approve " + a.ID, "/approve " + a.ID + " once", "/approve@hearth " + a.ID, "> /approve " + a.ID} {
		var res protocol.ChatSendResult
		p := protocol.ChatSendParams{SessionKey: fmt.Sprint("other-", i), Message: text, IdempotencyKey: fmt.Sprint("typed-", i)}
		if err := weak.Call(g.Ctx, protocol.MethodChatSend, p, &res); err != nil {
			t.Fatal(err)
		}
	}
	var list []protocol.Approval
	if err := g.Client.Call(g.Ctx, protocol.MethodExecApprovalList, nil, &list); err != nil || len(list) != 1 || g.Canary("canary") != "" {
		t.Fatalf("%v, %d wait, canary %q", err, len(list), g.Canary("canary"))
	}
	// The same typed by who may: it counts.
	g.Say("/approve " + a.ID[:8] + " once")
	g.Answer(run)
	if g.Canary("canary") != "pwned\n" {
		t.Error("the owner's typed yes did not count")
	}
}

// A hundred calls bring three questions; nothing runs.
func TestSec_A_EXEC_27_WholeProcess(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("echo %d >> canary", i))
	}
	run := g.Say("run:" + strings.Join(lines, "\n"))
	asked := 0
	done := make(chan string, 1)
	go func() {
		var res protocol.AgentWaitResult
		_ = g.Client.Call(g.Ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: run, TimeoutMs: 50_000}, &res)
		done <- res.Status
	}()
	for over := false; !over; {
		select {
		case a := <-g.Asks:
			if asked++; asked != a.Request.HearthAsked {
				t.Errorf("question %d says %d", asked, a.Request.HearthAsked)
			}
			if err := g.Resolve(a.ID, "deny"); err != nil {
				t.Error(err)
			}
		case <-done:
			over = true
		}
	}
	if asked != 3 || g.Canary("canary") != "" {
		t.Errorf("%d questions, canary %q", asked, g.Canary("canary"))
	}
}

// Killed around a decision: it is recorded with who made it, or it has expired;
// what was asked for runs at most once, here not at all.
func TestFault_F_CRASH_13_AroundTheDecision(t *testing.T) {
	for _, point := range []string{"beforeApproval", "afterApproval"} {
		t.Run(point, func(t *testing.T) {
			g := gatewaytest.NewGuarded(t)
			g.Up(point)
			g.Say("run:echo ran >> canary")
			a := g.Ask()
			_ = g.Resolve(a.ID, "once") // the connection ends with the process
			g.Died()
			g.Up("")
			var after protocol.Approval
			if err := g.Client.Call(g.Ctx, protocol.MethodExecApprovalGet, protocol.ApprovalIDParams{ID: a.ID}, &after); err != nil {
				t.Fatal(err)
			}
			switch {
			case point == "beforeApproval" && (after.State != "expired" || after.ResolvedBy != ""):
				t.Errorf("%+v", after)
			case point == "afterApproval" && (after.State != "allowed" || after.ResolvedBy == "" || after.HearthScope != "once"):
				t.Errorf("%+v", after)
			}
			if err := g.Resolve(a.ID, "once"); err == nil {
				t.Error("it can be decided after the restart")
			}
			g.Settled(gatewaytest.MainKey)
			if ran := strings.Count(g.Canary("canary"), "ran"); ran > 1 {
				t.Errorf("it ran %d times", ran)
			}
			if out, err := g.CLI("audit", "verify"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A pause outlives a restart: messages wait, are seen to wait, and go on.
func TestPauseWholeProcess(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	if out, err := g.CLI("pause"); err != nil || !strings.Contains(out, "Messages wait") {
		t.Fatalf("%v\n%s", err, out)
	}
	g.Kill()
	g.Up("")
	run := g.Say("hello")
	if out, err := g.CLI("status"); err != nil || !strings.Contains(out, "Paused: nothing is answered") {
		t.Errorf("%v\n%s", err, out)
	}
	var st protocol.Status
	if err := g.Client.Call(g.Ctx, protocol.MethodStatus, nil, &st); err != nil {
		t.Fatal(err)
	}
	if rec, err := g.WhyState(run); err != nil || rec != "accepted" {
		t.Errorf("the message is %q, %v", rec, err)
	}
	if out, err := g.CLI("resume"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.Answer(run); !strings.HasPrefix(said, "results:") {
		t.Error(said)
	}
	if out, err := g.CLI("pause", "tools", "--for", "1h"); err != nil || !strings.Contains(out, "It ends at") {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.Answer(g.Say("run:echo pwned > canary")); !strings.Contains(said, "Hearth is paused (tools)") || len(g.Asks) != 0 ||
		g.Canary("canary") != "" {
		t.Errorf("%q, %d questions", said, len(g.Asks))
	}
}
