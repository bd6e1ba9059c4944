package openaiapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// tapped is a rig whose model service notes the requests that it gets.
func tapped(t *testing.T, primary string) (r *gatewaytest.Rig, asked func() map[string]any) {
	t.Helper()
	r = &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: scripted.New()}
	var mu sync.Mutex
	var last []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		if req.Method == http.MethodPost {
			mu.Lock()
			last = raw
			mu.Unlock()
		}
		req.Body = io.NopCloser(strings.NewReader(string(raw)))
		r.Model.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	r.ModelURL = srv.URL
	gatewaytest.WriteConfig(t, r.Dir, srv.URL, primary)
	r.Start()
	return r, func() (out map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		if err := json.Unmarshal(last, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// What a program says about how the model answers reaches the model, and stays
// with the program: the next chat of the owner is asked for as always.
func TestProgramsTuneTheirAnswersAndNobodyElses(t *testing.T) {
	r, asked := tapped(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook", "chat", "owner")
	words := []string{"temperature", "top_p", "stop", "seed", "presence_penalty", "frequency_penalty", "tool_choice", "response_format"}

	app.Chat(gatewaytest.Said{"messages": []any{gatewaytest.UserSays("one")}, "temperature": 0.25, "top_p": 0.5, "stop": "END", "seed": 7,
		"presence_penalty":      1,
		"frequency_penalty":     -1,
		"max_completion_tokens": 99, "response_format": gatewaytest.Said{"type": "json_object"}}, "X-OpenClaw-Session-Key", "agent:main:main")
	got := asked()
	want := gatewaytest.Said{"temperature": 0.25, "top_p": 0.5, "stop": []any{"END"}, "seed": 7.0, "presence_penalty": 1.0,
		"frequency_penalty": -1.0,
		"tool_choice":       nil, "response_format": map[string]any{"type": "json_object"}}
	for _, w := range words {
		if !reflect.DeepEqual(got[w], want[w]) {
			t.Errorf("%s: %v", w, got[w])
		}
	}
	if got["max_tokens"] != 99.0 {
		t.Errorf("max_tokens %v", got["max_tokens"])
	}
	p.Say("agent:main:main", "two", "two")
	if got := asked(); !strings.Contains(fmt.Sprint(got["messages"]), "two") || got["max_tokens"] == 99.0 {
		t.Errorf("%v", got)
	} else {
		for _, w := range words {
			if got[w] != nil {
				t.Errorf("the owner's chat: %s %v", w, got[w])
			}
		}
	}
}

// A call that is demanded is demanded of the model, and of no step that follows
// unless the program says so again.
func TestProgramsDemandCalls(t *testing.T) {
	r, asked := tapped(t, "chat/tool-get_weather")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	names := func() (out []string) {
		for _, x := range asked()["tools"].([]any) {
			out = append(out, x.(map[string]any)["function"].(map[string]any)["name"].(string))
		}
		return out
	}
	msgs := []any{gatewaytest.UserSays(`{"city":"Oslo"}`)}
	msg, finish := app.Chat(gatewaytest.Said{"messages": msgs, "tools": gatewaytest.Weather(), "tool_choice": "required"})
	if got := asked()["tool_choice"]; finish != "tool_calls" || got != "required" || len(names()) != 1 {
		t.Errorf("%s %v %v", finish, got, names())
	}
	call := msg["tool_calls"].([]any)[0].(map[string]any)
	msgs = append(msgs, msg, gatewaytest.Said{"role": "tool", "tool_call_id": call["id"], "content": "4 degrees"})
	if _, finish := app.Chat(gatewaytest.Said{"messages": msgs, "tools": gatewaytest.Weather()}); finish != "stop" ||
		asked()["tool_choice"] != nil {
		t.Errorf("%s %v", finish, asked()["tool_choice"])
	}
	app.Chat(gatewaytest.Said{"messages": []any{gatewaytest.UserSays(`{"city":"Rome"}`)}, "tools": gatewaytest.Weather(),
		"tool_choice": gatewaytest.Said{"type": "function",
			"function": gatewaytest.Said{"name": "get_weather"}}})
	if got := fmt.Sprint(asked()["tool_choice"]); got != "map[function:map[name:get_weather] type:function]" {
		t.Error(got)
	}
}

func TestProgramsNameAModelInAHeader(t *testing.T) {
	r, asked := tapped(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	app.Chat(gatewaytest.Said{"model": "openclaw/main", "messages": []any{gatewaytest.UserSays("hi")}}, "x-openclaw-model", "chat/stream-3-0")
	if got := asked()["model"]; got != "stream-3-0" {
		t.Error(got)
	}
	if status, _, raw := app.Do("POST", "/chat/completions", gatewaytest.Said{"messages": []any{gatewaytest.UserSays("hi")}},
		"x-openclaw-model",
		"hearth/main"); status != 404 {
		t.Errorf("%d %s", status, raw)
	}
}

func TestResponsesSayWhatWasAsked(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	tools := []any{gatewaytest.Said{"type": "function", "name": "look", "description": "Looks.",
		"parameters": gatewaytest.Said{"type": "object"}}}
	_, got, raw := app.Do("POST", "/responses", gatewaytest.Said{"input": "hi", "instructions": "Be brief.", "tools": tools,
		"tool_choice": "none",
		"temperature": 0.5, "max_output_tokens": 50})
	want := []any{map[string]any{"type": "function", "name": "look", "description": "Looks.", "parameters": map[string]any{"type": "object"},
		"strict": false}}
	if got["instructions"] != "Be brief." || !reflect.DeepEqual(got["tools"], want) || got["tool_choice"] != "none" ||
		got["temperature"] != 0.5 || got["max_output_tokens"] != 50.0 {
		t.Error(raw)
	}
}
