package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// withKeys is an environment in which keys lie about, as on a developer's
// computer.
func (r *rig) withKeys() *rig {
	env := r.env
	r.env = func(name string) string {
		switch name {
		case "OPENAI_API_KEY":
			return "sk-proj-found-in-the-environment-000"
		case "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY":
			return "found-in-the-environment"
		}
		return env(name)
	}
	r.restart()
	return r
}

// guided sends a message as any client does and wants the guide's answer.
func (p *peer) guided(id, text string) string {
	p.t.Helper()
	p.send("main", id, text)
	end := p.ended(id)
	if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "built-in guide") {
		p.t.Fatalf("%s: %+v %q", id, end, end.Message.Text())
	}
	return end.Message.Text()
}

// Who looks around first is answered by the guide, whatever lies about on the
// computer, at every entrance and after a restart; and chooses later.
func TestConsent_LookAroundFirst(t *testing.T) {
	for name, local := range map[string]bool{"keys": false, "keys and Ollama": true} {
		t.Run(name, func(t *testing.T) {
			r := newcomer(t, local).withKeys()
			p := r.connect()
			p.waits("main", "first", "Why is the sky blue?")
			s := p.steps("message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 && len(s.Choices) > 0 })
			if last := s.Choices[len(s.Choices)-1]; last.Kind != "key" {
				t.Errorf("the keys are not offered: %+v", s.Choices)
			}
			if s = p.setup(protocol.SetupAnswerParams{Step: "model", Do: "skip"}); stepOf(s, "model") != "skipped" {
				t.Fatalf("%+v", s)
			}
			if end := p.ended("first"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "built-in guide") {
				t.Fatalf("%+v", end)
			}
			p.guided("second", "Why is the grass green?")
			r.restart()
			p = r.connect()
			p.call(protocol.MethodSessionsMessagesSubscribe, map[string]any{"key": "main"}, nil)
			p.guided("third", "Why?")
			app := programOf(t, r, p, "a program")
			if status, _, raw := app.do("POST", "/chat/completions",
				`{"model":"hearth","messages":[{"role":"user","content":"Why is snow white?"}]}`); status != 200 ||
				!strings.Contains(raw, "built-in guide") {
				t.Errorf("HTTP: %d %s", status, raw)
			}
			if n := r.model.Snapshot().Requests; n != 0 {
				t.Errorf("%d requests to a model that nobody chose", n)
			}
			if !local {
				return
			}
			p.setup(protocol.SetupAnswerParams{Step: "model", Do: "again"})
			p.setup(protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: "ollama/echo"})
			p.steps("model", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" && s.Doing == nil })
			p.send("main", "fourth", "hello")
			if end := p.ended("fourth"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
				t.Errorf("%+v", end)
			}
		})
	}
}

// Without any choice a key is offered and not used; a model on this computer
// costs nothing and may answer.
func TestConsent_FoundKeysAreOnlyOffered(t *testing.T) {
	r := newcomer(t, false).withKeys()
	p := r.connect()
	if said := p.guided("first", "Why is the sky blue?"); !strings.Contains(said, "A key for ") ||
		!strings.Contains(said, "hearth models set ") {
		t.Errorf("the guide does not say how to choose it: %s", said)
	}
	if s := p.setup(protocol.SetupAnswerParams{}); stepOf(s, "model") != "open" {
		t.Errorf("%+v", s)
	}
	with := newcomer(t, true).withKeys().connect()
	with.setup(protocol.SetupAnswerParams{})
	with.send("main", "first", "hello")
	if end := with.ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
}

// Programs and assistants do not choose a key for the person: names of models
// that programs bring along, and models that a model asks for.
func TestConsent_NobodyElseChooses(t *testing.T) {
	r := newcomer(t, false).withKeys()
	p := r.connect()
	app := programOf(t, r, p, "a program")
	for _, name := range []string{"gpt-5-mini", "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"} {
		status, _, raw := app.do("POST", "/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":"hi"}]}`)
		if status != 404 || strings.Contains(name, "/") && !strings.Contains(raw, "did not choose") {
			t.Errorf("%s: %d %s", name, status, raw)
		}
	}
	if _, _, raw := app.do("GET", "/models", nil); strings.Contains(raw, "gpt-5") {
		t.Errorf("listed: %s", raw)
	}
	p.send("main", "tool", `/tool session_status {"model": "openai/gpt-5-mini"}`)
	if end := p.ended("tool"); !strings.Contains(end.Message.Text(), "did not choose") {
		t.Errorf("%q", end.Message.Text())
	}
}

// Who writes a model down has chosen it, with the key that there is; it is no
// longer looked around then.
func TestConsent_SettingsAreAChoice(t *testing.T) {
	r := newcomer(t, false).withKeys()
	p := r.connect()
	p.setup(protocol.SetupAnswerParams{Step: "model", Do: "skip"})
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{agents: {defaults: {model: "openai/gpt-5-mini"}}}`}, nil)
	p.steps("model that was set", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" })
	var l protocol.ModelsList
	p.call(protocol.MethodModelsList, map[string]any{}, &l)
	if len(l.Models) == 0 || l.Models[0].ID != "gpt-5-mini" || l.Models[0].Provider != "openai" {
		t.Errorf("%+v", l.Models)
	}
	if s := p.setup(protocol.SetupAnswerParams{Step: "model", Do: "skip"}); stepOf(s, "model") != "done" {
		t.Errorf("looking around takes away what was chosen: %+v", s.Steps)
	}
	if raw, err := os.ReadFile(filepath.Join(string(r.dir), "hearth.json")); err != nil || !strings.Contains(string(raw), "gpt-5-mini") {
		t.Errorf("%v %s", err, raw)
	}
}
