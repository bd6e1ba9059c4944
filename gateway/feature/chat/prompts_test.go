package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// /context tells exactly what was sent.
func TestContextTellsWhatIsSent(t *testing.T) {
	for _, mdl := range []string{"chat/echo", "claude/echo", "llama/echo"} {
		r := gatewaytest.New(t, mdl)
		p := r.Connect()
		p.Say("main", "a", "hello")
		sent := r.Model.Snapshot().System
		if !strings.Contains(sent, "## Tooling") || !strings.Contains(sent, "- session_status: ") ||
			!strings.Contains(sent, `"surface":"webchat"`) {
			t.Errorf("%s was sent:\n%s", mdl, sent)
		}
		said := p.Say("main", "b", "/context detail").Message.Text()
		if want := fmt.Sprintf("- System prompt: %d bytes\n", len(sent)); !strings.Contains(said, want) {
			t.Errorf("%s: %q is not in\n%s", mdl, want, said)
		}
		for _, part := range []string{"  - Tooling: ", "  - Safety: ", "  - Runtime: ", "- Tools: ", "  - session_status: "} {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q is missing in\n%s", mdl, part, said)
			}
		}
	}
}

// What is added for a family of models goes with its models only, and the
// person's few words about their assistant with every prompt.
func TestContributionReachesTheModel(t *testing.T) {
	r := gatewaytest.New(t, "chat/gpt-5.2")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Patch(map[string]any{"agents": map[string]any{
		"list": []any{map[string]any{"id": "main", "identity": map[string]any{"name": "Nia", "theme": "a dry fox"}}}}})
	const words = "do not slip back into a neutral voice"
	p.Say("main", "a", "hello")
	sent := r.Model.Snapshot().System
	if at := strings.Index(sent, words); at < 0 || at > strings.Index(sent, "## Tooling") {
		t.Errorf("the family's words stand at %d of\n%s", at, sent)
	}
	for _, want := range []string{"You are Nia, ", `"a dry fox"`, `"repo":"` + dir + `"`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q is missing", want)
		}
	}
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"model": "chat/echo"}}})
	p.Say("main", "b", "hello")
	if strings.Contains(r.Model.Snapshot().System, words) {
		t.Error("another family got the words too")
	}
	var who protocol.AgentIdentity
	p.Do(protocol.MethodAgentIdentityGet, protocol.AgentIdentityParams{AgentID: "main"}, &who)
	if who.Theme != "a dry fox" {
		t.Errorf("%+v", who)
	}
}

// After a bare /new or /reset the session begins with the notes of the last
// days, in the user's role and marked; other turns have none of them.
func TestStartupNotes(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Say("main", "a", "hello")
	note := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	today := time.Now()
	note(today.Format("2006-01-02")+".md", "The plumber comes on Friday.")
	note(today.AddDate(0, 0, -9).Format("2006-01-02")+".md", "Long ago.")
	heard := func(id, text string) string {
		p.Say("main", id, text)
		msgs := p.History("main").Messages
		for _, m := range slices.Backward(msgs) {
			if m.Role == protocol.MessageUser {
				return m.Text() + "\n" + m.ForAgent
			}
		}
		return ""
	}
	for i, c := range []struct {
		text string
		want bool
	}{{"hello", false}, {"/new", true}, {"hello", false}, {"/reset", true}, {"/new what is due?", false}} {
		got := heard(fmt.Sprint("s", i), c.text)
		if strings.Contains(got, "The plumber") != c.want || strings.Contains(got, "EXTERNAL_UNTRUSTED_CONTENT") != c.want ||
			strings.Contains(got, "Long ago") {
			t.Errorf("%s: the agent read %s", c.text, got)
		}
	}
	p.Patch(map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"startupContext": map[string]any{"applyOn": []string{"reset"}}}}})
	if got := heard("t", "/new"); strings.Contains(got, "plumber") || !strings.Contains(got, "started a new session") {
		t.Errorf("the agent read %s", got)
	}
}

// What a turn reads of a tool's result, and of a memory file, is bounded by the
// agent's own limits, or those of all.
func TestContextLimits(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-read")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"contextLimits": map[string]any{"toolResultMaxChars": 1000, "memoryGetDefaultLines": 2}},
		"list": []any{
			map[string]any{"id": "main"},
			map[string]any{"id": "wide", "workspace": dir, "contextLimits": map[string]any{"toolResultMaxChars": 5000}},
		},
	}})
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"long.txt", "MEMORY.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("a line of text\n", 300)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result := func(key, id string) string {
		for _, m := range p.History(key).Messages {
			if m.Role == protocol.MessageToolResult && m.Meta.RunID == id {
				return m.Text()
			}
		}
		return ""
	}
	for key, most := range map[string]int{"main": 1000, "agent:wide:main": 5000} {
		p.Say(key, key, `{"path":"long.txt"}`)
		if got := len(result(key, key)); got < most*9/10 || got > most*11/10 {
			t.Errorf("%s read %d bytes, not about %d", key, got, most)
		}
	}
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"model": "chat/tool-memory_get"}}})
	p.Say("main", "m", `{"path":"MEMORY.md"}`)
	if got := strings.Count(result("main", "m"), "a line of text"); got != 2 {
		t.Errorf("%d lines were read", got)
	}
	p.Say("main", "n", `{"path":"MEMORY.md","lines":5}`)
	if got := strings.Count(result("main", "n"), "a line of text"); got != 5 {
		t.Errorf("%d lines were read where 5 were asked for", got)
	}
}

// /context list names each file of the workspace, and what of it is not shown.
func TestContextListsFiles(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"bootstrapMaxChars": 200}}})
	p.Say("main", "a", "hello")
	if err := os.WriteFile(filepath.Join(dir, "USER.md"), []byte(strings.Repeat("word ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "TOOLS.md")); err != nil {
		t.Fatal(err)
	}
	said := p.Say("main", "b", "/context list").Message.Text()
	for _, want := range []string{"  - Project Context, IDENTITY.md: ", "  - Project Context, TOOLS.md (missing): ", " of 499 characters): "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if strings.Contains(said, "- Safety:") {
		t.Errorf("all parts are listed:\n%s", said)
	}
}
