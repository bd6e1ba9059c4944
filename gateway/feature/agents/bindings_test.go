package agents_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const officeToken = "654321:ABCDEabcdefghijklmnopqrstuvwxyz"

// household is a gateway with two bots and four assistants, each in a folder of
// its own that says who it is.
func household(t *testing.T) (r *gatewaytest.Rig, p *gatewaytest.Peer, home, office *telegramtest.Server) {
	t.Helper()
	office = telegramtest.New(officeToken)
	t.Cleanup(office.Close)
	var front http.Handler
	both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.Contains(q.URL.Path, officeToken) {
			office.ServeHTTP(w, q)
			return
		}
		front.ServeHTTP(w, q)
	}))
	t.Cleanup(both.Close)
	home = telegramtest.New(gatewaytest.BotToken)
	t.Cleanup(home.Close)
	front = home
	all := map[string]any{
		"apiRoot": both.URL, "dmPolicy": "allowlist", "allowFrom": []string{"777", "42"}, "owners": []string{"telegram:777"},
		"groupPolicy": "allowlist", "groupAllowFrom": []string{"777"},
		"groups": map[string]any{"-7": map[string]any{"requireMention": false}, "-8": map[string]any{"requireMention": false}},
	}
	r, _ = gatewaytest.NewOnTelegram(t, "chat/echo", all)
	p = r.Connect()
	root, skills := t.TempDir(), t.TempDir()
	gatewaytest.PutSkill(t, skills, "weather-here", "")
	gatewaytest.PutSkill(t, skills, "timesheets", "")
	agent := func(id string, more map[string]any) map[string]any {
		dir := filepath.Join(root, id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SOUL.md"), []byte("The soul of "+id+"."), 0o600); err != nil {
			t.Fatal(err)
		}
		out := map[string]any{"id": id, "workspace": dir}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	bind := func(id string, match map[string]any) map[string]any {
		match["channel"] = "telegram"
		return map[string]any{"agentId": id, "match": match}
	}
	p.Patch(map[string]any{
		"agents": map[string]any{"list": []any{
			agent("main", map[string]any{"default": true}),
			agent("work", map[string]any{"model": "chat/gpt-5-office", "skills": []string{"timesheets"},
				"tools": map[string]any{"deny": []string{"group:runtime"}}}),
			agent("club", nil), agent("kids", map[string]any{"tools": map[string]any{"allow": []string{"session_status"}}}),
		}},
		"bindings": []any{
			bind("work", map[string]any{"accountId": "office"}),
			bind("club", map[string]any{"accountId": "*", "peer": map[string]any{"kind": "group", "id": "-7"}}),
			bind("kids", map[string]any{"peer": map[string]any{"kind": "direct", "id": "42"}}),
		},
		"skills": map[string]any{"load": map[string]any{"extraDirs": []string{skills}, "watch": false}},
		"channels": map[string]any{
			"telegram": map[string]any{"accounts": map[string]any{"default": map[string]any{}, "office": map[string]any{"botToken": officeToken}}}},
	})
	for _, api := range []*telegramtest.Server{home, office} {
		for _, id := range []int64{gatewaytest.Anna, 42} {
			api.AddChat(telegramtest.Chat{ID: id, Type: "private"})
		}
		for _, id := range []int64{-7, -8} {
			api.AddChat(telegramtest.Chat{ID: id, Type: "group", Title: "Group"})
		}
	}
	r.Restart() // accounts are taken at the start
	return r, r.Connect(), home, office
}

// A message is answered by the agent that is bound closest to it: from that
// agent's folder, by its model, with its skills and tools, in its session.
func TestBindingsOnTelegram(t *testing.T) {
	r, p, home, office := household(t)
	owner, child := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, telegramtest.Person{ID: 42, Name: "Kim"}
	for _, c := range []struct {
		name  string
		api   *telegramtest.Server
		chat  int64
		from  telegramtest.Person
		agent string
		key   string
		model string
		has   []string
		not   []string
	}{
		{"nobody is bound", home, gatewaytest.Anna, owner, "main", "agent:main:main", "echo",
			[]string{"- exec:", "- read:", "<name>weather-here<",
				"<name>timesheets<"}, []string{"neutral voice"}},
		{"an account", office, gatewaytest.Anna, owner, "work", "agent:work:main", "gpt-5-office",
			[]string{"- read:", "<name>timesheets<", "neutral voice"},
			[]string{"- exec:", "<name>weather-here<"}},
		{"a group of any account", home, -7, owner, "club", "agent:club:telegram:group:-7", "echo", []string{"This is a group chat"}, nil},
		{"the group before the account", office, -7, owner, "club", "agent:club:telegram:group:-7", "echo", nil, nil},
		{"another group of the account", office, -8, owner, "work", "agent:work:telegram:group:-8", "gpt-5-office", nil, []string{"- exec:"}},
		{"a person", home, 42, child, "kids", "agent:kids:telegram:dm:42", "echo", []string{"- session_status:"},
			[]string{"- read:", "- exec:", "<available_skills>"}},
		{"the same person at the other account", office, 42, child, "work", "agent:work:telegram:dm:42", "gpt-5-office", nil, nil},
	} {
		before := len(gatewaytest.Texts(c.api, c.chat))
		c.api.Say(c.chat, c.from, "hello, "+c.name, nil)
		gatewaytest.WaitFor(t, c.name+": an answer", func() bool {
			got := gatewaytest.Texts(c.api, c.chat)
			return len(got) > before && strings.Contains(got[len(got)-1], c.name)
		})
		sent := r.Model.Snapshot().System
		for _, want := range append([]string{"The soul of " + c.agent + "."}, c.has...) {
			if !strings.Contains(sent, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, sent)
			}
		}
		for _, not := range c.not {
			if strings.Contains(sent, not) {
				t.Errorf("%s: %q is there", c.name, not)
			}
		}
		var last protocol.Message
		gatewaytest.WaitFor(t, c.name+": the transcript", func() bool {
			msgs := p.History(c.key).Messages
			if len(msgs) == 0 {
				return false
			}
			last = msgs[len(msgs)-1]
			return last.Role == protocol.MessageAssistant && strings.Contains(last.Text(), c.name)
		})
		if last.Model != c.model {
			t.Errorf("%s: %s answered", c.name, last.Model)
		}
	}
}

// Agents come, change and go while the gateway runs. One that goes stops what
// it does; its transcript and folder stay, and who was bound to it is answered
// by the default agent.
func TestAgentsComeAndGo(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	dir := t.TempDir()
	p.Do(protocol.MethodAgentsCreate, protocol.AgentsCreateParams{Name: "Helper", Workspace: dir}, new(protocol.AgentsCreateResult))
	p.Patch(map[string]any{"bindings": []any{map[string]any{"agentId": "helper", "match": map[string]any{"channel": "telegram"}}}})
	owner := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	say := func(text string) string {
		t.Helper()
		n := len(gatewaytest.Texts(api, gatewaytest.Anna))
		api.Say(gatewaytest.Anna, owner, text, nil)
		gatewaytest.WaitFor(t, "an answer to "+text, func() bool {
			got := gatewaytest.Texts(api, gatewaytest.Anna)
			return len(got) > n && strings.Contains(got[len(got)-1], text)
		})
		return r.Model.Snapshot().System
	}
	if sent := say("one"); !strings.Contains(sent, "You are Helper, ") || !strings.Contains(sent, dir) {
		t.Errorf("the new agent was sent:\n%s", sent)
	}
	p.Do(protocol.MethodAgentsUpdate, map[string]any{"agentId": "helper", "name": "Butler"}, new(protocol.AgentsUpdateResult))
	if sent := say("two"); !strings.Contains(sent, "You are Butler, ") {
		t.Errorf("the changed agent was sent:\n%s", sent)
	}
	const key = "agent:helper:slow"
	var made protocol.SessionsCreateResult
	p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: key, Model: "chat/fault-hang"}, &made)
	p.Send(key, "slow", "take your time")
	p.Send(key, "queued", "and then")
	var gone protocol.AgentsDeleteResult
	p.Do(protocol.MethodAgentsDelete, protocol.AgentsDeleteParams{AgentID: "helper"}, &gone)
	for _, id := range []string{"slow", "queued"} {
		if end := p.Ended(id); end.State != protocol.ChatAborted {
			t.Errorf("%s ended as %s", id, end.State)
		}
	}
	if sent := say("three"); !strings.Contains(sent, "You are Hearth, ") {
		t.Errorf("the default agent was sent:\n%s", sent)
	}
	if n := len(p.History("agent:helper:main").Messages); n != 4 {
		t.Errorf("%d messages of the agent that is gone are left", n)
	}
	for _, bad := range []map[string]any{
		{"agents": map[string]any{"list": []any{map[string]any{"id": "a"}, map[string]any{"id": "a"}}}},
		{"bindings": []any{map[string]any{"agentId": "helper", "match": map[string]any{"channel": "telegram"}}}},
	} {
		raw, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		p.Refused(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)})
	}
	if sent := say("four"); !strings.Contains(sent, "You are Hearth, ") {
		t.Errorf("after bad settings:\n%s", sent)
	}
}

// The list of skills in a prompt is as long as the agent says.
func TestSkillsLimitsOfAnAgent(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	dir := t.TempDir()
	for _, name := range []string{"aa", "bb", "cc"} {
		gatewaytest.PutSkill(t, dir, name, "homepage: https://example.org\n")
		text := "---\nname: " + name + "\ndescription: " + strings.Repeat("word ", 60) + "\n---\nDo it.\n"
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.Patch(map[string]any{
		"skills": map[string]any{"load": map[string]any{"extraDirs": []string{dir}, "watch": false}},
		"agents": map[string]any{
			"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "terse", "skillsLimits": map[string]any{"maxSkillsPromptChars": 500}}}},
	})
	count := func(key string) int {
		p.Say(key, key, "hello")
		return strings.Count(r.Model.Snapshot().System, "<description>"+"word word")
	}
	if long, short := count("main"), count("agent:terse:main"); long != 3 || short >= 3 {
		t.Errorf("%d and %d skills are listed", long, short)
	}
}
