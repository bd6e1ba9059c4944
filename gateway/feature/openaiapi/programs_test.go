package openaiapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func assistant(text string) gatewaytest.Said {
	return gatewaytest.Said{"role": "assistant", "content": text}
}

func TestProgramChats(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")

	msg, finish := app.Chat(gatewaytest.Said{"model": "hearth", "messages": []any{gatewaytest.Said{"role": "system", "content": "Be brief."},
		gatewaytest.UserSays("hello")}})
	if msg["content"] != "echo: hello" || finish != "stop" {
		t.Errorf("%v %s", msg, finish)
	}
	var text strings.Builder
	events := app.Data("/chat/completions", gatewaytest.Said{"model": "chat/echo", "messages": []any{gatewaytest.UserSays("one two")},
		"stream_options": gatewaytest.Said{"include_usage": true}})
	for _, ev := range events {
		for _, c := range ev["choices"].([]any) {
			if s, ok := c.(map[string]any)["delta"].(map[string]any)["content"].(string); ok {
				text.WriteString(s)
			}
		}
		if u, ok := ev["usage"].(map[string]any); ok {
			if u["total_tokens"].(float64) <= 0 {
				t.Error("no usage")
			}
			break
		}
	}
	if last := events[len(events)-1]; text.String() != "echo: one two" || last["done"] != true {
		t.Errorf("%q %v", text.String(), last)
	}
	// The page shows each as a chat of its own.
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 2 || list.Sessions[0].Origin == nil || list.Sessions[0].Origin.Label != "API: notebook" ||
		list.Sessions[0].Origin.Provider != "api" {
		t.Errorf("%+v", list.Sessions)
	}
}

func TestProgramsKeepTheirConversations(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	other := gatewaytest.ProgramOf(t, r, p, "other")
	count := func() int {
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		return len(list.Sessions)
	}
	ask := func(app *gatewaytest.Program, what string, want int, body gatewaytest.Said, headers ...string) {
		t.Helper()
		app.Chat(body, headers...)
		if n := count(); n != want {
			t.Errorf("%s: %d sessions, want %d", what, n, want)
		}
	}
	ask(app, "a user", 1, gatewaytest.Said{"user": "anna", "messages": []any{gatewaytest.UserSays("hello")}})
	ask(app, "the same user again", 1, gatewaytest.Said{"user": "anna", "messages": []any{gatewaytest.UserSays("hello"),
		assistant("echo: hello"), gatewaytest.UserSays("again")}})
	ask(other, "the same user of another program", 2, gatewaytest.Said{"user": "anna", "messages": []any{gatewaytest.UserSays("hello")}})
	ask(app, "a name", 3, gatewaytest.Said{"messages": []any{gatewaytest.UserSays("hello")}}, "X-OpenClaw-Session-Key", "mine")
	ask(app, "the same name", 3, gatewaytest.Said{"messages": []any{gatewaytest.UserSays("hello")}}, "X-Hearth-Session", "mine")
	ask(app, "nothing", 4, gatewaytest.Said{"messages": []any{gatewaytest.UserSays("first")}})
	ask(app, "what was said", 4, gatewaytest.Said{"messages": []any{gatewaytest.UserSays("first"), assistant("echo: first"),
		gatewaytest.UserSays("second")}})
	ask(app, "what was said, otherwise", 5, gatewaytest.Said{"messages": []any{gatewaytest.UserSays("first"), assistant("echo: first"),
		gatewaytest.UserSays("another second")}})
	ask(other, "what another said", 6,
		gatewaytest.Said{"messages": []any{gatewaytest.UserSays("first"), assistant("echo: first"), gatewaytest.UserSays("second"),
			assistant("echo: second"), gatewaytest.UserSays("third")}})

	// What was said before goes to the model with its roles, once.
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	var got []string
	for _, m := range p.History(list.Sessions[0].Key).Messages {
		got = append(got, m.Role+" "+m.Text())
	}
	if want := "user first|assistant echo: first|user second|assistant echo: second|user third|assistant echo: third"; strings.Join(got,
		"|") != want {
		t.Errorf("%q", got)
	}
}

func TestProgramRunsItsTools(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-get_weather")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	asked := []any{gatewaytest.UserSays(`{"city":"Oslo"}`)}
	msg, finish := app.Chat(gatewaytest.Said{"messages": asked, "tools": gatewaytest.Weather()})
	if finish != "tool_calls" {
		t.Fatalf("%v %s", msg, finish)
	}
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	if f := call["function"].(map[string]any); f["name"] != "get_weather" || f["arguments"] != `{"city":"Oslo"}` {
		t.Errorf("%v", call)
	}
	asked = append(asked, msg, gatewaytest.Said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees, rain"})
	msg, finish = app.Chat(gatewaytest.Said{"messages": asked, "tools": gatewaytest.Weather()})
	if text, _ := msg["content"].(string); finish != "stop" || !strings.Contains(text, "The tool said:") ||
		!strings.Contains(text, "4 degrees, rain") {
		t.Errorf("%v %s", msg, finish)
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 1 {
		t.Errorf("%d sessions", len(list.Sessions))
	}
	var log protocol.AuditList
	p.Do(protocol.MethodAuditList, protocol.AuditListParams{}, &log)
	if !strings.Contains(fmt.Sprint(log.Entries), "asked the program for get_weather") {
		t.Error("the call is not in the audit log")
	}

	// A stream does the same.
	events := app.Data("/chat/completions", gatewaytest.Said{"messages": []any{gatewaytest.UserSays(`{"city":"Rome"}`)},
		"tools": gatewaytest.Weather()})
	last := events[len(events)-2]["choices"].([]any)[0].(map[string]any)
	calls := events[len(events)-3]["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)["tool_calls"].([]any)
	if last["finish_reason"] != "tool_calls" || len(calls) != 1 || calls[0].(map[string]any)["index"] != 0.0 {
		t.Errorf("%v %v", calls, last)
	}
}

// After a restart nobody waits for the result any more: it is told in words.
func TestProgramBringsResultsAfterARestart(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-get_weather")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	asked := []any{gatewaytest.UserSays(`{"city":"Oslo"}`)}
	msg, _ := app.Chat(gatewaytest.Said{"messages": asked, "tools": gatewaytest.Weather()})
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	r.Restart()
	app.Base = r.Gateway.URL() + "/v1"
	asked = append(asked, msg, gatewaytest.Said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees, rain"})
	msg, finish := app.Chat(gatewaytest.Said{"messages": asked, "model": "chat/echo"})
	if text, _ := msg["content"].(string); finish != "stop" || !strings.Contains(text, "Result of get_weather:\n4 degrees, rain") {
		t.Errorf("%v %s", msg, finish)
	}
}

func TestProgramGetsResponses(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	status, first, raw := app.Do("POST", "/responses", gatewaytest.Said{"model": "hearth", "input": "hello", "instructions": "Be brief."})
	if status != 200 || !strings.Contains(raw, `"text":"echo: hello"`) || first["status"] != "completed" {
		t.Fatalf("%d %s", status, raw)
	}
	status, next, raw := app.Do("POST", "/responses", gatewaytest.Said{"input": "again", "previous_response_id": first["id"]})
	if status != 200 || next["previous_response_id"] != first["id"] {
		t.Fatalf("%d %s", status, raw)
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 1 || len(p.History(list.Sessions[0].Key).Messages) != 4 {
		t.Errorf("%+v", list.Sessions)
	}
	other := gatewaytest.ProgramOf(t, r, p, "other")
	if status, _, raw := other.Do("POST", "/responses", gatewaytest.Said{"input": "again",
		"previous_response_id": first["id"]}); status != 404 {
		t.Errorf("the answer of another program: %d %s", status, raw)
	}
	var kinds []string
	for _, ev := range app.Data("/responses",
		gatewaytest.Said{"input": []any{gatewaytest.Said{"role": "user", "content": []any{gatewaytest.Said{"type": "input_text",
			"text": "hi"}}}}}) {
		if kind := ev["type"].(string); len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	want := "response.created response.in_progress response.output_item.added response.content_part.added response.output_text.delta " +
		"response.output_text.done response.content_part.done response.output_item.done response.completed"
	if got := strings.Join(kinds, " "); got != want {
		t.Error(got)
	}

	// Tools of the program go the same way.
	tools := []any{gatewaytest.Said{"type": "function", "name": "get_weather", "parameters": gatewaytest.Said{"type": "object"}},
		gatewaytest.Said{"type": "web_search_preview"}}
	status, first, raw = app.Do("POST", "/responses", gatewaytest.Said{"model": "chat/tool-get_weather", "input": `{"city":"Oslo"}`,
		"tools": tools})
	if status != 200 || !strings.Contains(raw, `"type":"function_call"`) {
		t.Fatalf("%d %s", status, raw)
	}
	call := first["output"].([]any)[0].(map[string]any)
	status, _, raw = app.Do("POST", "/responses", gatewaytest.Said{"previous_response_id": first["id"],
		"input": []any{gatewaytest.Said{"type": "function_call_output", "call_id": call["call_id"], "output": "4 degrees"}}})
	if status != 200 || !strings.Contains(raw, "4 degrees") {
		t.Errorf("%d %s", status, raw)
	}
}

func TestProgramThatLeavesStopsItsAnswer(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-1000-20")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	ctx, leave := context.WithCancel(t.Context())
	resp, err := http.DefaultClient.Do(app.Request(ctx, "POST", "/chat/completions",
		gatewaytest.Said{"messages": []any{gatewaytest.UserSays("go on")}, "stream": true}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	leave()
	_ = resp.Body.Close()
	ev := p.Until("end", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatAborted
	})
	if c, _ := gatewaytest.ChatOf(ev); c.StopReason != "aborted" {
		t.Errorf("%+v", c)
	}
}

func TestSec_A_NET_12_RevokingATokenEndsItsRequests(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-1000-20")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	resp, err := http.DefaultClient.Do(app.Request(t.Context(), "POST", "/chat/completions",
		gatewaytest.Said{"messages": []any{gatewaytest.UserSays("go on")}, "stream": true}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := time.Now()
	p.Do(protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: "notebook"}, nil)
	raw, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(raw), "revoked") || strings.Contains(string(raw), "[DONE]") {
		t.Errorf("%v %s", err, raw)
	}
	t.Logf("ended after %s", time.Since(begun))
	p.Until("end", func(ev protocol.Event) bool {
		c, ok := gatewaytest.ChatOf(ev)
		return ok && c.State == protocol.ChatAborted
	})
	if status, _, raw := app.Do("GET", "/models", nil); status != 401 {
		t.Errorf("%d %s", status, raw)
	}
}

// In code mode a program of the model's calls the tools that the other program
// runs, several at once.
func TestProgramRunsItsToolsInCodeMode(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-text-exec")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{tools: {codeMode: {enabled: true}}}`}, nil)
	code := `const a = await Promise.all([tools.get_weather({city: "Oslo"}), tools.call("client:app:get_weather", {city: "Rome"})]); return a.map(String).join(" | ")`
	raw, err := json.Marshal(gatewaytest.Said{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	asked, cities := []any{gatewaytest.UserSays(string(raw))}, ""
	for range 5 {
		msg, finish := app.Chat(gatewaytest.Said{"messages": asked, "tools": gatewaytest.Weather()})
		if finish == "stop" {
			if text := fmt.Sprint(msg["content"]); !strings.Contains(text, "rain in Oslo") || !strings.Contains(text, "rain in Rome") {
				t.Errorf("%s", text)
			}
			if len(cities) != len("OsloRome") {
				t.Errorf("asked for %s", cities)
			}
			return
		}
		asked = append(asked, msg)
		for _, c := range msg["tool_calls"].([]any) {
			call := c.(map[string]any)
			var args struct{ City string }
			if err := json.Unmarshal([]byte(call["function"].(map[string]any)["arguments"].(string)), &args); err != nil {
				t.Fatal(err)
			}
			cities += args.City
			asked = append(asked, gatewaytest.Said{"role": "tool", "tool_call_id": call["id"], "content": "rain in " + args.City})
		}
	}
	t.Error("it has no end")
}
