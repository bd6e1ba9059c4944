package agents_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The first message makes the workspace; its files reach the model, the ritual
// only until it is done, and changes with the next message.
func TestWorkspaceReachesTheModel(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Say("main", "a", "hello")
	sent := r.Model.Snapshot().System
	for _, want := range []string{`<file name="AGENTS.md">`, "# Who you are", "You have just come to life", `"` + dir + `"`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q was not sent:\n%s", want, sent)
		}
	}
	if strings.Contains(sent, "HEARTBEAT.md") || strings.Contains(sent, "MEMORY.md\">") {
		t.Errorf("files that are not there, or not asked for, were sent")
	}
	if err := os.Remove(filepath.Join(dir, "BOOTSTRAP.md")); err != nil {
		t.Fatal(err)
	}
	var set protocol.AgentFileResult
	p.Do(protocol.MethodAgentsFilesSet, protocol.AgentFileSetParams{AgentID: "main", Name: "SOUL.md", Content: "Talk like a pirate."}, &set)
	p.Say("main", "b", "hello again")
	if sent = r.Model.Snapshot().System; !strings.Contains(sent, "pirate") || strings.Contains(sent, "come to life") {
		t.Errorf("the next message was sent:\n%s", sent)
	}
	var turns protocol.UndoList
	p.Do(protocol.MethodUndoList, protocol.UndoListParams{}, &turns)
	if len(turns.Turns) != 1 || turns.Turns[0].Files[0] != set.File.Path {
		t.Errorf("undo knows %+v", turns)
	}
	var undone protocol.UndoPlan
	p.Do(protocol.MethodUndoApply, protocol.UndoParams{RunID: turns.Turns[0].RunID}, &undone)
	var got protocol.AgentFileResult
	p.Do(protocol.MethodAgentsFilesGet, protocol.AgentFileParams{AgentID: "main", Name: "SOUL.md"}, &got)
	if !strings.Contains(*got.File.Content, "# Who you are") {
		t.Errorf("after undo: %q", *got.File.Content)
	}
	if why := p.Refused(protocol.MethodAgentsFilesSet, protocol.AgentFileSetParams{AgentID: "main", Name: "SOUL.md", Content: "x",
		ExpectedHash: set.File.Hash}); !strings.Contains(why, "changed since") {
		t.Error(why)
	}
	var files protocol.AgentFiles
	p.Do(protocol.MethodAgentsFilesList, protocol.AgentFilesParams{AgentID: "main"}, &files)
	for _, f := range files.Files {
		if f.Missing != (f.Name == "BOOTSTRAP.md" || f.Name == "MEMORY.md") || f.Missing && !f.ExpectedAbsent || f.Content != nil {
			t.Errorf("%+v", f)
		}
	}
}

// The settings bound what is sent, and skipBootstrap makes nothing.
func TestBootstrapSettings(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"skipBootstrap": true, "bootstrapMaxChars": 200,
		"bootstrapPromptTruncationWarning": "once"}}})
	p.Say("main", "a", "hello")
	if _, err := os.Stat(dir); err == nil {
		t.Error("the workspace was made")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(strings.Repeat("word ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	const notice = "Not all of these files is shown: AGENTS.md"
	p.Say("agent:main:new", "b", "hello")
	if sent := r.Model.Snapshot().System; !strings.Contains(sent, notice) || !strings.Contains(sent, "cut: read AGENTS.md") ||
		strings.Count(sent, "word ") > 40 {
		t.Errorf("the first message was sent:\n%s", sent)
	}
	p.Say("agent:main:new", "c", "hello")
	if sent := r.Model.Snapshot().System; strings.Contains(sent, notice) {
		t.Error("the notice came twice")
	}
}

// Several agents: each with its own folder, model, name, tools and sessions.
func TestSeveralAgents(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	work := filepath.Join(t.TempDir(), "work")
	var made protocol.AgentsCreateResult
	p.Do(protocol.MethodAgentsCreate, protocol.AgentsCreateParams{Name: "My Work", Workspace: work, Model: "claude/echo", Emoji: "🦊"}, &made)
	if made.AgentID != "my-work" || made.Workspace != work {
		t.Fatalf("%+v", made)
	}
	var list protocol.AgentsList
	p.Do(protocol.MethodAgentsList, struct{}{}, &list)
	if list.DefaultID != "main" || len(list.Agents) != 2 || list.Agents[1].Identity.Emoji != "🦊" ||
		list.Agents[1].Model.Primary != "claude/echo" || list.Agents[0].Workspace != dir {
		t.Errorf("%+v", list)
	}
	p.Patch(map[string]any{"bindings": []any{map[string]any{"agentId": "my-work", "match": map[string]any{"channel": "telegram"}}}})
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{session: {mainKey: "main"}}`}, nil)
	end := p.Say("agent:my-work:main", "a", "hello")
	sent := r.Model.Snapshot().System
	if !strings.HasPrefix(sent, "You are My Work, ") || !strings.Contains(sent, work) || strings.Contains(sent, dir) ||
		end.State != protocol.ChatFinal {
		t.Errorf("sent:\n%s", sent)
	}
	if h := p.History("agent:my-work:main"); h.Messages[1].Provider != "claude" {
		t.Errorf("%s answered", h.Messages[1].Provider)
	}
	if _, err := os.Stat(filepath.Join(work, "SOUL.md")); err != nil {
		t.Error(err)
	}
	var ok protocol.AgentsUpdateResult
	p.Do(protocol.MethodAgentsUpdate, map[string]any{"agentId": "my-work", "name": "Office", "model": nil}, &ok)
	p.Do(protocol.MethodAgentsUpdate, map[string]any{"agentId": "main", "emoji": "🐻"}, &ok)
	var who protocol.AgentIdentity
	p.Do(protocol.MethodAgentIdentityGet, protocol.AgentIdentityParams{SessionKey: "agent:my-work:main"}, &who)
	if who.Name != "Office" || who.Emoji != "🦊" {
		t.Errorf("%+v", who)
	}
	p.Say("agent:my-work:main", "b", "hello")
	if h := p.History("agent:my-work:main"); h.Messages[3].Provider != "chat" {
		t.Errorf("after the model was taken back, %s answered", h.Messages[3].Provider)
	}
	for _, bad := range []struct {
		method string
		params map[string]any
		want   string
	}{
		{protocol.MethodAgentsCreate, map[string]any{"name": "my work"}, "already an assistant"},
		{protocol.MethodAgentsCreate, map[string]any{"name": "…"}, "letter or digit"},
		{protocol.MethodAgentsCreate, map[string]any{"name": "x", "workspace": string(r.Dir) + "/x"}, "own folder"},
		{protocol.MethodAgentsCreate, map[string]any{"name": "x", "workspace": "x"}, "absolute path"},
		{protocol.MethodAgentsUpdate, map[string]any{"agentId": "ghost", "name": "x"}, "no agent"},
		{protocol.MethodAgentsDelete, map[string]any{"agentId": "main"}, "cannot be deleted"},
		{protocol.MethodAgentsDelete, map[string]any{"agentId": "my-work", "deleteFiles": true}, "deletes no folders"},
		{protocol.MethodAgentsFilesGet, map[string]any{"agentId": "main", "name": "../x"}, "no file of a workspace"},
	} {
		if why := p.Refused(bad.method, bad.params); !strings.Contains(why, bad.want) {
			t.Errorf("%s %v: %s", bad.method, bad.params, why)
		}
	}
	var gone protocol.AgentsDeleteResult
	p.Do(protocol.MethodAgentsDelete, protocol.AgentsDeleteParams{AgentID: "my-work"}, &gone)
	if !gone.OK || gone.RemovedBindings != 1 {
		t.Errorf("%+v", gone)
	}
	if _, err := os.Stat(filepath.Join(work, "SOUL.md")); err != nil {
		t.Errorf("the folder: %v", err)
	}
}

// The rules of an agent narrow what it may use, and an agent that is gone may
// use nothing that acts.
func TestSec_A_INJ_01_AgentsHaveTheirOwnTools(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{"list": []any{
		map[string]any{"id": "main"}, map[string]any{"id": "reader", "tools": map[string]any{"allow": []string{"read"}}},
	}}})
	tools := func(key, id string) string {
		p.Say(key, id, "hello "+id)
		sent := r.Model.Snapshot().System
		_, sent, _ = strings.Cut(sent, "## Tooling")
		sent, _, _ = strings.Cut(sent, "\n## ")
		return sent
	}
	if got := tools("main", "a"); !strings.Contains(got, "- write:") {
		t.Errorf("main has %s", got)
	}
	if got := tools("agent:reader:main", "b"); !strings.Contains(got, "- read:") || strings.Contains(got, "- write:") ||
		strings.Contains(got, "- exec:") {
		t.Errorf("reader has %s", got)
	}
	p.Patch(map[string]any{"agents": map[string]any{"list": nil}})
	var has protocol.ToolsEffective
	p.Do(protocol.MethodToolsEffective, protocol.ToolsEffectiveParams{SessionKey: "agent:reader:main"}, &has)
	got := fmt.Sprint(has.Groups)
	if strings.Contains(got, "{read ") || !strings.Contains(got, "{session_status ") {
		t.Errorf("an agent that is gone has %s", got)
	}
}

// TestDeletedAgentStopsInEverySession: what an agent does is stopped when it is
// deleted, however many sessions were used since.
func TestDeletedAgentStopsInEverySession(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Do(protocol.MethodAgentsCreate, protocol.AgentsCreateParams{Name: "Helper", Workspace: t.TempDir()}, new(protocol.AgentsCreateResult))
	const key = "agent:helper:first"
	p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: key, Model: "chat/fault-hang"},
		new(protocol.SessionsCreateResult))
	p.Send(key, "slow", "take your time")
	p.Send(key, "queued", "and then")
	for i := range 101 {
		p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: fmt.Sprintf("agent:helper:later-%d", i)},
			new(protocol.SessionsCreateResult))
	}
	p.Do(protocol.MethodAgentsDelete, protocol.AgentsDeleteParams{AgentID: "helper"}, new(protocol.AgentsDeleteResult))
	for _, id := range []string{"slow", "queued"} {
		if end := p.Ended(id); end.State != protocol.ChatAborted {
			t.Errorf("%s ended as %s", id, end.State)
		}
	}
}

// A mistyped assistant begins nothing: no session, no folder. One that was taken out of
// the settings answers no more, and its sessions stay.
func TestNoSessionOfNobody(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	dir := gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "helper"}}}})
	const want = `there is no assistant called "nosuch"; there is main, helper`
	const key = "agent:nosuch:main"
	for method, params := range map[string]any{
		protocol.MethodChatSend:       protocol.ChatSendParams{SessionKey: key, Message: "hi", IdempotencyKey: "a"},
		protocol.MethodAgent:          protocol.AgentParams{SessionKey: key, Message: "hi", IdempotencyKey: "b"},
		protocol.MethodSessionsCreate: protocol.SessionsCreateParams{Key: key},
		protocol.MethodSessionsPatch:  map[string]any{"key": key, "label": "x"},
		protocol.MethodToolsInvoke:    map[string]any{"sessionKey": key, "name": "session_status", "args": map[string]any{}},
	} {
		var e *protocol.Error
		err := p.Call(t.Context(), method, params, nil)
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || e.Details["code"] != "UNKNOWN_AGENT_ID" {
			t.Errorf("%s: %v", method, err)
		}
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if _, err := os.Stat(dir + "-nosuch"); err == nil || len(list.Sessions) != 0 {
		t.Errorf("there are a folder (%v) or sessions %+v", err == nil, list.Sessions)
	}
	p.Say("agent:helper:main", "c", "hello")
	p.Patch(map[string]any{"agents": map[string]any{"list": nil}})
	why := p.Refused(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "agent:helper:main", Message: "hello again",
		IdempotencyKey: "d"})
	if !strings.Contains(why, `The assistant "helper" of this chat was removed. Start a new chat`) {
		t.Error(why)
	}
	if h := p.History("agent:helper:main"); len(h.Messages) != 2 {
		t.Errorf("the chat of an assistant that is gone has %+v", h.Messages)
	}
	p.Do(protocol.MethodSessionsPatch, map[string]any{"key": "agent:helper:main", "label": "Old"}, nil)
}

// A name in any script is a name; of accents its letters stay. The same name twice is
// refused, and so are words where a picture belongs.
func TestNamesOfAssistants(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	for _, x := range [][2]string{
		{"Zoë", "zoe"}, {"测试", "assistant"}, {"Помощник", "assistant-2"}, {"مساعد", "assistant-3"}, {"Робот 2", "assistant-4"},
		{"Ada Помощник", "ada"}, {"Ada 助手", "ada-2"},
	} {
		var made protocol.AgentsCreateResult
		p.Do(protocol.MethodAgentsCreate, protocol.AgentsCreateParams{Name: x[0], Emoji: "👩🏽‍🔬"}, &made)
		if made.Name != x[0] || made.AgentID != x[1] {
			t.Errorf("%s: %+v", x[0], made)
		}
	}
	for _, bad := range []struct {
		method string
		params map[string]any
		want   string
	}{
		{protocol.MethodAgentsCreate, map[string]any{"name": "测试"}, `There is already an assistant "测试". Choose another name.`},
		{protocol.MethodAgentsCreate, map[string]any{"name": "помощник"}, `already an assistant "Помощник"`},
		{protocol.MethodAgentsUpdate, map[string]any{"agentId": "zoe", "name": "测试"}, "already an assistant"},
		{protocol.MethodAgentsUpdate, map[string]any{"agentId": "zoe", "name": "!"}, "An assistant's name needs a letter or digit."},
		{protocol.MethodAgentsCreate, map[string]any{"name": "Bob", "emoji": "notanemoji"}, "is no emoji"},
		{protocol.MethodAgentsUpdate, map[string]any{"agentId": "zoe", "emoji": "🦊🦊🦊"}, "is no emoji"},
	} {
		if why := p.Refused(bad.method, bad.params); !strings.Contains(why, bad.want) || strings.Contains(why, "params") {
			t.Errorf("%v: %s", bad.params, why)
		}
	}
	p.Do(protocol.MethodAgentsUpdate, map[string]any{"agentId": "zoe", "name": "ZOË", "emoji": "🏴󠁧󠁢󠁥󠁮󠁧󠁿"}, nil)
}

// A workspace that is a file is told to the doctor; one that is missing will be made.
func TestDoctorNamesAWorkspaceThatIsNone(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{file: true, filepath.Join(file, "in"): true, filepath.Join(t.TempDir(), "a", "b"): false} {
		p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"workspace": dir}}})
		var doctor protocol.Doctor
		p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &doctor)
		if said := strings.Contains(fmt.Sprint(doctor.Checks), "workspace of the assistant main cannot be used"); said != want {
			t.Errorf("%s: %v", dir, doctor.Checks)
		}
	}
}
