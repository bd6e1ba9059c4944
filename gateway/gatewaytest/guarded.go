package gatewaytest

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

// Puppet is a model that runs what the person's text says: one exec call for
// each line (or another tool: "@tool {…}"), all at once, and then tells the results.
func Puppet(w http.ResponseWriter, r *http.Request) {
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

// Guarded is a gateway process whose model is a puppet.
type Guarded struct {
	*Victim
	Work   string
	Ctx    context.Context
	Client *client.Client
	Asks   chan protocol.Approval
	n      int

	Mu   sync.Mutex
	Sent strings.Builder // all that the model was given
}

// listen keeps what the model is given.
func (g *Guarded) listen(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.Mu.Lock()
	g.Sent.Write(body)
	g.Mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	Puppet(w, r)
}

// NewGuarded is one that is not started yet.
func NewGuarded(t *testing.T) *Guarded {
	t.Helper()
	v := NewVictim(t, "chat/echo")
	g := &Guarded{Victim: v, Work: filepath.Join(t.TempDir(), "work"), Asks: make(chan protocol.Approval, 256)}
	srv := httptest.NewServer(http.HandlerFunc(g.listen))
	t.Cleanup(srv.Close)
	if err := os.Mkdir(g.Work, 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{
		"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": srv.URL + "/v1", "api": "openai-completions",
			"apiKey": "sk-test"}}},
		"agents":   map[string]any{"defaults": map[string]any{"model": "chat/puppet", "workspace": g.Work}},
		"features": untitled(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(v.Dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	g.Ctx = v.Background()
	return g
}

// Up starts the program and connects the owner.
func (g *Guarded) Up(failpoint string) {
	g.T.Helper()
	g.Start(failpoint)
	g.Client = g.Dial(g.Ctx, func(e protocol.Event) {
		var a protocol.Approval
		if e.Event == protocol.EventExecApprovalRequested && json.Unmarshal(e.Payload, &a) == nil {
			g.Asks <- a
		}
	})
	if g.Client == nil {
		g.T.Fatal("the gateway does not answer")
	}
	connected := g.Client
	g.T.Cleanup(func() { _ = connected.Close() })
}

// Say sends a message and returns its run's id.
func (g *Guarded) Say(text string) string {
	g.T.Helper()
	g.n++
	id := fmt.Sprint("turn-", g.n)
	var res protocol.ChatSendResult
	if err := g.Client.Call(g.Ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: text, IdempotencyKey: id},
		&res); err != nil {
		g.T.Fatal(err)
	}
	return id
}

// Ask waits for a question to the owner.
func (g *Guarded) Ask() protocol.Approval {
	g.T.Helper()
	select {
	case a := <-g.Asks:
		return a
	case <-g.Ctx.Done():
		g.T.Fatal("nobody was asked")
		return protocol.Approval{}
	}
}

// Resolve answers a question.
func (g *Guarded) Resolve(id, scope string) error {
	var res protocol.OKResult
	return g.Client.Call(g.Ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: id, HearthScope: scope}, &res)
}

// Answer is the end of a run.
func (g *Guarded) Answer(run string) string {
	g.T.Helper()
	var res protocol.AgentWaitResult
	if err := g.Client.Call(g.Ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: run, TimeoutMs: 30_000}, &res); err != nil {
		g.T.Fatal(err)
	}
	msgs := g.Settled(MainKey)[MainKey]
	return msgs[len(msgs)-1].Text()
}

// Canary is what a command wrote to a file of the workspace.
func (g *Guarded) Canary(name string) string {
	b, _ := os.ReadFile(filepath.Join(g.Work, name))
	return string(b)
}

// CLI runs the program's own command line.
func (g *Guarded) CLI(args ...string) (string, error) {
	cmd := exec.CommandContext(g.Ctx, g.bin, args...)
	cmd.Env = []string{"HEARTH_HOME=" + string(g.Dir), "HOME=" + string(g.Dir), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// WhyState is how a run ended, as hearth why tells it.
func (g *Guarded) WhyState(run string) (string, error) {
	var w protocol.Why
	err := g.Client.Call(g.Ctx, protocol.MethodWhy, protocol.WhyParams{RunID: run}, &w)
	return string(w.State), err
}
