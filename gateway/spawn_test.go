package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// announcement is the message by which a sub-agent's result came to a session.
func announcements(msgs []protocol.Message) (out []protocol.Message) {
	for _, m := range msgs {
		if m.Role == protocol.MessageUser && m.Provenance != nil {
			out = append(out, m)
		}
	}
	return out
}

// spawned reads the result of a sessions_spawn call.
func spawned(t *testing.T, msgs []protocol.Message) (key, run string) {
	t.Helper()
	for _, m := range msgs {
		if m.Role != protocol.MessageToolResult || m.ToolName != "sessions_spawn" {
			continue
		}
		var d struct{ Status, ChildSessionKey, RunID string }
		if json.Unmarshal(m.Details, &d) == nil && d.Status == "accepted" {
			return d.ChildSessionKey, d.RunID
		}
	}
	t.Fatal("no sub-agent was accepted")
	return "", ""
}

func TestSpawnTellsItsResultOnce(t *testing.T) {
	r := newRig(t, "chat/tool-sessions_spawn")
	p := r.connect()
	p.send("main", "go", `{"task":"look at the sky","label":"sky","model":"chat/echo","cleanup":"keep"}`)
	p.ended("go")
	key, run := spawned(t, p.history("main").Messages)
	if !strings.HasPrefix(key, "agent:main:subagent:") {
		t.Errorf("its session is %q", key)
	}
	p.ended("announce:" + run)
	got := announcements(p.history("main").Messages)
	if len(got) != 1 {
		t.Fatalf("%d messages about it, want 1", len(got))
	}
	m := got[0]
	if m.Provenance.Kind != protocol.ProvenanceSession || m.Provenance.SourceSessionKey != key || m.Text() != "The sub-agent “sky” is done." {
		t.Errorf("%+v: %q", m.Provenance, m.Text())
	}
	if !strings.Contains(m.ForAgent, "EXTERNAL_UNTRUSTED_CONTENT") || !strings.Contains(m.ForAgent, "echo: look at the sky") {
		t.Errorf("the agent reads %q", m.ForAgent)
	}
	if child := p.history(key).Messages; len(child) != 2 || child[1].Text() != "echo: look at the sky" {
		t.Errorf("the child's session: %+v", child)
	}
	r.restart()
	p = r.connect()
	p.send("main", "later", "{}")
	p.ended("later")
	if n := len(announcements(p.history("main").Messages)); n != 1 {
		t.Errorf("after a restart there are %d messages about it", n)
	}
}

func TestSpawnLimits(t *testing.T) {
	r := newRig(t, "chat/tool-sessions_spawn")
	p := r.connect()
	for i := range 6 {
		run := fmt.Sprint("go-", i)
		p.send("main", run, fmt.Sprintf(`{"task":"wait %d","model":"chat/fault-hang"}`, i))
		said := p.ended(run).Message.Text()
		if refused := strings.Contains(said, "maxChildrenPerAgent"); refused != (i == 5) {
			t.Errorf("sub-agent %d: %s", i, said)
		}
	}
	var list protocol.SessionsList
	p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	running := 0
	for _, s := range list.Sessions {
		if strings.Contains(s.Key, ":subagent:") && s.HasActiveRun {
			running++
		}
	}
	if running > 4 {
		t.Errorf("%d work at the same time, 4 may", running)
	}
	// Stopping the session stops what it started.
	p.call(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, new(protocol.ChatAbortResult))
	waitFor(t, "end of all sub-agents", func() bool {
		var list protocol.SessionsList
		p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		for _, s := range list.Sessions {
			if s.HasActiveRun {
				return false
			}
		}
		return true
	})
	if n := len(announcements(p.history("main").Messages)); n != 0 {
		t.Errorf("%d stopped sub-agents were announced", n)
	}
}

// A sub-agent has fewer tools than who started it, and starts none itself.
func TestSpawnDepth(t *testing.T) {
	r := newRig(t, "chat/tool-sessions_spawn")
	p := r.connect()
	p.send("main", "go", `{"task":"{\"task\":\"deeper\"}","model":"chat/tool-sessions_spawn"}`)
	p.ended("go")
	key, run := spawned(t, p.history("main").Messages)
	p.ended("announce:" + run)
	said := ""
	for _, m := range p.history(key).Messages {
		said += m.Text() + "\n"
	}
	if strings.Contains(said, "accepted") || !strings.Contains(said, `no tool called "sessions_spawn"`) {
		t.Errorf("the sub-agent said %s", said)
	}
	for _, name := range []string{"message", "gateway", "sessions_send", "subagents"} {
		if strings.Contains(strings.SplitN(said, "Available:", 2)[1], name) {
			t.Errorf("a sub-agent has %s: %s", name, said)
		}
	}
}

// /stop stops the sub-agents of the chat too, also when nothing else runs in it,
// and says how many.
func TestStopCountsSubAgents(t *testing.T) {
	r := newRig(t, "chat/tool-sessions_spawn")
	p := r.connect()
	for i := range 2 {
		run := fmt.Sprint("go-", i)
		p.send("main", run, fmt.Sprintf(`{"task":"wait %d","model":"chat/fault-hang"}`, i))
		p.ended(run)
	}
	if said := p.say("main", "stop", "/stop").Message.Text(); said != "Stopped 2 sub-agents." {
		t.Error(said)
	}
	if said := p.say("main", "stop2", "/stop").Message.Text(); said != "Nothing was running." {
		t.Error(said)
	}
}

// A sub-agent reads the small prompt of its own agent: what it is, two files,
// no more than its tools.
func TestSubAgentReadsTheSmallPrompt(t *testing.T) {
	r := newRig(t, "chat/tool-sessions_spawn")
	p := r.connect()
	dir := t.TempDir()
	for _, name := range []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "USER.md", "MEMORY.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("The file "+name+" of work."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.patch(map[string]any{"agents": map[string]any{
		"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "work", "workspace": dir}}}})
	p.send("agent:work:main", "go", `{"task":"look at the sky","model":"chat/echo"}`)
	p.ended("go")
	key, run := spawned(t, p.history("agent:work:main").Messages)
	if !strings.HasPrefix(key, "agent:work:subagent:") {
		t.Errorf("its session is %q", key)
	}
	p.ended("announce:" + run)
	p.say(key, "more", "hello") // in its session, so that it is the last that was asked
	sent := r.model.Snapshot().System
	for _, want := range []string{"The file AGENTS.md of work.", "The file TOOLS.md of work.", "You are a sub-agent: ", dir, "## Safety",
		"## Subagent Context"} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q is not in\n%s", want, sent)
		}
	}
	for _, not := range []string{"The file SOUL.md", "The file USER.md", "The file MEMORY.md", "## Memory Recall", "## Messaging",
		"## Silent Replies", "## Heartbeats", "## User Identity", "- sessions_spawn:", "- message:"} {
		if strings.Contains(sent, not) {
			t.Errorf("%q is in\n%s", not, sent)
		}
	}
}
