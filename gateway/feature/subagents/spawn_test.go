package subagents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSpawnTellsItsResultOnce(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	p.Send("main", "go", `{"task":"look at the sky","label":"sky","model":"chat/echo","cleanup":"keep"}`)
	p.Ended("go")
	key, run := gatewaytest.Spawned(t, p.History("main").Messages)
	if !strings.HasPrefix(key, "agent:main:subagent:") {
		t.Errorf("its session is %q", key)
	}
	p.Ended("announce:" + run)
	got := gatewaytest.Announcements(p.History("main").Messages)
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
	if child := p.History(key).Messages; len(child) != 2 || child[1].Text() != "echo: look at the sky" {
		t.Errorf("the child's session: %+v", child)
	}
	r.Restart()
	p = r.Connect()
	p.Send("main", "later", "{}")
	p.Ended("later")
	if n := len(gatewaytest.Announcements(p.History("main").Messages)); n != 1 {
		t.Errorf("after a restart there are %d messages about it", n)
	}
}

func TestSpawnLimits(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	for i := range 6 {
		run := fmt.Sprint("go-", i)
		p.Send("main", run, fmt.Sprintf(`{"task":"wait %d","model":"chat/fault-hang"}`, i))
		said := p.Ended(run).Message.Text()
		if refused := strings.Contains(said, "maxChildrenPerAgent"); refused != (i == 5) {
			t.Errorf("sub-agent %d: %s", i, said)
		}
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
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
	p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, new(protocol.ChatAbortResult))
	gatewaytest.WaitFor(t, "end of all sub-agents", func() bool {
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		for _, s := range list.Sessions {
			if s.HasActiveRun {
				return false
			}
		}
		return true
	})
	if n := len(gatewaytest.Announcements(p.History("main").Messages)); n != 0 {
		t.Errorf("%d stopped sub-agents were announced", n)
	}
}

// A sub-agent has fewer tools than who started it, and starts none itself.
func TestSpawnDepth(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	p.Send("main", "go", `{"task":"{\"task\":\"deeper\"}","model":"chat/tool-sessions_spawn"}`)
	p.Ended("go")
	key, run := gatewaytest.Spawned(t, p.History("main").Messages)
	p.Ended("announce:" + run)
	said := ""
	for _, m := range p.History(key).Messages {
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
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	for i := range 2 {
		run := fmt.Sprint("go-", i)
		p.Send("main", run, fmt.Sprintf(`{"task":"wait %d","model":"chat/fault-hang"}`, i))
		p.Ended(run)
	}
	if said := p.Say("main", "stop", "/stop").Message.Text(); said != "Stopped 2 sub-agents." {
		t.Error(said)
	}
	if said := p.Say("main", "stop2", "/stop").Message.Text(); said != "Nothing was running." {
		t.Error(said)
	}
}

// A sub-agent reads the small prompt of its own agent: what it is, two files,
// no more than its tools.
func TestSubAgentReadsTheSmallPrompt(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	dir := t.TempDir()
	for _, name := range []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "USER.md", "MEMORY.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("The file "+name+" of work."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.Patch(map[string]any{"agents": map[string]any{
		"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "work", "workspace": dir}}}})
	p.Send("agent:work:main", "go", `{"task":"look at the sky","model":"chat/echo"}`)
	p.Ended("go")
	key, run := gatewaytest.Spawned(t, p.History("agent:work:main").Messages)
	if !strings.HasPrefix(key, "agent:work:subagent:") {
		t.Errorf("its session is %q", key)
	}
	p.Ended("announce:" + run)
	p.Say(key, "more", "hello") // in its session, so that it is the last that was asked
	sent := r.Model.Snapshot().System
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
