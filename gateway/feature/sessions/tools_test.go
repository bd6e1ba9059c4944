package sessions_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSessionsSendWaitsForTheReply(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_send")
	p := r.Connect()
	p.Do(protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: "agent:main:other", Model: "chat/echo"}, nil)
	p.Send("main", "ask", `{"sessionKey":"agent:main:other","message":"are you there"}`)
	p.Ended("ask")
	if said := gatewaytest.LastAnswers(p, "main"); !strings.Contains(said, "EXTERNAL_UNTRUSTED_CONTENT") ||
		!strings.Contains(said, "are you there") {
		t.Errorf("it hears %s", said)
	}
	h := p.History("agent:main:other").Messages
	if len(h) != 2 || h[0].Provenance == nil || h[0].Provenance.SourceSessionKey != gatewaytest.MainKey ||
		!strings.Contains(h[0].ForAgent, "not from a person") {
		t.Errorf("%+v", h)
	}
	p.Send("main", "self", `{"sessionKey":"main","message":"hello me"}`)
	p.Ended("self")
	p.Send("main", "none", `{"sessionKey":"agent:main:nobody","message":"hello"}`)
	p.Ended("none")
	for _, want := range []string{"this is that session", "there is no session"} {
		if said := gatewaytest.LastAnswers(p, "main"); !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
}

func TestSessionStatusSwitchesTheModel(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-session_status")
	p := r.Connect()
	p.Send("main", "bad", `{"model":"nowhere/none"}`)
	if said := p.Ended("bad").Message.Text(); !strings.Contains(said, "No model here is called") {
		t.Errorf("%s", said)
	}
	p.Send("main", "good", `{"model":"chat/echo"}`)
	p.Ended("good")
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if s := list.Sessions[0]; s.ModelProvider != "chat" || s.Model != "echo" || s.OverrideSource != "user" {
		t.Errorf("%+v", s)
	}
	p.Send("main", "next", "which one")
	if said := p.Ended("next").Message.Text(); said != "echo: which one" {
		t.Errorf("%s", said)
	}
}
