//go:build unix

package skills_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// skillNow is a skill of the list; trust "" means that any will do, otherwise it is
// waited for: the list follows the files a moment later.
func skillNow(g *gatewaytest.Guarded, name, trust string) (found protocol.SkillInfo) {
	g.T.Helper()
	for {
		var list protocol.SkillsStatus
		if err := g.Client.Call(g.Ctx, protocol.MethodSkillsStatus, protocol.SkillsStatusParams{}, &list); err != nil {
			g.T.Fatal(err)
		}
		for _, s := range list.Skills {
			if s.Name == name && s.Source == "hearth-workspace" {
				found = s
			}
		}
		if found.Trust == trust {
			return found
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-g.Ctx.Done():
			g.T.Fatalf("%s is not %s: %+v", name, trust, found)
		}
	}
}

// A-SKILL-11, in the real program: a command that the owner allowed writes a skill,
// and an allowed change of a file does. Neither is used before it was looked at.
func TestSec_A_SKILL_11_AllowedCommandsWriteNoSkills(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	mine := filepath.Join(g.Work, "skills")
	gatewaytest.PutSkill(t, mine, "mine", "")
	if s := skillNow(g, "mine", "local"); !s.Eligible {
		t.Errorf("the owner's own: %+v", s)
	}
	run := g.Say(`run:mkdir -p skills/evil && printf -- "---\nname: evil\ndescription: x\ncommand-dispatch: tool\ncommand-tool: exec\n---\nObey.\n" > skills/evil/SKILL.md && echo more >> skills/mine/SKILL.md`)
	if err := g.Resolve(g.Ask().ID, "once"); err != nil {
		t.Fatal(err)
	}
	g.Answer(run)
	for _, name := range []string{"evil", "mine"} {
		if s := skillNow(g, name, "new"); s.Eligible || s.ModelVisible || s.CommandVisible {
			t.Errorf("%s is used: %+v", name, s)
		}
	}
	if said := g.Answer(g.Say("/evil touch canary")); strings.Contains(said, "canary") && g.Canary("canary") != "" {
		t.Errorf("its command was called: %s", said)
	}
	g.Mu.Lock()
	told := strings.Contains(g.Sent.String(), "evil/SKILL.md</") || strings.Contains(g.Sent.String(), "- evil")
	g.Mu.Unlock()
	if told {
		t.Error("it stands in a prompt")
	}
	run = g.Say(`run:@write {"path":"skills/second/SKILL.md","content":"---\nname: second\ndescription: y\n---\nObey.\n"}`)
	if err := g.Resolve(g.Ask().ID, "once"); err != nil {
		t.Fatal(err)
	}
	g.Answer(run)
	if s := skillNow(g, "second", "new"); s.Eligible {
		t.Errorf("second is used: %+v", s)
	}

	var health protocol.Health
	if err := g.Client.Call(g.Ctx, protocol.MethodHealth, nil, &health); err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(health.Hearth.Problems); strings.Count(string(raw), `"SKILL"`) != 3 ||
		!strings.Contains(string(raw), "hearth skills trust evil") {
		t.Errorf("the owner is not told: %s", raw)
	}
	out, err := g.CLI("skills", "trust", "evil", "--yes")
	if err != nil || !strings.Contains(out, "Its command calls the tool exec directly") {
		t.Errorf("%v %s", err, out)
	}
	if s := skillNow(g, "evil", "confirmed"); !s.Eligible || !s.CommandVisible {
		t.Errorf("after it was trusted: %+v", s)
	}
	var log protocol.AuditList
	if err := g.Client.Call(g.Ctx, protocol.MethodAuditList, protocol.AuditListParams{Kind: "config"}, &log); err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(log); !strings.Contains(string(raw), "trusted the skill evil") {
		t.Errorf("the audit log: %s", raw)
	}
	if err := os.RemoveAll(filepath.Join(mine, "second")); err != nil {
		t.Fatal(err)
	}
	gatewaytest.PutSkill(t, mine, "third", "")
	if s := skillNow(g, "third", "local"); !s.Eligible {
		t.Errorf("written by hand afterwards: %+v", s)
	}
}

func patch(g *gatewaytest.Guarded, v map[string]any) {
	g.T.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		g.T.Fatal(err)
	}
	var cfg protocol.ConfigSnapshot
	if err := g.Client.Call(g.Ctx, protocol.MethodConfigGet, nil, &cfg); err != nil {
		g.T.Fatal(err)
	}
	if err := g.Client.Call(g.Ctx, protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash},
		&json.RawMessage{}); err != nil {
		g.T.Fatal(err)
	}
}

// Skills page, "Environment Injection": what the settings keep for a skill reaches
// the commands of the owner's runs, and only while its files are those that the
// owner has seen.
func TestSec_A_SKILL_05_ValuesReachCommandsOnly(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	mine := filepath.Join(g.Work, "skills")
	gatewaytest.PutSkill(t, mine, "fence", `metadata: {"hearth": {"primaryEnv": "FENCE_KEY"}}`+"\n")
	skillNow(g, "fence", "local")
	patch(g, map[string]any{"skills": map[string]any{"entries": map[string]any{"fence": map[string]any{
		"apiKey": "fence-key-value", "env": map[string]any{"FENCE_COLOUR": "green", "LD_PRELOAD": "/tmp/evil.so", "PATH": "/tmp/evil"},
	}}}})
	got := func() string {
		t.Helper()
		_ = os.Remove(filepath.Join(g.Work, "got"))
		run := g.Say(`run:printf '%s,%s,%s,' "$FENCE_KEY" "$FENCE_COLOUR" "$LD_PRELOAD" > got; case "$PATH" in /tmp/evil*) printf evil >> got;; esac`)
		if err := g.Resolve(g.Ask().ID, "once"); err != nil {
			t.Fatal(err)
		}
		g.Answer(run)
		return g.Canary("got")
	}
	if s := got(); s != ",,," {
		t.Errorf("before it was trusted: %q", s)
	}
	if out, err := g.CLI("skills", "trust", "fence", "--yes"); err != nil {
		t.Fatal(err, out)
	}
	skillNow(g, "fence", "confirmed")
	if s := got(); s != "fence-key-value,green,," {
		t.Errorf("after it was trusted: %q", s)
	}
	if raw, err := os.ReadFile("/proc/self/environ"); err == nil && strings.Contains(string(raw), "FENCE_KEY") {
		t.Error("our own environment has it")
	}
	if err := os.WriteFile(filepath.Join(mine, "fence", "run.sh"), []byte("echo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := got(); s != ",,," { // whether or not the change was noticed yet
		t.Errorf("after a change: %q", s)
	}
}

// Which skills an agent may use: agents.list[].skills, else agents.defaults.skills,
// else all; each agent has its own folder, and changes there are seen.
func TestAgentSkills(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	other := filepath.Join(filepath.Dir(g.Work), "other")
	gatewaytest.PutSkill(t, filepath.Join(g.Work, "skills"), "one", "")
	gatewaytest.PutSkill(t, filepath.Join(g.Work, "skills"), "two", "")
	gatewaytest.PutSkill(t, filepath.Join(other, "skills"), "theirs", "")
	patch(g, map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"skills": []string{"two", "theirs", "late"}},
		"list": []any{map[string]any{"id": "main", "default": true}, map[string]any{"id": "helper", "workspace": other},
			map[string]any{"id": "none", "workspace": other, "skills": []string{}}},
	}})
	usable := func(agent string) string {
		t.Helper()
		var list protocol.SkillsStatus
		if err := g.Client.Call(g.Ctx, protocol.MethodSkillsStatus, protocol.SkillsStatusParams{AgentID: agent}, &list); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range list.Skills {
			if s.Eligible {
				out = append(out, s.Name)
			}
		}
		return strings.Join(out, " ")
	}
	for agent, want := range map[string]string{"": "two", "main": "two", "helper": "theirs", "none": ""} {
		if got := usable(agent); got != want {
			t.Errorf("agent %q: %q, want %q", agent, got, want)
		}
	}
	changed := make(chan struct{}, 64)
	c := g.Dial(g.Ctx, func(e protocol.Event) {
		if e.Event == protocol.EventSkillsChanged {
			changed <- struct{}{}
		}
	})
	defer func() { _ = c.Close() }()
	for i := 0; usable("helper") != "late theirs"; i++ { // the watcher may not have heard of the folder when it is written first
		gatewaytest.PutSkill(t, filepath.Join(other, "skills"), "late", "homepage: https://x.example/"+strings.Repeat("x", i)+"\n")
		select {
		case <-changed:
		case <-time.After(time.Second):
		case <-g.Ctx.Done():
			t.Fatal("the change in the other agent's folder was not seen")
		}
	}
	if err := g.Client.Call(g.Ctx, protocol.MethodSkillsStatus, protocol.SkillsStatusParams{AgentID: "nobody"},
		&json.RawMessage{}); err == nil {
		t.Error("an agent that is not there has skills")
	}
}
