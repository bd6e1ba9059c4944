package onboarding_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// newcomer is a gateway without settings, on a computer where an Ollama server
// runs if ollama says so.
func newcomer(t *testing.T, ollama bool) *gatewaytest.Rig {
	t.Helper()
	r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: scripted.New()}
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	r.ModelURL = srv.URL
	home := t.TempDir()
	if !ollama {
		r.ModelURL = "http://127.0.0.1:9" // nobody is there
	}
	r.Env = func(name string) string {
		switch name {
		case "HOME":
			return home
		case "OLLAMA_HOST":
			return r.ModelURL
		}
		return ""
	}
	r.Start()
	return r
}

func waits(p *gatewaytest.Peer, key, runID, text string) {
	p.T.Helper()
	p.Do(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: runID, AwaitModel: true}, nil)
}

func setup(p *gatewaytest.Peer, answer protocol.SetupAnswerParams) (s protocol.Setup) {
	p.T.Helper()
	if answer.Step == "" {
		p.Do(protocol.MethodSetupGet, protocol.SetupGetParams{Look: true}, &s)
	} else {
		p.Do(protocol.MethodSetupAnswer, answer, &s)
	}
	return s
}

// steps waits until the first steps stand as match says.
func steps(p *gatewaytest.Peer, what string, match func(protocol.Setup) bool) (s protocol.Setup) {
	p.T.Helper()
	if s = setup(p, protocol.SetupAnswerParams{}); match(s) {
		return s
	}
	p.Until(what, func(ev protocol.Event) bool {
		s = protocol.Setup{}
		return ev.Event == protocol.EventSetup && json.Unmarshal(ev.Payload, &s) == nil && match(s)
	})
	return s
}

func stepOf(s protocol.Setup, id string) string {
	for _, x := range s.Steps {
		if x.ID == id {
			return x.State
		}
	}
	return "none"
}

// A message that is sent before a model was chosen waits, also over a restart,
// and is answered by itself as soon as the person has said which.
func TestHeldMessageIsAnsweredByItself(t *testing.T) {
	r := newcomer(t, true)
	p := r.Connect()
	waits(p, "main", "first", "hello there")
	s := steps(p, "message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 })
	if s.Complete || stepOf(s, "model") != "open" || len(s.Choices) == 0 || s.Choices[0].Kind != "local" ||
		s.Choices[0].Model != "ollama/echo" {
		t.Fatalf("%+v", s)
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("%d requests to a model that nobody chose", n)
	}
	r.Restart()
	p = r.Connect()
	p.Do(protocol.MethodSessionsMessagesSubscribe, map[string]any{"key": "main"}, nil)
	steps(p, "message that waits after a restart", func(s protocol.Setup) bool { return s.Waiting == 1 })
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: s.Choices[0].ID})
	if end := p.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello there" {
		t.Errorf("%+v", end)
	}
	s = steps(p, "model that was chosen", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" && s.Doing == nil })
	if s.Model == nil || s.Model.Model != "ollama/echo" || !strings.HasPrefix(s.Model.Line, "Answered in ") || !s.Model.ChatOnly ||
		s.Waiting != 0 || s.Problem != "" {
		t.Errorf("%+v %+v", s, s.Model)
	}
	waits(p, "main", "second", "again")
	if end := p.Ended("second"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
	r.Restart()
	if s := setup(r.Connect(), protocol.SetupAnswerParams{}); stepOf(s, "model") != "done" {
		t.Errorf("forgotten: %+v", s)
	}
}

// Where nothing was found, whoever looks around first is answered by the guide.
func TestLookAroundFirst(t *testing.T) {
	r := newcomer(t, false)
	p := r.Connect()
	waits(p, "main", "first", "hello")
	s := steps(p, "message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 })
	if len(s.Choices) != 0 || s.Ollama || len(s.Downloads) == 0 || len(s.SignIns) == 0 {
		t.Errorf("%+v", s)
	}
	s = setup(p, protocol.SetupAnswerParams{Step: "model", Do: "skip"})
	if stepOf(s, "model") != "skipped" {
		t.Errorf("%+v", s)
	}
	if end := p.Ended("first"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "built-in guide") {
		t.Errorf("%+v", end)
	}
}

// Who chooses anew is answered meanwhile by what answers already.
func TestChooseAnew(t *testing.T) {
	p := newcomer(t, true).Connect()
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: "ollama/echo"})
	steps(p, "model", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" && s.Doing == nil })
	if s := setup(p, protocol.SetupAnswerParams{Step: "model", Do: "again"}); stepOf(s, "model") != "again" {
		t.Errorf("%+v", s)
	}
	waits(p, "main", "first", "hello")
	if end := p.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
	s := steps(p, "step", func(protocol.Setup) bool { return true })
	if stepOf(s, "model") != "again" || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	if s = setup(p, protocol.SetupAnswerParams{Step: "model", Do: "done"}); stepOf(s, "model") != "done" {
		t.Errorf("%+v", s)
	}
}

// Other clients are answered by what there is, as ever.
func TestOnlyWhoAsksForItWaits(t *testing.T) {
	p := newcomer(t, true).Connect()
	setup(p, protocol.SetupAnswerParams{}) // it has looked
	p.Send("main", "first", "hello")
	if end := p.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
}

// A model that is picked for the conversation answers the message that waits
// in it.
func TestPickedModelAnswersWhatWaits(t *testing.T) {
	p := newcomer(t, true).Connect()
	waits(p, "main", "first", "hello")
	steps(p, "message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 })
	p.Do("sessions.patch", map[string]any{"key": "main", "model": "ollama/echo"}, nil)
	if end := p.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
}

// What waits is answered by the model of a new server that the person chose, not by
// the first one that it lists; a model that fails lets it wait on.
func TestChosenModelOfAServerAnswersWhatWaits(t *testing.T) {
	r := newcomer(t, false)
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	p := r.Connect()
	waits(p, "main", "first", "hello")
	steps(p, "message that waits", func(s protocol.Setup) bool { return s.Waiting == 1 })
	p.Patch(map[string]any{"models": map[string]any{"providers": map[string]any{"mine": map[string]any{
		"baseUrl": srv.URL + "/v1", "api": "openai-completions",
		"models": []any{map[string]any{"id": "long-20"}, map[string]any{"id": "echo"}, map[string]any{"id": "fault-400"}},
	}}}})
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: "mine/fault-400"})
	s := steps(p, "model that fails", func(s protocol.Setup) bool { return s.Problem != "" })
	if s.Waiting != 1 || stepOf(s, "model") != "open" {
		t.Errorf("%+v", s)
	}
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: "mine/echo"})
	if end := p.Ended("first"); end.State != protocol.ChatFinal || end.Message.Text() != "echo: hello" {
		t.Errorf("%+v", end)
	}
}

// Who has set a model, or had conversations before, meets no first step.
func TestFirstStepsAreForNewcomers(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	waits(p, "main", "first", "hello")
	if end := p.Ended("first"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
	steps(p, "model that was set", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" })
}

// A download ends with a model that answers; a stop of Hearth does not end it.
func TestDownloadThenAnswer(t *testing.T) {
	r := newcomer(t, true)
	p := r.Connect()
	waits(p, "main", "first", "hello")
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "download", Model: "missing"})
	s := steps(p, "download that failed", func(s protocol.Setup) bool { return s.Problem != "" })
	if !strings.Contains(s.Problem, "missing") || s.Waiting != 1 || s.Doing != nil {
		t.Errorf("%+v", s)
	}
	setup(p, protocol.SetupAnswerParams{Step: "model", Do: "download", Model: "long-20"})
	if end := p.Ended("first"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
	s = steps(p, "model", func(s protocol.Setup) bool { return stepOf(s, "model") == "done" && s.Doing == nil })
	if s.Model.Model != "ollama/long-20" || s.Problem != "" {
		t.Errorf("%+v", s.Model)
	}
}

// A name becomes part of who the assistant is.
func TestNameTheAssistant(t *testing.T) {
	r := newcomer(t, false)
	p := r.Connect()
	s := setup(p, protocol.SetupAnswerParams{Step: "name", Do: "save", Name: "Ember\n# x", Style: "dry and brisk"})
	if stepOf(s, "name") != "done" {
		t.Errorf("%+v", s)
	}
	raw, err := os.ReadFile(filepath.Join(r.Env("HOME"), "Hearth", "IDENTITY.md"))
	if err != nil || !strings.Contains(string(raw), "- Name: Ember # x\n") || !strings.Contains(string(raw), "- Manner: dry and brisk\n") {
		t.Errorf("%v %q", err, raw)
	}
	if err := p.Call(t.Context(), protocol.MethodSetupAnswer, protocol.SetupAnswerParams{Step: "name", Do: "save", Name: " "},
		nil); err == nil {
		t.Error("an empty name was taken")
	}
}
