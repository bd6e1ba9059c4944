package onboarding_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// withKeys is an environment in which keys lie about, as on a developer's
// computer.
func withKeys(r *gatewaytest.Rig) *gatewaytest.Rig {
	env := r.Env
	r.Env = func(name string) string {
		switch name {
		case "OPENAI_API_KEY":
			return "sk-proj-found-in-the-environment-000"
		case "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY":
			return "found-in-the-environment"
		}
		return env(name)
	}
	r.Restart()
	return r
}

// guided sends a message as any client does and wants the guide's answer.
func guided(p *gatewaytest.Peer, id, text string) string {
	p.T.Helper()
	p.Send("main", id, text)
	end := p.Ended(id)
	if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "built-in guide") {
		p.T.Fatalf("%s: %+v %q", id, end, end.Message.Text())
	}
	return end.Message.Text()
}

// Who looks around first is answered by the guide, whatever lies about on the
// computer, at every entrance and after a restart; and chooses later.
func TestConsent_LookAroundFirst(t *testing.T) {
	for name, local := range map[string]bool{"keys": false, "keys and Ollama": true} {
		t.Run(name, func(t *testing.T) {
			r := withKeys(newcomer(t, local))
			p := r.Connect()
			waits(p, "main", "first", "Why is the sky blue?")
			s := steps(p, "message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 && len(s.Choices) > 0 })
			if last := s.Choices[len(s.Choices)-1]; last.Kind != "key" {
				t.Errorf("the keys are not offered: %+v", s.Choices)
			}
			if s = setup(p, protocol.SetupAnswerParams{Step: "model", Do: "skip"}); stepOf(s, "model") != "skipped" {
				t.Fatalf("%+v", s)
			}
			if end := p.Ended("first"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "built-in guide") {
				t.Fatalf("%+v", end)
			}
			guided(p, "second", "Why is the grass green?")
			r.Restart()
			p = r.Connect()
			p.Do(protocol.MethodSessionsMessagesSubscribe, map[string]any{"key": "main"}, nil)
			guided(p, "third", "Why?")
			app := gatewaytest.ProgramOf(t, r, p, "a program")
			if status, _, raw := app.Do("POST", "/chat/completions",
				`{"model":"hearth","messages":[{"role":"user","content":"Why is snow white?"}]}`); status != 200 ||
				!strings.Contains(raw, "built-in guide") {
				t.Errorf("HTTP: %d %s", status, raw)
			}
			if n := r.Model.Snapshot().Requests; n != 0 {
				t.Errorf("%d requests to a model that nobody chose", n)
			}
			if !local {
				return
			}
			setup(p, protocol.SetupAnswerParams{Step: "model", Do: "again"})
			setup(p, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: "ollama/echo"})
			steps(p, "model", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" && s.Doing == nil })
			p.Send("main", "fourth", "hello")
			if end := p.Ended("fourth"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
				t.Errorf("%+v", end)
			}
		})
	}
}

// Without any choice a key is offered and not used; a model on this computer
// costs nothing and may answer.
func TestConsent_FoundKeysAreOnlyOffered(t *testing.T) {
	r := withKeys(newcomer(t, false))
	p := r.Connect()
	if said := guided(p, "first", "Why is the sky blue?"); !strings.Contains(said, "A key for ") ||
		!strings.Contains(said, "hearth models set ") {
		t.Errorf("the guide does not say how to choose it: %s", said)
	}
	if s := setup(p, protocol.SetupAnswerParams{}); stepOf(s, "model") != "open" {
		t.Errorf("%+v", s)
	}
	with := withKeys(newcomer(t, true)).Connect()
	setup(with, protocol.SetupAnswerParams{})
	with.Send("main", "first", "hello")
	if end := with.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
}

// Programs and assistants do not choose a key for the person: names of models
// that programs bring along, and models that a model asks for.
func TestConsent_NobodyElseChooses(t *testing.T) {
	r := withKeys(newcomer(t, false))
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "a program")
	for _, name := range []string{"gpt-5-mini", "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"} {
		status, _, raw := app.Do("POST", "/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":"hi"}]}`)
		if status != 404 || strings.Contains(name, "/") && !strings.Contains(raw, "did not choose") {
			t.Errorf("%s: %d %s", name, status, raw)
		}
	}
	if _, _, raw := app.Do("GET", "/models", nil); strings.Contains(raw, "gpt-5") {
		t.Errorf("listed: %s", raw)
	}
	p.Send("main", "tool", `/tool session_status {"model": "openai/gpt-5-mini"}`)
	if end := p.Ended("tool"); !strings.Contains(end.Message.Text(), "did not choose") {
		t.Errorf("%q", end.Message.Text())
	}
}

// Who writes a model down has chosen it, with the key that there is; it is no
// longer looked around then.
func TestConsent_SettingsAreAChoice(t *testing.T) {
	r := withKeys(newcomer(t, false))
	p := r.Connect()
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "skip"})
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{agents: {defaults: {model: "openai/gpt-5-mini"}}}`}, nil)
	steps(p, "model that was set", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" })
	var l protocol.ModelsList
	p.Do(protocol.MethodModelsList, map[string]any{}, &l)
	if len(l.Models) == 0 || l.Models[0].ID != "gpt-5-mini" || l.Models[0].Provider != "openai" {
		t.Errorf("%+v", l.Models)
	}
	if s := setup(p, protocol.SetupAnswerParams{Step: "model", Do: "skip"}); stepOf(s, "model") != "done" {
		t.Errorf("looking around takes away what was chosen: %+v", s.Steps)
	}
	if raw, err := os.ReadFile(filepath.Join(string(r.Dir), "hearth.json")); err != nil || !strings.Contains(string(raw), "gpt-5-mini") {
		t.Errorf("%v %s", err, raw)
	}
}
