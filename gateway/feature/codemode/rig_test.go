package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// question is what a model was sent.
type question struct {
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"function"`
	} `json:"tools"`
	body string
}

func (a question) tools() (names []string) {
	for _, t := range a.Tools {
		names = append(names, t.Function.Name)
	}
	slices.Sort(names)
	return names
}

// last is the text of the newest message.
func (a question) last() string {
	if len(a.Messages) == 0 {
		return ""
	}
	s, _ := a.Messages[len(a.Messages)-1].Content.(string)
	return s
}

// result is what the newest message says of a program.
func (a question) result(t *testing.T) (out codemode.Result) {
	t.Helper()
	text := a.last()
	if i := strings.Index(text, "{\"status\""); i >= 0 {
		text = text[i:]
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		t.Fatalf("no result of a program: %s (%v)", a.last(), err)
	}
	return out
}

// reply is a call of a tool, or words.
type reply struct {
	tool string
	args any
	text string
	hang bool
}

func cell(code string) reply {
	return reply{tool: "exec", args: map[string]string{"code": code}}
}

func goOn(id string) reply { return reply{tool: "wait", args: map[string]string{"runId": id}} }

// coder is a gateway whose model is a Go function.
type coder struct {
	*gatewaytest.Rig
	*gatewaytest.Peer
	mu   sync.Mutex
	seen []question
	say  func(n int, a question) reply
}

// newCoder starts one with settings beside those of the model.
func newCoder(t *testing.T, settings map[string]any, say func(n int, a question) reply) *coder {
	t.Helper()
	c := &coder{Rig: &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir())}, say: say}
	srv := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(srv.Close)
	c.ModelURL = srv.URL
	c.settings(settings)
	if raw, _ := json.Marshal(settings); strings.Contains(string(raw), `"codeMode":true`) || strings.Contains(string(raw), `"enabled":true`) {
		gatewaytest.CompileScripts(t, c.Dir)
	}
	c.Start()
	c.Peer = c.Connect()
	return c
}

func (c *coder) settings(more map[string]any) {
	cfg := map[string]any{
		"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": c.ModelURL + "/v1", "api": "openai-completions",
			"apiKey": "sk-canary-0123456789abcdef"}}},
		"features": map[string]any{"titles": false},
	}
	agents := map[string]any{"defaults": map[string]any{"model": "chat/coder", "workspace": filepath.Join(string(c.Dir), "..",
		filepath.Base(string(c.Dir))+"-work")}}
	cfg["agents"] = agents
	for k, v := range more {
		if k == "agents.list" {
			agents["list"] = v
			continue
		}
		cfg[k] = v
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		c.Rig.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(c.Dir), "hearth.json"), raw, 0o600); err != nil {
		c.Rig.T.Fatal(err)
	}
}

// codeMode are settings that switch it on.
func codeMode(more map[string]any) map[string]any {
	c := map[string]any{"enabled": true}
	for k, v := range more {
		c[k] = v
	}
	return map[string]any{"tools": map[string]any{"codeMode": c}}
}

func (c *coder) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"coder","object":"model"}]}`)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	a := question{body: string(raw)}
	if err := json.Unmarshal(raw, &a); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	n := len(c.seen)
	c.seen = append(c.seen, a)
	c.mu.Unlock()
	rep := c.say(n, a)
	if rep.hang {
		<-r.Context().Done()
		return
	}
	delta := map[string]any{"role": "assistant", "content": rep.text}
	stop := "stop"
	if rep.tool != "" {
		args, _ := json.Marshal(rep.args)
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function", "function": map[string]any{"name": rep.tool, "arguments": string(args)},
		}}}
		stop = "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []any{map[string]any{"index": 0, "delta": delta}, map[string]any{"index": 0, "delta": map[string]any{},
		"finish_reason": stop}} {
		b, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "choices": []any{choice}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// requests are what the model was sent so far.
func (c *coder) requests() []question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// turn sends a message and waits for the end of its answer.
func (c *coder) turn(id string) protocol.ChatEvent {
	c.Rig.T.Helper()
	c.Send("main", id, "do "+id)
	return c.Ended(id)
}

// nested are the entries of the main session that stand under a program.
func (c *coder) nested() (calls, results []protocol.Message) {
	for _, m := range c.History("main").Messages {
		if !m.Nested() {
			continue
		}
		if m.Role == protocol.MessageToolResult {
			results = append(results, m)
		} else {
			calls = append(calls, m)
		}
	}
	return calls, results
}

// toolServer is an MCP server with two tools.
func toolServer(t *testing.T) string {
	srv := mcp.NewServer(&mcp.Implementation{Name: "numbers", Version: "1"}, nil)
	type in struct {
		N int `json:"n"`
	}
	for _, name := range []string{"double", "forbidden"} {
		mcp.AddTool(srv, &mcp.Tool{Name: name, Description: "Twice a number."}, func(_ context.Context, _ *mcp.CallToolRequest,
			v in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(`{"result":%d}`, 2*v.N)}}}, nil, nil
		})
	}
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
	t.Cleanup(s.Close)
	return s.URL
}
