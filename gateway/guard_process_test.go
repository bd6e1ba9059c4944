package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The guards as a whole, in the real program: a model that is not to be trusted
// asks for commands, and canary files show what ran.

// puppet is a model that runs what the person's text says: one exec call for
// each line (or another tool: "@tool {…}"), all at once, and then tells the results.
func puppet(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	var req struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	var asked string
	var results []string
	for _, m := range req.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			var parts []struct{ Text string }
			_ = json.Unmarshal(m.Content, &parts)
			for _, p := range parts {
				text += p.Text
			}
		}
		switch m.Role {
		case "user":
			asked, results = text, nil
		case "tool":
			results = append(results, text)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(delta any, finish any) {
		b, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "puppet",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	_, lines, ok := strings.Cut(asked, "run:")
	if len(results) > 0 || !ok {
		say(map[string]any{"role": "assistant", "content": "results: " + strings.Join(results, " | ")}, nil)
		say(map[string]any{}, "stop")
	} else {
		var calls []any
		for i, line := range strings.Split(lines, "\n") {
			if strings.HasPrefix(line, "<<<") { // the mark behind text from outside
				break
			}
			args, _ := json.Marshal(map[string]string{"command": line})
			if json.Valid([]byte(line)) && strings.HasPrefix(line, "{") {
				args = []byte(line)
			}
			name := "exec"
			if rest, ok := strings.CutPrefix(line, "@"); ok { // "@tool {arguments}"
				name, line, _ = strings.Cut(rest, " ")
				args = []byte(line)
			}
			calls = append(calls, map[string]any{"index": i, "id": fmt.Sprint("call_", i), "type": "function", "function": map[string]any{
				"name": name, "arguments": string(args)}})
		}
		say(map[string]any{"role": "assistant", "tool_calls": calls}, nil)
		say(map[string]any{}, "tool_calls")
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// guarded is a gateway process whose model is a puppet.
type guarded struct {
	*victim
	work string
	ctx  context.Context
	c    *client.Client
	asks chan protocol.Approval
	n    int

	mu   sync.Mutex
	sent strings.Builder // all that the model was given
}

// listen keeps what the model is given.
func (g *guarded) listen(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.sent.Write(body)
	g.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	puppet(w, r)
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	v := newVictim(t, "chat/echo")
	g := &guarded{victim: v, work: filepath.Join(t.TempDir(), "work"), asks: make(chan protocol.Approval, 256)}
	srv := httptest.NewServer(http.HandlerFunc(g.listen))
	t.Cleanup(srv.Close)
	if err := os.Mkdir(g.work, 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{
		"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": srv.URL + "/v1", "api": "openai-completions",
			"apiKey": "sk-test"}}},
		"agents": map[string]any{"defaults": map[string]any{"model": "chat/puppet", "workspace": g.work}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(v.dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	g.ctx = v.background()
	return g
}

// up starts the program and connects the owner.
func (g *guarded) up(failpoint string) {
	g.t.Helper()
	g.start(failpoint)
	g.c = g.dial(g.ctx, func(e protocol.Event) {
		var a protocol.Approval
		if e.Event == protocol.EventExecApprovalRequested && json.Unmarshal(e.Payload, &a) == nil {
			g.asks <- a
		}
	})
	if g.c == nil {
		g.t.Fatal("the gateway does not answer")
	}
	g.t.Cleanup(func() { _ = g.c.Close() })
}

// say sends a message and returns its run's id.
func (g *guarded) say(text string) string {
	g.t.Helper()
	g.n++
	id := fmt.Sprint("turn-", g.n)
	var res protocol.ChatSendResult
	if err := g.c.Call(g.ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: text, IdempotencyKey: id},
		&res); err != nil {
		g.t.Fatal(err)
	}
	return id
}

func (g *guarded) ask() protocol.Approval {
	g.t.Helper()
	select {
	case a := <-g.asks:
		return a
	case <-g.ctx.Done():
		g.t.Fatal("nobody was asked")
		return protocol.Approval{}
	}
}

func (g *guarded) resolve(id, scope string) error {
	var res protocol.OKResult
	return g.c.Call(g.ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: id, HearthScope: scope}, &res)
}

// answer is the end of a run.
func (g *guarded) answer(run string) string {
	g.t.Helper()
	var res protocol.AgentWaitResult
	if err := g.c.Call(g.ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: run, TimeoutMs: 30_000}, &res); err != nil {
		g.t.Fatal(err)
	}
	msgs := g.settled(mainKey)[mainKey]
	return msgs[len(msgs)-1].Text()
}

func (g *guarded) canary(name string) string {
	b, _ := os.ReadFile(filepath.Join(g.work, name))
	return string(b)
}

// cli runs the program's own command line.
func (g *guarded) cli(args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, g.bin, args...)
	cmd.Env = []string{"HEARTH_HOME=" + string(g.dir), "HOME=" + string(g.dir), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestSec_A_EXEC_01_WholeProcess(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	run := g.say("run:echo pwned >> canary")
	a := g.ask()
	if a.Request.Command != "echo pwned >> canary" || a.Request.Cwd == nil || *a.Request.Cwd != g.work || a.Request.HearthKind != "exec" {
		t.Errorf("%+v", a.Request)
	}
	if g.canary("canary") != "" {
		t.Fatal("it ran before anybody allowed it")
	}
	if out, err := g.cli("approvals"); err != nil || !strings.Contains(out, "echo pwned >> canary") || !strings.Contains(out, a.ID[:8]) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := g.cli("approvals", "approve", a.ID[:8]); err != nil || !strings.Contains(out, "Allowed (once)") {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.answer(run); g.canary("canary") != "pwned\n" {
		t.Fatalf("it did not run once: %q, %q", g.canary("canary"), said)
	}
	if err := g.resolve(a.ID, "once"); err == nil || !strings.Contains(err.Error(), "decided before") {
		t.Errorf("a second decision: %v", err)
	}
	// The same again is asked again; a no is told to the model.
	run = g.say("run:echo pwned >> canary")
	if out, err := g.cli("approvals", "deny", g.ask().ID[:8]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.answer(run); !strings.Contains(said, "the owner said no") || g.canary("canary") != "pwned\n" {
		t.Errorf("%q, %q", said, g.canary("canary"))
	}
	if out, err := g.cli("audit", "verify"); err != nil || !strings.Contains(out, "is whole") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := g.cli("audit", "list", "--kind", "approval")
	for _, want := range []string{"asked: Run echo pwned", "allowed: Run echo pwned", "denied: Run echo pwned", "hearth command line"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q is missing: %v\n%s", want, err, out)
		}
	}
}

// A yes for here holds for exactly this here, and nothing else.
func TestSec_A_EXEC_08_WholeProcess(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	run := g.say("run:ls")
	a := g.ask()
	if err := g.resolve(a.ID, "here"); err != nil {
		t.Fatalf("%v; offered %v, %v", err, a.Request.HearthScopes, a.Request.HearthLines)
	}
	g.answer(run)
	if said := g.answer(g.say("run:ls")); len(g.asks) != 0 || strings.Contains(said, "Not done") {
		t.Errorf("asked again, or not done: %s", said)
	}
	for _, other := range []string{"ls -a", "ls; echo pwned > canary", "ls\n"} {
		run := g.say("run:" + other)
		if other == "ls\n" {
			other = "ls" // the second line is empty
			g.answer(run)
			continue
		}
		if a := g.ask(); a.Request.Command != other {
			t.Errorf("asked for %q", a.Request.Command)
		} else if err := g.resolve(a.ID, "deny"); err != nil {
			t.Fatal(err)
		}
		g.answer(run)
	}
	out, err := g.cli("approvals", "rules")
	if err != nil || !strings.Contains(out, "here") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := g.cli("approvals", "forget", strings.Fields(strings.Split(out, "\n")[1])[0]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run = g.say("run:ls")
	if err := g.resolve(g.ask().ID, "deny"); err != nil {
		t.Fatal(err)
	}
	g.answer(run)
}

// A client that may only write cannot approve, by method or by typing.
func TestSec_A_EXEC_19_WholeProcess(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	run := g.say("run:echo pwned > canary")
	a := g.ask()
	token, err := os.ReadFile(g.dir.Token())
	if err != nil {
		t.Fatal(err)
	}
	weak, err := client.Dial(g.ctx, client.Options{
		URL: fmt.Sprintf("http://127.0.0.1:%d", g.port), Token: strings.TrimSpace(string(token)),
		Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"}, Scopes: []protocol.Scope{protocol.ScopeRead,
			protocol.ScopeWrite},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer weak.Close()
	var ok protocol.OKResult
	if err := weak.Call(g.ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: "allow-once"},
		&ok); err == nil || !strings.Contains(err.Error(), "missing scope") {
		t.Errorf("%v", err)
	}
	for i, text := range []string{"/approve " + a.ID, "/approve " + a.ID + " once", "/approve@hearth " + a.ID, "> /approve " + a.ID} {
		var res protocol.ChatSendResult
		p := protocol.ChatSendParams{SessionKey: fmt.Sprint("other-", i), Message: text, IdempotencyKey: fmt.Sprint("typed-", i)}
		if err := weak.Call(g.ctx, protocol.MethodChatSend, p, &res); err != nil {
			t.Fatal(err)
		}
	}
	var list []protocol.Approval
	if err := g.c.Call(g.ctx, protocol.MethodExecApprovalList, nil, &list); err != nil || len(list) != 1 || g.canary("canary") != "" {
		t.Fatalf("%v, %d wait, canary %q", err, len(list), g.canary("canary"))
	}
	// The same typed by who may: it counts.
	g.say("/approve " + a.ID[:8] + " once")
	g.answer(run)
	if g.canary("canary") != "pwned\n" {
		t.Error("the owner's typed yes did not count")
	}
}

// A hundred calls bring three questions; nothing runs.
func TestSec_A_EXEC_27_WholeProcess(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("echo %d >> canary", i))
	}
	run := g.say("run:" + strings.Join(lines, "\n"))
	asked := 0
	done := make(chan string, 1)
	go func() {
		var res protocol.AgentWaitResult
		_ = g.c.Call(g.ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: run, TimeoutMs: 50_000}, &res)
		done <- res.Status
	}()
	for over := false; !over; {
		select {
		case a := <-g.asks:
			if asked++; asked != a.Request.HearthAsked {
				t.Errorf("question %d says %d", asked, a.Request.HearthAsked)
			}
			if err := g.resolve(a.ID, "deny"); err != nil {
				t.Error(err)
			}
		case <-done:
			over = true
		}
	}
	if asked != 3 || g.canary("canary") != "" {
		t.Errorf("%d questions, canary %q", asked, g.canary("canary"))
	}
}

// Killed around a decision: it is recorded with who made it, or it has expired;
// what was asked for runs at most once, here not at all.
func TestFault_F_CRASH_13_AroundTheDecision(t *testing.T) {
	for _, point := range []string{"beforeApproval", "afterApproval"} {
		t.Run(point, func(t *testing.T) {
			g := newGuarded(t)
			g.up(point)
			g.say("run:echo ran >> canary")
			a := g.ask()
			_ = g.resolve(a.ID, "once") // the connection ends with the process
			g.died()
			g.up("")
			var after protocol.Approval
			if err := g.c.Call(g.ctx, protocol.MethodExecApprovalGet, protocol.ApprovalIDParams{ID: a.ID}, &after); err != nil {
				t.Fatal(err)
			}
			switch {
			case point == "beforeApproval" && (after.State != "expired" || after.ResolvedBy != ""):
				t.Errorf("%+v", after)
			case point == "afterApproval" && (after.State != "allowed" || after.ResolvedBy == "" || after.HearthScope != "once"):
				t.Errorf("%+v", after)
			}
			if err := g.resolve(a.ID, "once"); err == nil {
				t.Error("it can be decided after the restart")
			}
			g.settled(mainKey)
			if ran := strings.Count(g.canary("canary"), "ran"); ran > 1 {
				t.Errorf("it ran %d times", ran)
			}
			if out, err := g.cli("audit", "verify"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A pause outlives a restart: messages wait, are seen to wait, and go on.
func TestPauseWholeProcess(t *testing.T) {
	g := newGuarded(t)
	g.up("")
	if out, err := g.cli("pause"); err != nil || !strings.Contains(out, "Messages wait") {
		t.Fatalf("%v\n%s", err, out)
	}
	g.kill()
	g.up("")
	run := g.say("hello")
	if out, err := g.cli("status"); err != nil || !strings.Contains(out, "Paused: nothing is answered") {
		t.Errorf("%v\n%s", err, out)
	}
	var st protocol.Status
	if err := g.c.Call(g.ctx, protocol.MethodStatus, nil, &st); err != nil {
		t.Fatal(err)
	}
	if rec, err := g.whyState(run); err != nil || rec != "accepted" {
		t.Errorf("the message is %q, %v", rec, err)
	}
	if out, err := g.cli("resume"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.answer(run); !strings.HasPrefix(said, "results:") {
		t.Error(said)
	}
	if out, err := g.cli("pause", "tools", "--for", "1h"); err != nil || !strings.Contains(out, "It ends at") {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := g.answer(g.say("run:echo pwned > canary")); !strings.Contains(said, "Hearth is paused (tools)") || len(g.asks) != 0 ||
		g.canary("canary") != "" {
		t.Errorf("%q, %d questions", said, len(g.asks))
	}
}

func (g *guarded) whyState(run string) (string, error) {
	var w protocol.Why
	err := g.c.Call(g.ctx, protocol.MethodWhy, protocol.WhyParams{RunID: run}, &w)
	return w.State, err
}
