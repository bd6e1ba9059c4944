package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// mcpServer is the program of an MCP server: its tool writes into the folder
// that it runs in, and says of itself what a file there holds.
func mcpServer() {
	about, err := os.ReadFile("about")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "add", Description: string(about),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a struct{ Text string }
			if err := json.Unmarshal(req.Params.Arguments, &a); err != nil {
				return nil, err
			}
			f, err := os.OpenFile("notes", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			if _, err := f.WriteString(a.Text + "\n"); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noted " + a.Text}}}, nil
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// notes is a house with that server, and the folder that it runs in.
func notes(t *testing.T) (*house, string) {
	h, dir := newHouse(t, "tool-mcp__notes__add"), t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	describe(t, dir, "Keeps a note")
	program, err := exec.LookPath("mcpserver")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := h.hearth("mcp", "add", "notes", "--cwd", dir, "--", program).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return h, dir
}

func describe(t *testing.T, dir, about string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "about"), []byte(about), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answer waits until the one request shows what it should, decides it, and
// returns the words of the answer.
func (h *house) answer(k *talk, shows []string, decision ...string) string {
	h.t.Helper()
	var id string
	until(h.t, "nothing was asked", func() bool {
		out, err := h.hearth("approvals", "list", "--json").Output()
		var list []struct{ ID string }
		if err != nil || json.Unmarshal(out, &list) != nil || len(list) == 0 {
			return false
		}
		id = list[0].ID
		return true
	})
	out, err := h.hearth("approvals", "show", id).Output()
	for _, want := range shows {
		if err != nil || !strings.Contains(string(out), want) {
			h.t.Errorf("the request shows no %q: %v\n%s", want, err, out)
		}
	}
	if out, err := h.hearth(append(append([]string{"approvals"}, decision...), id)...).CombinedOutput(); err != nil {
		h.t.Fatalf("%v %s", err, out)
	}
	k.end()
	return k.said.String()
}

// catalog is what tools.catalog says of a tool.
func (h *house) catalog(id string) (found *protocol.ToolInfo) {
	h.t.Helper()
	c, err := client.Open(h.t.Context(), statedir.Dir(h.home),
		client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "probe", Version: "test"}, Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	var res protocol.ToolsCatalog
	if err := c.Call(h.t.Context(), protocol.MethodToolsCatalog, protocol.ToolsCatalogParams{}, &res); err != nil {
		h.t.Fatal(err)
	}
	for _, g := range res.Groups {
		for _, info := range g.Tools {
			if info.ID == id {
				found = &info
			}
		}
	}
	return found
}

// The whole way with real programs: a server's tool is listed, asked for, not
// used after a no, used after a yes, used again without a question where that
// was allowed, and asked for anew when its server changed it, over a restart.
func TestSec_A_INJ_06_ChangedToolIsAskedForAgain(t *testing.T) {
	h, dir := notes(t)
	gw := h.gateway()
	h.until("mcp__notes__add", "mcp", "test", "notes")
	if info := h.catalog("mcp__notes__add"); info == nil || !strings.Contains(info.Description, "Keeps a note") {
		t.Errorf("the catalog says %+v", info)
	}
	wrote := func(want string) {
		t.Helper()
		if b, _ := os.ReadFile(filepath.Join(dir, "notes")); string(b) != want {
			t.Errorf("the server wrote %q, want %q", b, want)
		}
	}
	shows := []string{"Hearth wants to use add of the MCP server notes", "mcpserver"}
	if said := h.answer(h.talk(`{"text":"one"}`), append(shows, `"one"`), "deny"); !strings.Contains(said, "the owner said no") {
		t.Errorf("after a no: %q", said)
	}
	wrote("")
	if said := h.answer(h.talk(`{"text":"two"}`), append(shows, `"two"`), "approve"); !strings.Contains(said, "noted two") {
		t.Errorf("after a yes: %q", said)
	}
	wrote("two\n")
	h.answer(h.talk(`{"text":"three"}`), shows, "approve", "--scope", "here")
	free := h.talk(`{"text":"four"}`)
	if free.end(); !strings.Contains(free.said.String(), "noted four") {
		t.Errorf("with a rule: %q", free.said.String())
	}
	wrote("two\nthree\nfour\n")

	h.kill(gw)
	gw = h.gateway() // the rule holds
	h.until("mcp__notes__add", "mcp", "test", "notes")
	if free = h.talk(`{"text":"five"}`); free.end() != 0 || !strings.Contains(free.said.String(), "noted five") {
		t.Errorf("after a restart: %q", free.said.String())
	}
	h.kill(gw)
	describe(t, dir, "Keeps a note, and sends it to somebody")
	h.gateway()
	h.until("mcp__notes__add", "mcp", "test", "notes")
	if said := h.answer(h.talk(`{"text":"six"}`), append(shows, "This tool is not what it was"), "deny"); !strings.Contains(said,
		"the owner said no") {
		t.Errorf("changed: %q", said)
	}
	wrote("two\nthree\nfour\nfive\n")
}
