package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/mcp/login/logintest"
)

// One logs in at a service: the page is shown, the tools come, the login is kept
// over a restart and among the secrets only, and is gone after a logout.
func TestMCPLogin(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "add", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "review", Arguments: []*mcp.PromptArgument{{Name: "pr", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{
				Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Look at \x1b[31m" + r.Params.Arguments["pr"]}}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "notes://today", Name: "today"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult,
		error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "notes://today", Text: "buy\x1b[2J milk"}}}, nil
	})
	a := logintest.New(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	h := newHouse(t, "echo")
	gw := h.gateway()
	h.run("config", "set", "secrets.backend", "plain")
	h.run("mcp", "add", "notes", "--url", a.URL+"/mcp")
	h.until("hearth mcp login notes", "mcp", "list", "--json")

	k := h.hearth("mcp", "login", "notes")
	said, err := k.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	k.Stdout = &out
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if page := strings.TrimSpace(lines.Text()); strings.HasPrefix(page, a.URL+"/authorize") {
			if status := a.Visit(t, page); status != http.StatusOK {
				t.Errorf("the browser sees %d", status)
			}
		}
	}
	if err := k.Wait(); err != nil || !strings.Contains(out.String(), "mcp__notes__add") {
		t.Fatalf("%v %s", err, out.String())
	}
	for _, c := range []struct{ args, want string }{
		{"resources notes", "notes://today"}, {"read notes notes://today", "buy"}, {"prompts notes", "pr"}, {"prompt notes review pr=12", "12"},
	} {
		got := h.run(append([]string{"mcp"}, strings.Fields(c.args)...)...)
		if !strings.Contains(got, c.want) || strings.Contains(got, "\x1b") || strings.Contains(got, "UNTRUSTED") {
			t.Errorf("%s: %q", c.args, got)
		}
	}
	h.kill(gw)
	h.gateway()
	h.until("mcp__notes__add", "mcp", "test", "notes")
	if !strings.Contains(h.run("mcp", "list", "--json"), `"loggedIn": true`) {
		t.Error("the list does not say that one is logged in")
	}
	err = filepath.WalkDir(h.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "secrets.plain.json" {
			return err
		}
		if b, _ := os.ReadFile(path); strings.Contains(string(b), "access-") || strings.Contains(string(b), "refresh-") {
			t.Errorf("the login is in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	h.run("mcp", "logout", "notes")
	h.until("hearth mcp login notes", "mcp", "list", "--json")
}

func (h *house) run(args ...string) string {
	h.t.Helper()
	out, err := h.hearth(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v: %v %s", args, err, out)
	}
	return string(out)
}
