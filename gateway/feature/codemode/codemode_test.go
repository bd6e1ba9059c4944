package codemode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// End-to-end plan, steps 1–3: without code mode nothing changes, and an object
// that does not say enabled is off.
func TestCodeMode_OffLeavesToolsAsTheyAre(t *testing.T) {
	var before []string
	for name, tools := range map[string]map[string]any{
		"unset": {}, "false": {"tools": map[string]any{"codeMode": false}}, "an object without enabled": {
			"tools": map[string]any{"codeMode": map[string]any{"timeoutMs": 500}}},
		"off": {"tools": map[string]any{"codeMode": map[string]any{"enabled": false}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCoder(t, tools, func(int, question) reply { return reply{text: "hello"} })
			c.turn("a")
			got := c.requests()[0].tools()
			if before == nil {
				before = got
			}
			if !slices.Equal(got, before) || len(got) < 10 || !slices.Contains(got, "read") || slices.Contains(got, "wait") {
				t.Errorf("the model sees %q", got)
			}
			if _, err := os.Stat(filepath.Join(string(c.Dir), "codemode-cache")); err == nil {
				t.Error("the engine was loaded")
			}
		})
	}
}

// Steps 4–9: exactly two tools; the catalogue holds what the policy leaves, from
// everywhere; guessing an id of what it denies gives nothing.
func TestCodeMode_TheWholeWay(t *testing.T) {
	settings := codeMode(nil)
	settings["mcp"] = map[string]any{"servers": map[string]any{"numbers": map[string]any{"url": toolServer(t), "ask": "off"}}}
	settings["tools"].(map[string]any)["deny"] = []string{"message", "mcp__numbers__forbidden"}
	c := newCoder(t, settings, func(n int, a question) reply {
		switch n {
		case 0:
			return cell(`return ALL_TOOLS.map(t => t.id)`)
		case 1:
			return cell(`const [hit] = await tools.search("double a number");
				const about = await tools.describe(hit.id);
				const twice = await tools.call(hit.id, {n: 21});
				await tools.write({path: "notes.txt", content: "one\ntwo"});
				const [a, b] = await Promise.all([tools.read({path: "notes.txt"}), tools.session_status()]);
				return [hit.id, about.parameters.properties.n.type, twice.result, a.includes("two"), typeof b]`)
		case 2:
			return cell(`const out = []; for (const id of ["hearth:core:message", "message", "mcp:numbers:forbidden", "mcp__numbers__forbidden", "hearth:core:wait", "codemode:core:exec"]) {
				try { await tools.call(id, {}); out.push("ran " + id) } catch (e) { out.push(e.message.includes("there is no tool")) } } return out`)
		}
		return reply{text: "all done"}
	})
	gatewaytest.WaitFor(t, "the server of tools", func() bool {
		var l protocol.ToolsCatalog
		c.Do(protocol.MethodToolsCatalog, protocol.ToolsCatalogParams{}, &l)
		raw, _ := json.Marshal(l)
		return strings.Contains(string(raw), "mcp__numbers__double")
	})
	if ev := c.turn("a"); ev.State != protocol.ChatFinal {
		t.Fatalf("%+v", ev)
	}
	seen := c.requests()
	if len(seen) != 4 {
		t.Fatalf("%d requests", len(seen))
	}
	for i, a := range seen {
		if got := a.tools(); !slices.Equal(got, []string{"exec", "wait"}) {
			t.Errorf("request %d shows %q", i, got)
		}
		if strings.Contains(a.body, "Twice a number") && i == 0 {
			t.Error("the hidden tools' descriptions are sent")
		}
	}
	if sys, _ := seen[0].Messages[0].Content.(string); !strings.Contains(sys, "You work in code mode") ||
		!strings.Contains(sys, "mcp__numbers__double") {
		t.Errorf("the system prompt does not tell of it: %.600s", sys)
	}
	var ids []string
	if err := json.Unmarshal(seen[1].result(t).Value, &ids); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hearth:core:read", "hearth:core:write", "hearth:core:session_status", "mcp:numbers:double"} {
		if !slices.Contains(ids, want) {
			t.Errorf("no %s in %q", want, ids)
		}
	}
	for _, id := range ids {
		if strings.HasSuffix(id, ":message") || strings.HasSuffix(id, "forbidden") || strings.HasSuffix(id, ":wait") {
			t.Errorf("%s is in the catalogue", id)
		}
	}
	if got := seen[2].result(t); string(got.Value) != `["mcp:numbers:double","integer",42,true,"object"]` &&
		string(got.Value) != `["mcp:numbers:double","integer",42,true,"string"]` {
		t.Errorf("%s", seen[2].last())
	}
	if got := seen[3].result(t); string(got.Value) != `[true,true,true,true,true,true]` {
		t.Errorf("%s", got.JSON())
	}
	c.transcriptShowsNestedCalls(t)
}

// transcriptShowsNestedCalls is step 14: history and export show each nested call
// under the program that made it.
func (c *coder) transcriptShowsNestedCalls(t *testing.T) {
	t.Helper()
	calls, results := c.nested()
	var got []string
	for _, m := range calls {
		b := m.Content[0]
		got = append(got, b.ParentID+" "+b.ToolID+" "+b.Name)
	}
	slices.Sort(got)
	want := []string{"call_1 hearth:core:read read", "call_1 hearth:core:session_status session_status", "call_1 hearth:core:write write",
		"call_1 mcp:numbers:double mcp__numbers__double"}
	if !slices.Equal(got, want) || len(results) != len(want) {
		t.Errorf("%d results, calls %q", len(results), got)
	}
	for _, m := range results {
		if m.ParentToolCallID != "call_1" || !strings.HasPrefix(m.ToolCallID, "call_1/") || m.IsError {
			t.Errorf("%+v", m)
		}
	}
	var ex protocol.TranscriptExport
	c.Do(protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: "main", Limit: 500}, &ex)
	n := 0
	for _, m := range ex.Messages {
		if m.Nested() {
			n++
		}
	}
	if n != 2*len(want) {
		t.Errorf("the export has %d entries of nested calls", n)
	}
	var log protocol.AuditList
	c.Do(protocol.MethodAuditList, protocol.AuditListParams{Limit: 200}, &log)
	raw, _ := json.Marshal(log)
	for _, want := range []string{"used write", "used mcp__numbers__double", "ran a program"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the audit log has no %q", want)
		}
	}
	// The next turn's model is told of the programs and not of their calls.
	c.mu.Lock()
	before := len(c.seen)
	c.mu.Unlock()
	c.turn("next")
	if body := c.requests()[before].body; strings.Contains(body, "call_1/") || !strings.Contains(body, "call_1") {
		t.Errorf("replayed wrongly: %s", body)
	}
}

// A run without tools has no use for programs, and its request is not refused.
func TestCodeMode_RunsWithoutToolsAreLeftAlone(t *testing.T) {
	settings := codeMode(nil)
	settings["tools"].(map[string]any)["deny"] = []string{"*"}
	c := newCoder(t, settings, func(int, question) reply { return reply{text: "just words"} })
	if ev := c.turn("a"); ev.State != protocol.ChatFinal {
		t.Fatalf("%+v", ev)
	}
	if got := c.requests()[0]; len(got.Tools) != 0 || strings.Contains(got.body, "code mode") {
		t.Errorf("%s", got.body)
	}
}

// One agent may be different from the others.
func TestCodeMode_OfOneAgent(t *testing.T) {
	c := newCoder(t, map[string]any{"agents.list": []any{map[string]any{"id": "main", "default": true},
		map[string]any{"id": "code", "tools": map[string]any{"codeMode": true}}}},
		func(int, question) reply { return reply{text: "hi"} })
	c.turn("a")
	c.Send("agent:code:main", "b", "hello")
	c.Ended("b")
	seen := c.requests()
	if len(seen[0].tools()) < 10 || !slices.Equal(seen[1].tools(), []string{"exec", "wait"}) {
		t.Errorf("%q and %q", seen[0].tools(), seen[1].tools())
	}
}

// Steps 10–12: a call that needs longer than exec; wait brings its result into
// the program that was put away.
func TestCodeMode_WaitGetsTheLateResult(t *testing.T) {
	c := newCoder(t, codeMode(map[string]any{"timeoutMs": 10_000}), func(n int, a question) reply {
		switch n {
		case 0:
			return cell(`const p = tools.read({path: "/etc/hostname"}); await yield_control("meanwhile"); text("restored"); try { return "read " + (await p).length } catch (e) { return e.message }`)
		case 1:
			res := a.result(t)
			if res.Status != "waiting" || res.Reason != "yield" || len(res.Pending) != 1 || res.Pending[0].Tool != "hearth:core:read" {
				t.Errorf("%s", a.last())
			}
			return goOn(res.RunID)
		}
		return reply{text: "it says: " + string(a.result(t).Value) + " " + a.result(t).Output[0].Text}
	})
	c.Send("main", "a", "read it")
	ask := c.approval(t)
	if ask.Request.ToolCallID != "call_0/1" {
		t.Errorf("question for %q", ask.Request.ToolCallID)
	}
	c.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: ask.ID, Decision: "deny"}, nil)
	ev := c.Ended("a")
	if got := ev.Message.Text(); ev.State != protocol.ChatFinal || !strings.Contains(got, "restored") ||
		!strings.Contains(strings.ToLower(got), "owner") && !strings.Contains(strings.ToLower(got), "denied") &&
			!strings.Contains(got, "not allowed") {
		t.Errorf("%s %q", ev.State, got)
	}
}

// approval waits for a question.
func (c *coder) approval(t *testing.T) (a protocol.Approval) {
	t.Helper()
	c.Until("a question", func(ev protocol.Event) bool {
		return ev.Event == protocol.EventExecApprovalRequested && json.Unmarshal(ev.Payload, &a) == nil
	})
	return a
}

// Step 5, the tools that a client brings: they are in the catalogue of its run,
// the client runs them, and no other run sees them.
func TestCodeMode_ToolsOfAClient(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		switch n {
		case 0:
			return cell(`const hit = ALL_TOOLS.find(t => t.source === "client"); return [hit.id, (await tools.get_weather({city: "Oslo"})).toUpperCase()]`)
		case 2:
			return cell(`return ALL_TOOLS.filter(t => t.source === "client").length`)
		}
		return reply{text: string(a.result(t).Value)}
	})
	app := gatewaytest.ProgramOf(t, c.Rig, c.Peer, "notebook")
	said1 := []any{gatewaytest.UserSays("the weather?")}
	msg, finish := app.Chat(gatewaytest.Said{"messages": said1, "tools": gatewaytest.Weather()})
	if finish != "tool_calls" {
		t.Fatalf("%v %s", msg, finish)
	}
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	if f := call["function"].(map[string]any); f["name"] != "get_weather" {
		t.Errorf("%v", call)
	}
	msg, finish = app.Chat(gatewaytest.Said{"messages": append(said1, msg,
		gatewaytest.Said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees"}),
		"tools": gatewaytest.Weather()})
	if text, _ := msg["content"].(string); finish != "stop" || text != `["client:app:get_weather","4 DEGREES"]` {
		t.Errorf("%v %s", msg, finish)
	}
	for i, a := range c.requests() {
		if !slices.Equal(a.tools(), []string{"exec", "wait"}) {
			t.Errorf("request %d shows %q", i, a.tools())
		}
	}
	if ev := c.turn("b"); ev.Message.Text() != "0" {
		t.Errorf("another run sees it: %s", ev.Message.Text())
	}
}

// A run whose program waits goes on after a restart of Hearth: the snapshot is
// still there, and what was under way is told as lost.
func TestCodeMode_ARunGoesOnAfterARestart(t *testing.T) {
	stuck := make(chan struct{})
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		switch n {
		case 0:
			return cell(`let n = 41; const p = tools.read({path: "/etc/hostname"}); await yield_control(); try { await p; return "read" } catch (e) { return [++n, e.message.includes("interrupted")] }`)
		case 1:
			close(stuck)
			return reply{hang: true}
		case 2:
			return goOn(a.result(t).RunID)
		}
		return reply{text: a.last()}
	})
	c.Send("main", "a", "go")
	<-stuck
	c.approval(t)
	c.Restart()
	c.Peer = c.Rig.Connect()
	ev := protocol.ChatEvent{}
	gatewaytest.WaitFor(t, "the end of the answer", func() bool {
		h := c.History("main").Messages
		last := h[len(h)-1]
		ev.Message = &last
		return last.Role == protocol.MessageAssistant && !last.Nested() && last.Text() != ""
	})
	if got := ev.Message.Text(); !strings.Contains(got, `"value":[42,true]`) {
		t.Errorf("%s", got)
	}
	calls, results := c.nested()
	if len(calls) != 1 || len(results) != 1 || !results[0].IsError {
		t.Errorf("%d calls, results %+v", len(calls), results)
	}
	if n := len(c.requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// Stopping a run stops its programs and all they called, and leaves nothing.
func TestCodeMode_StopEndsProgramsAndTheirCalls(t *testing.T) {
	for name, code := range map[string]string{
		"computing": `for (;;) {}`,
		"waiting":   `await tools.read({path: "/etc/hostname"})`,
		"put away":  `tools.read({path: "/etc/hostname"}); await yield_control(); await yield_control()`,
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{}, 4)
			c := newCoder(t, codeMode(nil), func(n int, a question) reply {
				asked <- struct{}{}
				if n == 0 {
					return cell(code)
				}
				return reply{hang: true}
			})
			c.Send("main", "a", "go")
			<-asked
			switch name {
			case "waiting":
				c.approval(t)
			case "put away":
				<-asked
			default:
				gatewaytest.WaitFor(t, "the program", func() bool { return len(c.History("main").Messages) > 1 })
			}
			c.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, nil)
			if ev := c.Ended("a"); ev.State != protocol.ChatAborted {
				t.Errorf("%+v", ev)
			}
			gatewaytest.WaitFor(t, "the question to go", func() bool {
				var list []protocol.Approval
				c.Do(protocol.MethodExecApprovalList, nil, &list)
				return len(list) == 0
			})
			c.say = func(int, question) reply { return reply{text: "still here"} }
			if ev := c.turn("b"); ev.Message.Text() != "still here" {
				t.Errorf("%+v", ev)
			}
		})
	}
}

// The switch that stops tools stops programs, and each call of one that runs.
func TestCodeMode_PauseStopsProgramsAndTheirCalls(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		if n == 0 {
			return cell(`return 1`)
		}
		return reply{text: a.last()}
	})
	c.Do(protocol.MethodPauseSet, protocol.PauseSetParams{Level: "tools"}, nil)
	if ev := c.turn("a"); !strings.Contains(strings.ToLower(ev.Message.Text()), "paused") &&
		!strings.Contains(strings.ToLower(ev.Message.Text()), "stopped") {
		t.Errorf("%s", ev.Message.Text())
	}
}

// An approval that is given lets exactly that call of the program go on.
func TestCodeMode_NestedCallsAskForApproval(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(secret, []byte("from outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCoder(t, codeMode(map[string]any{"timeoutMs": 3000}), func(n int, a question) reply {
		if n == 0 {
			return cell(`return (await tools.read({path: ` + string(mustJSON(t, secret)) + `})).includes("from outside")`)
		}
		return reply{text: a.last()}
	})
	c.Send("main", "a", "read it")
	ask := c.approval(t)
	if ask.Request.HearthKind != "file" || ask.Request.ToolCallID != "call_0/1" || ask.Request.RunID != "a" {
		t.Errorf("%+v", ask.Request)
	}
	other := c.Rig.Connect()
	other.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: ask.ID, Decision: "allow-once"}, nil)
	if ev := c.Ended("a"); ev.Message == nil || !strings.Contains(ev.Message.Text(), `"value":true`) {
		t.Errorf("%+v", ev)
	}
	if n := len(c.requests()); n != 2 {
		t.Errorf("the model was asked %d times: it waited beside the person", n)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Secrets that Hearth keeps are hidden from programs and from what they say.
func TestSec_A_BOX_11_ProgramsSeeNoSecrets(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		if n == 0 {
			return cell(`await tools.write({path: "k.txt", content: "key: sk-canary-" + "0123456789abcdef"}); const k = await tools.read({path: "k.txt"}); return [k.split("").join("."), k]`)
		}
		return reply{text: string(a.result(t).Value)}
	})
	if ev := c.turn("a"); strings.Contains(ev.Message.Text(), "0.1.2.3.4.5") || strings.Contains(ev.Message.Text(), "0123456789abcdef") {
		t.Errorf("%s", ev.Message.Text())
	}
}

// Sub-agents work as their parents do.
func TestCodeMode_SubAgents(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		switch {
		case strings.Contains(a.body, "You are a sub-agent") && len(a.Messages) < 4:
			return cell(`return "child has " + (ALL_TOOLS.length > 3)`)
		case strings.Contains(a.body, "You are a sub-agent"):
			return reply{text: "child: " + string(a.result(t).Value)}
		case n == 0:
			return cell(`return (await tools.sessions_spawn({task: "look", label: "x"}))`)
		}
		return reply{text: "ok"}
	})
	c.turn("a")
	gatewaytest.WaitFor(t, "the sub-agent", func() bool {
		for _, a := range c.requests() {
			if strings.Contains(a.body, "You are a sub-agent") && strings.Contains(a.body, "child has true") {
				return slices.Equal(a.tools(), []string{"exec", "wait"})
			}
		}
		return false
	})
}

// What is wrong with a program is told with its line, in its own text.
func TestCodeMode_MistakesAreTold(t *testing.T) {
	for code, want := range map[string]string{
		"const a = 1;\nnope();":                   `"line":2`,
		"return 1 +":                              `failed`,
		"import fs from 'fs'":                     "module_access_denied",
		"const x = await import('os');":           "module_access_denied",
		"const fs = require('fs');":               "module_access_denied",
		"return process.env":                      "process is not defined",
		"return await fetch('https://a.example')": "fetch is not defined",
	} {
		c := newCoder(t, codeMode(nil), func(n int, a question) reply {
			if n == 0 {
				return cell(code)
			}
			return reply{text: a.last()}
		})
		if ev := c.turn("a"); !strings.Contains(ev.Message.Text(), want) || !strings.Contains(ev.Message.Text(), `"status":"failed"`) {
			t.Errorf("%s: %s", code, ev.Message.Text())
		}
	}
}

func TestCodeMode_TypeScript(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(n int, a question) reply {
		switch n {
		case 0:
			return reply{tool: "exec", args: map[string]string{"language": "typescript", "code": "interface P { n: number }\n" +
				"const p: P = {n: 20};\nenum E { A = 1 }\nreturn p.n! * 2 + E.A + (1 as number);"}}
		case 1:
			if v := string(a.result(t).Value); v != "42" {
				t.Errorf("%s", a.last())
			}
			return reply{tool: "exec", args: map[string]string{"language": "typescript", "code": "const p: = 1;"}}
		}
		return reply{text: a.last()}
	})
	if ev := c.turn("a"); !strings.Contains(ev.Message.Text(), "typescript_transform_failed") {
		t.Errorf("%s", ev.Message.Text())
	}
}

// /context tells what the model is shown.
func TestCodeMode_ContextShowsWhatTheModelSaw(t *testing.T) {
	c := newCoder(t, codeMode(nil), func(int, question) reply { return reply{text: "hi"} })
	c.turn("a")
	c.Send("main", "ctx", "/context detail")
	gatewaytest.WaitFor(t, "the answer of the command", func() bool {
		for _, m := range c.History("main").Messages {
			if s := m.Text(); strings.Contains(s, "code mode: exec and wait;") && strings.Contains(s, "more behind them are not sent") &&
				!strings.Contains(s, "web_fetch: ") {
				return true
			}
		}
		return false
	})
}
