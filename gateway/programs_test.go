package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// program is a program that uses the endpoints with a token.
type program struct {
	t     *testing.T
	base  string
	token string
}

// programOf turns the endpoints on and makes a token.
func programOf(t *testing.T, r *rig, p *peer, name string, scopes ...string) *program {
	t.Helper()
	p.call(protocol.MethodConfigPatch,
		protocol.ConfigSetParams{Raw: `{gateway: {http: {endpoints: {chatCompletions: {enabled: true}, responses: {enabled: true}}}}}`}, nil)
	var made protocol.TokenCreated
	p.call(protocol.MethodTokensCreate, protocol.TokenCreateParams{Name: name, Scopes: scopes}, &made)
	return &program{t: t, base: r.gw.URL() + "/v1", token: made.Secret}
}

func (p *program) request(ctx context.Context, method, path string, body any, headers ...string) *http.Request {
	p.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	default:
		var err error
		if raw, err = json.Marshal(b); err != nil {
			p.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// do sends a request and reads the answer whole.
func (p *program) do(method, path string, body any, headers ...string) (status int, answer map[string]any, raw string) {
	p.t.Helper()
	resp, err := http.DefaultClient.Do(p.request(p.t.Context(), method, path, body, headers...))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = json.Unmarshal(all, &answer)
	return resp.StatusCode, answer, string(all)
}

type said = map[string]any

// chat asks for a completion and returns its one message.
func (p *program) chat(body said, headers ...string) (msg map[string]any, finish string) {
	p.t.Helper()
	status, answer, raw := p.do("POST", "/chat/completions", body, headers...)
	if status != 200 {
		p.t.Fatalf("%d %s", status, raw)
	}
	choice := answer["choices"].([]any)[0].(map[string]any)
	return choice["message"].(map[string]any), choice["finish_reason"].(string)
}

func user(text string) said      { return said{"role": "user", "content": text} }
func assistant(text string) said { return said{"role": "assistant", "content": text} }

// data reads the events of a stream.
func (p *program) data(path string, body said) (events []map[string]any) {
	p.t.Helper()
	body["stream"] = true
	resp, err := http.DefaultClient.Do(p.request(p.t.Context(), "POST", path, body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, _ := io.ReadAll(resp.Body)
		p.t.Fatalf("%d %s", resp.StatusCode, raw)
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		text, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		if text == "[DONE]" {
			events = append(events, map[string]any{"done": true})
			continue
		}
		var ev map[string]any
		if err := json.Unmarshal([]byte(text), &ev); err != nil {
			p.t.Fatalf("%q: %v", text, err)
		}
		events = append(events, ev)
	}
	return events
}

func TestProgramChats(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	app := programOf(t, r, p, "notebook")

	msg, finish := app.chat(said{"model": "hearth", "messages": []any{said{"role": "system", "content": "Be brief."}, user("hello")}})
	if msg["content"] != "echo: hello" || finish != "stop" {
		t.Errorf("%v %s", msg, finish)
	}
	var text strings.Builder
	events := app.data("/chat/completions", said{"model": "chat/echo", "messages": []any{user("one two")},
		"stream_options": said{"include_usage": true}})
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
	p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 2 || list.Sessions[0].Origin == nil || list.Sessions[0].Origin.Label != "API: notebook" ||
		list.Sessions[0].Origin.Provider != "api" {
		t.Errorf("%+v", list.Sessions)
	}
}

func TestProgramsKeepTheirConversations(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	other := programOf(t, r, p, "other")
	count := func() int {
		var list protocol.SessionsList
		p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		return len(list.Sessions)
	}
	ask := func(app *program, what string, want int, body said, headers ...string) {
		t.Helper()
		app.chat(body, headers...)
		if n := count(); n != want {
			t.Errorf("%s: %d sessions, want %d", what, n, want)
		}
	}
	ask(app, "a user", 1, said{"user": "anna", "messages": []any{user("hello")}})
	ask(app, "the same user again", 1, said{"user": "anna", "messages": []any{user("hello"), assistant("echo: hello"), user("again")}})
	ask(other, "the same user of another program", 2, said{"user": "anna", "messages": []any{user("hello")}})
	ask(app, "a name", 3, said{"messages": []any{user("hello")}}, "X-OpenClaw-Session-Key", "mine")
	ask(app, "the same name", 3, said{"messages": []any{user("hello")}}, "X-Hearth-Session", "mine")
	ask(app, "nothing", 4, said{"messages": []any{user("first")}})
	ask(app, "what was said", 4, said{"messages": []any{user("first"), assistant("echo: first"), user("second")}})
	ask(app, "what was said, otherwise", 5, said{"messages": []any{user("first"), assistant("echo: first"), user("another second")}})
	ask(other, "what another said", 6,
		said{"messages": []any{user("first"), assistant("echo: first"), user("second"), assistant("echo: second"), user("third")}})

	// What was said before goes to the model with its roles, once.
	var list protocol.SessionsList
	p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	var got []string
	for _, m := range p.history(list.Sessions[0].Key).Messages {
		got = append(got, m.Role+" "+m.Text())
	}
	if want := "user first|assistant echo: first|user second|assistant echo: second|user third|assistant echo: third"; strings.Join(got,
		"|") != want {
		t.Errorf("%q", got)
	}
}

func weather() []any {
	return []any{said{"type": "function", "function": said{"name": "get_weather", "description": "The weather of a city.",
		"parameters": said{"type": "object", "properties": said{"city": said{"type": "string"}}}}}}
}

func TestProgramRunsItsTools(t *testing.T) {
	r := newRig(t, "chat/tool-get_weather")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	asked := []any{user(`{"city":"Oslo"}`)}
	msg, finish := app.chat(said{"messages": asked, "tools": weather()})
	if finish != "tool_calls" {
		t.Fatalf("%v %s", msg, finish)
	}
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	if f := call["function"].(map[string]any); f["name"] != "get_weather" || f["arguments"] != `{"city":"Oslo"}` {
		t.Errorf("%v", call)
	}
	asked = append(asked, msg, said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees, rain"})
	msg, finish = app.chat(said{"messages": asked, "tools": weather()})
	if text, _ := msg["content"].(string); finish != "stop" || !strings.Contains(text, "The tool said:") ||
		!strings.Contains(text, "4 degrees, rain") {
		t.Errorf("%v %s", msg, finish)
	}
	var list protocol.SessionsList
	p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 1 {
		t.Errorf("%d sessions", len(list.Sessions))
	}
	var log protocol.AuditList
	p.call(protocol.MethodAuditList, protocol.AuditListParams{}, &log)
	if !strings.Contains(fmt.Sprint(log.Entries), "asked the program for get_weather") {
		t.Error("the call is not in the audit log")
	}

	// A stream does the same.
	events := app.data("/chat/completions", said{"messages": []any{user(`{"city":"Rome"}`)}, "tools": weather()})
	last := events[len(events)-2]["choices"].([]any)[0].(map[string]any)
	calls := events[len(events)-3]["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)["tool_calls"].([]any)
	if last["finish_reason"] != "tool_calls" || len(calls) != 1 || calls[0].(map[string]any)["index"] != 0.0 {
		t.Errorf("%v %v", calls, last)
	}
}

// After a restart nobody waits for the result any more: it is told in words.
func TestProgramBringsResultsAfterARestart(t *testing.T) {
	r := newRig(t, "chat/tool-get_weather")
	app := programOf(t, r, r.connect(), "notebook")
	asked := []any{user(`{"city":"Oslo"}`)}
	msg, _ := app.chat(said{"messages": asked, "tools": weather()})
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	r.restart()
	app.base = r.gw.URL() + "/v1"
	asked = append(asked, msg, said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees, rain"})
	msg, finish := app.chat(said{"messages": asked, "model": "chat/echo"})
	if text, _ := msg["content"].(string); finish != "stop" || !strings.Contains(text, "Result of get_weather:\n4 degrees, rain") {
		t.Errorf("%v %s", msg, finish)
	}
}

func TestProgramGetsResponses(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	status, first, raw := app.do("POST", "/responses", said{"model": "hearth", "input": "hello", "instructions": "Be brief."})
	if status != 200 || !strings.Contains(raw, `"text":"echo: hello"`) || first["status"] != "completed" {
		t.Fatalf("%d %s", status, raw)
	}
	status, next, raw := app.do("POST", "/responses", said{"input": "again", "previous_response_id": first["id"]})
	if status != 200 || next["previous_response_id"] != first["id"] {
		t.Fatalf("%d %s", status, raw)
	}
	var list protocol.SessionsList
	p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 1 || len(p.history(list.Sessions[0].Key).Messages) != 4 {
		t.Errorf("%+v", list.Sessions)
	}
	other := programOf(t, r, p, "other")
	if status, _, raw := other.do("POST", "/responses", said{"input": "again", "previous_response_id": first["id"]}); status != 404 {
		t.Errorf("the answer of another program: %d %s", status, raw)
	}
	var kinds []string
	for _, ev := range app.data("/responses",
		said{"input": []any{said{"role": "user", "content": []any{said{"type": "input_text", "text": "hi"}}}}}) {
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
	tools := []any{said{"type": "function", "name": "get_weather", "parameters": said{"type": "object"}}, said{"type": "web_search_preview"}}
	status, first, raw = app.do("POST", "/responses", said{"model": "chat/tool-get_weather", "input": `{"city":"Oslo"}`, "tools": tools})
	if status != 200 || !strings.Contains(raw, `"type":"function_call"`) {
		t.Fatalf("%d %s", status, raw)
	}
	call := first["output"].([]any)[0].(map[string]any)
	status, _, raw = app.do("POST", "/responses", said{"previous_response_id": first["id"],
		"input": []any{said{"type": "function_call_output", "call_id": call["call_id"], "output": "4 degrees"}}})
	if status != 200 || !strings.Contains(raw, "4 degrees") {
		t.Errorf("%d %s", status, raw)
	}
}

func TestProgramThatLeavesStopsItsAnswer(t *testing.T) {
	r := newRig(t, "chat/stream-1000-20")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	ctx, leave := context.WithCancel(t.Context())
	resp, err := http.DefaultClient.Do(app.request(ctx, "POST", "/chat/completions", said{"messages": []any{user("go on")}, "stream": true}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	leave()
	_ = resp.Body.Close()
	ev := p.until("end", func(ev protocol.Event) bool {
		c, ok := chatOf(ev)
		return ok && c.State == protocol.ChatAborted
	})
	if c, _ := chatOf(ev); c.StopReason != "aborted" {
		t.Errorf("%+v", c)
	}
}

func TestSec_A_NET_12_RevokingATokenEndsItsRequests(t *testing.T) {
	r := newRig(t, "chat/stream-1000-20")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	resp, err := http.DefaultClient.Do(app.request(t.Context(), "POST", "/chat/completions",
		said{"messages": []any{user("go on")}, "stream": true}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := time.Now()
	p.call(protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: "notebook"}, nil)
	raw, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(raw), "revoked") || strings.Contains(string(raw), "[DONE]") {
		t.Errorf("%v %s", err, raw)
	}
	t.Logf("ended after %s", time.Since(begun))
	p.until("end", func(ev protocol.Event) bool {
		c, ok := chatOf(ev)
		return ok && c.State == protocol.ChatAborted
	})
	if status, _, raw := app.do("GET", "/models", nil); status != 401 {
		t.Errorf("%d %s", status, raw)
	}
}

// In code mode a program of the model's calls the tools that the other program
// runs, several at once.
func TestProgramRunsItsToolsInCodeMode(t *testing.T) {
	r := newRig(t, "chat/tool-text-exec")
	p := r.connect()
	app := programOf(t, r, p, "notebook")
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{tools: {codeMode: {enabled: true}}}`}, nil)
	code := `const a = await Promise.all([tools.get_weather({city: "Oslo"}), tools.call("client:app:get_weather", {city: "Rome"})]); return a.map(String).join(" | ")`
	raw, err := json.Marshal(said{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	asked, cities := []any{user(string(raw))}, ""
	for range 5 {
		msg, finish := app.chat(said{"messages": asked, "tools": weather()})
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
			asked = append(asked, said{"role": "tool", "tool_call_id": call["id"], "content": "rain in " + args.City})
		}
	}
	t.Error("it has no end")
}
