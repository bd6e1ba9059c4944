package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// official is a file of the official MCP packages; see check_mcp of build/test.
func official(t *testing.T, path string) string {
	t.Helper()
	dir := os.Getenv("HEARTH_MCP_PACKAGES")
	if dir == "" {
		t.Skip("the official MCP packages of npm are not there; `build/test --only mcp` fetches them and runs this")
	}
	return filepath.Join(dir, "@modelcontextprotocol", path)
}

// inspect is one run of the official inspector, as JSON.
func (h *house) inspect(args ...string) (map[string]any, string) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "node", append([]string{official(h.t, "inspector/clients/launcher/build/index.js"), "--cli"},
		args...)...)
	cmd.Env = h.hearth().Env
	out, err := cmd.Output()
	var res map[string]any
	if err != nil || json.Unmarshal(out, &res) != nil {
		h.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return res, string(out)
}

// inspects lists and calls our tools with the official inspector, which also
// finds nothing wrong with their schemas.
func (h *house) inspects(target ...string) {
	h.t.Helper()
	list, text := h.inspect(append(target, "--method", "tools/list", "--strict")...)
	tools, _ := list["tools"].([]any)
	if len(tools) != 5 || !strings.Contains(text, "chat_send") {
		h.t.Errorf("%s", text)
	}
	if _, text = h.inspect(append(target, "--method", "tools/call", "--tool-name", "chat_send", "--tool-arg",
		"message=hi from outside")...); !strings.Contains(text, "echo: hi from outside") {
		h.t.Errorf("%s", text)
	}
	if _, text = h.inspect(append(target, "--method", "tools/call", "--tool-name", "sessions_history", "--tool-arg",
		"session=main")...); !strings.Contains(text, "hi from outside") {
		h.t.Errorf("%s", text)
	}
	if _, text = h.inspect(append(target, "--method", "tools/call", "--tool-name", "memory_search", "--tool-arg",
		"query=tea")...); !strings.Contains(text, "content") {
		h.t.Errorf("%s", text)
	}
}

// The official inspector lists and calls the tools of `hearth mcp serve`.
func TestOfficialInspector(t *testing.T) {
	official(t, "")
	h := newHouse(t, "echo")
	h.gateway()
	program, err := exec.LookPath("hearth")
	if err != nil {
		t.Fatal(err)
	}
	h.inspects("-e", "HEARTH_HOME="+h.home, program, "mcp", "serve")
}

// The same over HTTP, with a token.
func TestOfficialInspectorOverHTTP(t *testing.T) {
	official(t, "")
	h := newHouse(t, "echo")
	h.gateway()
	if out, err := h.hearth("config", "set", "mcp.serve.http.enabled", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	out, err := h.hearth("tokens", "create", "inspector", "--scope", "mcp", "--scope", "owner", "--json").Output()
	var made protocol.TokenCreated
	if err != nil || json.Unmarshal(out, &made) != nil || made.Secret == "" {
		t.Fatalf("%v %s", err, out)
	}
	h.inspects("--transport", "http", "--server-url", "http://127.0.0.1:"+h.port+"/mcp", "--header", "Authorization: Bearer "+made.Secret)
}

// The example client of the editors' SDK, as it is, holds a session.
func TestOfficialEditorClient(t *testing.T) {
	official(t, "")
	program := filepath.Join(t.TempDir(), "client")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"github.com/coder/acp-go-sdk/example/client").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	h := newHouse(t, "echo")
	h.gateway()
	cmd := exec.CommandContext(t.Context(), program, "hearth", "acp")
	cmd.Env = h.hearth().Env
	out, err := cmd.CombinedOutput()
	said := strings.ReplaceAll(string(out), "\n", "") // it prints a line for every piece
	for _, want := range []string{"Created session: acp-", "echo: [Working directory: ", "Agent completed"} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("no %q: %v\n%s", want, err, out)
		}
	}
}

// The official server under the gateway's care: its tools are called by the
// model, progress is shown, a stop ends a call, and its environment has nothing
// of ours.
func TestOfficialServerInTheHouse(t *testing.T) {
	program := official(t, "server-everything/dist/index.js")
	h := newHouse(t, "tool-text-mcp__every__trigger-long-running-operation")
	h.gateway()
	for _, args := range [][]string{
		{"mcp", "add", "every", "--", "node", program},
		{"config", "set", "mcp.servers.every.sandbox.read", `["` + filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(program)))) + `"]`},
		{"config", "set", "mcp.servers.every.ask", "off"},
	} {
		if out, err := h.hearth(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
	}
	h.until("mcp__every__echo", "mcp", "test", "every")
	h.ownEnvironment()
	events := make(chan protocol.Event, 4096)
	c, err := client.Open(t.Context(), statedir.Dir(h.home), client.Options{
		Client: protocol.ClientInfo{ID: "cli", Mode: "probe", Version: "test"}, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite},
		Caps: []string{protocol.CapToolEvents},
		OnEvent: func(e protocol.Event) {
			select {
			case events <- e:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if shown := officialTurn(t, c, events, `{"duration":0.9,"steps":3}`, false); !strings.Contains(shown, "1 of 3") ||
		!strings.Contains(shown, "2 of 3") || !strings.Contains(shown, "operation completed") {
		t.Errorf("%s", shown)
	}
	if shown := officialTurn(t, c, events, `{"duration":60,"steps":300}`, true); strings.Contains(shown, "operation completed") ||
		!strings.Contains(shown, " of 300") {
		t.Errorf("%s", shown)
	}
	h.until("mcp__every__echo", "mcp", "test", "every")
}

// ownEnvironment: the server's tool that tells its variables.
func (h *house) ownEnvironment() {
	h.t.Helper()
	c, err := client.Open(h.t.Context(), statedir.Dir(h.home),
		client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "probe", Version: "test"}, Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	var res protocol.ToolsInvokeResult
	if err := c.Call(h.t.Context(), protocol.MethodToolsInvoke, protocol.ToolsInvokeParams{Name: "mcp__every__get-env"}, &res); err != nil {
		h.t.Fatal(err)
	}
	if res.Output == nil || len(res.Output.Content) == 0 {
		h.t.Fatalf("%+v", res)
	}
	if env := res.Output.Content[0].Text; !strings.Contains(env, "PATH") || strings.Contains(env, "HEARTH") ||
		strings.Contains(env, "GORACE") {
		h.t.Errorf("%s", env)
	}
}

func over(state string) bool {
	return state == protocol.ChatFinal || state == protocol.ChatAborted || state == protocol.ChatError
}

// officialTurn is a turn, stopped at its first progress or not; it returns what
// was shown of it.
func officialTurn(t *testing.T, c *client.Client, events <-chan protocol.Event, text string, stop bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	run := "run-" + strings.Trim(text, "{}")
	var sent protocol.ChatSendResult
	if err := c.Call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: text, IdempotencyKey: run},
		&sent); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for {
		select {
		case e := <-events:
			if !strings.Contains(string(e.Payload), "run-") {
				continue
			}
			shown.Write(e.Payload)
			var ev protocol.ChatEvent
			if e.Event == protocol.EventChat && json.Unmarshal(e.Payload, &ev) == nil && over(ev.State) {
				if want := map[bool]string{true: protocol.ChatAborted, false: protocol.ChatFinal}[stop]; ev.State != want {
					t.Errorf("it ended as %s", ev.State)
				}
				return shown.String()
			}
			if stop && strings.Contains(string(e.Payload), "1 of 300") {
				var res protocol.ChatAbortResult
				if err := c.Call(ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, &res); err != nil {
					t.Fatal(err)
				}
			}
		case <-ctx.Done():
			t.Fatalf("it does not end: %s", shown.String())
		}
	}
}
