package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Failover page: "User-pinned profiles stay locked to that profile; if it fails
// and model fallbacks are configured, Nodmix moves to the next model".
func TestAPinnedAccountFallsBackToTheNextModel(t *testing.T) {
	for _, how := range []string{"/model chat/fault-429-60@chat:default", "/model @default", "/model default@default"} {
		t.Run(how, func(t *testing.T) {
			p := gatewaytest.New(t, chain("chat/fault-429-60", "chat/echo")).Connect()
			if end := p.Say("main", "m", how); !strings.Contains(end.Message.Text(), "now uses **chat/fault-429-60@") {
				t.Fatalf("%+v", end.Message.Text())
			}
			if end := p.Say("main", "s", "/status"); !strings.Contains(end.Message.Text(), "account chat:default, chosen for this session") {
				t.Errorf("/status: %s", end.Message.Text())
			}
			if end := p.Say("main", "q", "hello"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "echo: hello") {
				t.Errorf("answered %+v", end)
			}
		})
	}
}

// chain is a default with its fallbacks.
func chain(primary string, fallbacks ...string) map[string]any {
	return map[string]any{"primary": primary, "fallbacks": fallbacks}
}

// Real failures over real HTTP, in three dialects: the fallback answers, its
// name stands on the answer, and the notice before it.
func TestFault_F_PROV_08_FallbackOverHTTP(t *testing.T) {
	for fault, reason := range map[string]string{
		"fault-429": "rate limit", "fault-429-30": "rate limit", "fault-429-abc": "rate limit", "fault-429--1": "rate limit",
		"fault-500": "no answer",
		"fault-502": "no answer", "fault-503": "service overloaded", "fault-529": "service overloaded",
		"fault-401": "key not accepted", "fault-404": "model not found",
		"fault-billing": "no credit left", "fault-empty": "empty response",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			r := gatewaytest.New(t, chain("chat/"+fault, "claude/echo"))
			p := r.Connect()
			end := p.Say("main", "a", "hello")
			if end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" || end.Message.Provider != "claude" {
				t.Fatalf("%s %q by %s: %s", end.State, end.Message.Text(), end.Message.Provider, end.ErrorMessage)
			}
			want := fmt.Sprintf("↪️ Model Fallback: claude/echo (selected chat/%s; %s)", fault, reason)
			if h := p.History("main"); len(h.Messages) != 3 || h.Messages[1].Role != protocol.MessageSystem || h.Messages[1].Text() != want {
				t.Errorf("transcript %+v", h.Messages)
			}
			p.Say("main", "b", "again")
			if h := p.History("main"); len(h.Messages) != 5 {
				t.Errorf("the notice stands there twice: %+v", h.Messages)
			}
		})
	}
}

// 429 with a short time to wait: the same model answers after it.
func TestFault_F_PROV_05_ShortWaitOverHTTP(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/fault-once-429", "claude/echo"))
	p := r.Connect()
	end := p.Say("main", "a", "hello")
	if end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%s %q: %s", end.State, end.Message.Text(), end.ErrorMessage)
	}
}

// A chain of 17 models of which the last answers.
func TestFault_F_PROV_06_SeventeenModels(t *testing.T) {
	var list []string
	for i := range 16 {
		list = append(list, fmt.Sprintf("chat/fault-429-%d", i+11))
	}
	r := gatewaytest.New(t, chain(list[0], append(list[1:], "llama/echo")...))
	end := r.Connect().Say("main", "a", "hello")
	if end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
		t.Fatalf("%s: %s", end.State, end.ErrorMessage)
	}
	if n := r.Model.Calls("hello"); n != 17 {
		t.Errorf("%d calls, want 17", n)
	}
}

// When nobody answers there is one failure, in words, with all models in it.
func TestFault_F_PROV_06_NobodyAnswers(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/fault-429-300", "claude/fault-429-300"))
	p := r.Connect()
	end := p.Say("main", "a", "hello")
	if end.State != protocol.ChatError || end.ErrorKind != "rate_limit" || !strings.HasPrefix(end.ErrorMessage,
		"All models are temporarily rate-limited. Asked was chat/fault-429-300 (rate limit). Asked was claude/fault-429-300 (rate limit).") {
		t.Errorf("%s %s: %s", end.State, end.ErrorKind, end.ErrorMessage)
	}
	var row protocol.SessionsList
	p.Do(protocol.MethodSessionsList, nil, &row)
	if s := row.Sessions[0]; s.OverrideModel != "" || s.Fallback != nil {
		t.Errorf("an override is left: %+v", s)
	}
}

// 20 words, then the connection breaks: one answer, shown once.
func TestFault_F_PROV_20_CutOverHTTP(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/fault-cut-2", "claude/fault-cut-2"))
	p := r.Connect()
	end := p.Say("main", "a", "one two three four five")
	if end.State != protocol.ChatError || end.Message == nil || strings.TrimSpace(end.Message.Text()) != "w1 w2" {
		t.Errorf("%s %+v: %s", end.State, end.Message, end.ErrorMessage)
	}
	if n := len(p.History("main").Messages); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// What a person chose is not replaced; the failure says what to do.
func TestChosenModelIsNotReplaced(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/echo", "claude/echo"))
	p := r.Connect()
	p.Say("main", "a", "/model chat/fault-401")
	end := p.Say("main", "b", "hello")
	if end.State != protocol.ChatError || !strings.Contains(end.ErrorMessage, "did not accept the API key") {
		t.Errorf("%s: %s", end.State, end.ErrorMessage)
	}
}

// /status and /model tell the selected model and the one that answers.
func TestStatusShowsTheFallback(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/fault-429-60", "claude/echo"))
	p := r.Connect()
	p.Say("main", "a", "hello")
	want := "chat/fault-429-60 (selected); claude/echo answers now: rate limit"
	for _, cmd := range []string{"/status", "/model"} {
		if end := p.Say("main", cmd, cmd); !strings.Contains(end.Message.Text(), want) {
			t.Errorf("%s: %q", cmd, end.Message.Text())
		}
	}
	if end := p.Say("main", "w", "/why"); !strings.Contains(end.Message.Text(), "chat/fault-429-60 failed: rate limit") {
		t.Errorf("/why: %q", end.Message.Text())
	}
	p.Say("main", "n", "/new")
	if end := p.Say("main", "s2", "/status"); strings.Contains(end.Message.Text(), "answers now: rate limit") &&
		!strings.Contains(p.History("main").Messages[1].Text(), "↪️") {
		t.Errorf("the new session kept the fallback: %q", end.Message.Text())
	}
}

// The notice reaches a messaging network, once, before the answer.
func TestFallbackNoticeOnTelegram(t *testing.T) {
	for _, mode := range []string{"off", "partial", "block", "progress"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			_, api := gatewaytest.NewOnTelegram(t, chain("chat/fault-429-60", "chat/stream-100-10"),
				map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}, "streaming": mode})
			me := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
			answered := func(n int) func() bool {
				return func() bool {
					got := gatewaytest.Texts(api, gatewaytest.Anna)
					return len(got) == n && strings.Contains(got[n-1], "w100")
				}
			}
			api.Say(gatewaytest.Anna, me, "hello", nil)
			gatewaytest.WaitFor(t, "notice and answer", answered(2))
			api.Say(gatewaytest.Anna, me, "again", nil)
			gatewaytest.WaitFor(t, "the next answer", answered(3))
			got := gatewaytest.Texts(api, gatewaytest.Anna)
			if want := "↪️ Model Fallback: chat/stream-100-10 (selected chat/fault-429-60; rate limit)"; got[0] != want ||
				slices.Contains(got[1:], want) {
				t.Errorf("sent %q", got)
			}
		})
	}
}

// Aliases, accounts and the list of models that may be chosen.
func TestModelCatalogue(t *testing.T) {
	r := gatewaytest.New(t, chain("chat/echo", "claude/think"))
	p := r.Connect()
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{BaseHash: cfg.Hash,
		Raw: `{"agents": {"defaults": {"models": {"claude/echo": {"alias": "Quick"}, "chat/stream-2-0": {}}}}}`}, nil)
	for _, c := range []struct{ text, want string }{
		{"/model quick", "now uses **claude/echo**"},
		{"/model chat/stream-2-0", "now uses **chat/stream-2-0**"},
		{"/model claude/think", "now uses **claude/think**"}, // a fallback
		{"/model llama/echo", "may not be chosen here"},
		{"/model nonsense/x", "may not be chosen here"},
	} {
		if end := p.Say("main", c.text, c.text); !strings.Contains(end.Message.Text(), c.want) {
			t.Errorf("%s: %q", c.text, end.Message.Text())
		}
	}
	names := func(view string) (out []string) {
		var l protocol.ModelsList
		p.Do(protocol.MethodModelsList, protocol.ModelsListParams{View: view}, &l)
		for _, m := range l.Models {
			out = append(out, m.Provider+"/"+m.ID)
			if m.Provider+"/"+m.ID == "claude/echo" && m.Alias != "Quick" {
				t.Errorf("alias of %+v", m)
			}
		}
		return out
	}
	if got := names("default"); slices.Contains(got, "llama/echo") || !slices.Contains(got, "chat/echo") {
		t.Errorf("default: %v", got)
	}
	if got := names("all"); !slices.Contains(got, "openai/gpt-5") && !slices.Contains(got, "anthropic/claude-sonnet-4-5") {
		t.Errorf("all: %v", got)
	}
	if got := names("configured"); slices.Contains(got, "anthropic/claude-sonnet-4-5") {
		t.Errorf("configured: %v", got)
	}
}
