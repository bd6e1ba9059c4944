package sessions_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// earlier lists the conversations that were put aside in a session.
func earlier(p *gatewaytest.Peer, key string) []protocol.Earlier {
	p.T.Helper()
	var l protocol.EarlierList
	p.Do(protocol.MethodEarlier, protocol.EarlierParams{Key: key}, &l)
	return l.Earlier
}

// past reads one of them.
func past(p *gatewaytest.Peer, key, sessionID string) (h protocol.ChatHistory) {
	p.T.Helper()
	p.Do(protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: key, SessionID: sessionID}, &h)
	return h
}

// What a reset puts aside can be read by its session id, one before the other,
// and the chat keeps its name.
func TestEarlierConversationsAreRead(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	const key = "agent:main:chat:3f0c"
	p.Say(key, "a", "What is in this picture?")
	first := p.History(key).SessionID
	p.Say(key, "n1", "/new")
	p.Say(key, "b", "something else")
	second := p.History(key).SessionID
	p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key}, nil)
	now := p.History(key)
	if e := now.Earlier; e == nil || e.SessionID != second || e.Messages == 0 {
		t.Fatalf("the empty chat does not name what stood before: %+v", now)
	}
	h := past(p, key, second)
	if h.SessionID != second || h.InFlightRun != nil || h.Earlier == nil || h.Earlier.SessionID != first {
		t.Errorf("the second conversation reads %+v", h)
	}
	h = past(p, key, first)
	if len(h.Messages) != 2 || h.Messages[0].Text() != "What is in this picture?" || h.Earlier != nil {
		t.Errorf("the first conversation reads %+v", h)
	}
	if got := earlier(p, key); len(got) != 2 || got[0].SessionID != second || got[1].SessionID != first || got[1].Messages != 2 {
		t.Errorf("listed as %+v", got)
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{IncludeDerivedTitles: true}, &list)
	if s := list.Sessions[0]; s.Key != key || s.DerivedTitle != "What is in this picture?" {
		t.Errorf("the chat is now called %q", s.DerivedTitle)
	}
	for _, id := range []string{"nonsense", "00000000-0000-4000-8000-000000000000"} {
		var refusal *protocol.Error
		err := p.Call(t.Context(), protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: key, SessionID: id}, nil)
		if !errors.As(err, &refusal) {
			t.Errorf("%q was read: %v", id, err)
		}
	}
	p.Say("main", "m", "another session")
	var other protocol.ChatHistory
	if err := p.Call(t.Context(), protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main", SessionID: first},
		&other); err == nil {
		t.Errorf("another session's conversation was read under main: %+v", other)
	}
}

// An earlier conversation that is continued is a chat of its own: the model
// knows what was said, search finds it there, and it stays so after a restart.
func TestAnEarlierConversationIsContinued(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say("main", "a", "the blue lagoon")
	first := p.History("main").SessionID
	p.Say("main", "n", "/reset")
	p.Say("main", "b", "today's words")
	today := p.History("main")
	var c protocol.Continued
	p.Do(protocol.MethodContinue, protocol.ContinueParams{Key: "main", SessionID: first}, &c)
	if c.Session.SessionID != first || c.Session.DerivedTitle != "the blue lagoon" || c.Session.MessageCount != 2 {
		t.Fatalf("continued as %+v", c)
	}
	p.Say(c.Key, "d", "and its depth?")
	check := func(when string) {
		t.Helper()
		h := p.History(c.Key)
		if len(h.Messages) != 4 || h.Messages[0].Text() != "the blue lagoon" || h.Messages[2].Text() != "and its depth?" || h.Earlier != nil {
			t.Errorf("%s the chat reads %+v", when, h)
		}
		if h := p.History("main"); h.SessionID != today.SessionID || len(h.Messages) != len(today.Messages) || h.Earlier != nil {
			t.Errorf("%s the home chat reads %+v", when, h)
		}
	}
	titles := func() string {
		t.Helper()
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{IncludeDerivedTitles: true}, &list)
		out := map[string]string{}
		for _, s := range list.Sessions {
			out[s.Key] = s.DerivedTitle
		}
		return out[c.Key] + " | " + out["agent:main:main"]
	}
	if got := titles(); got != "the blue lagoon | today's words" {
		t.Errorf("the two chats are called %q", got)
	}
	check("at once")
	want := fmt.Sprint([]string{c.Key + " assistant echo: the blue lagoon", c.Key + " user the blue lagoon"})
	gatewaytest.WaitFor(t, "search to find it in its own chat", func() bool { return fmt.Sprint(p.Found("lagoon", "")) == want })
	gatewaytest.WaitFor(t, "search within the chat", func() bool { return fmt.Sprint(p.Found("lagoon", c.Key)) == want })
	var refusal *protocol.Error
	err := p.Call(t.Context(), protocol.MethodContinue, protocol.ContinueParams{Key: "main", SessionID: first}, nil)
	if !errors.As(err, &refusal) {
		t.Errorf("it was continued twice: %v", err)
	}
	if err := p.Call(t.Context(), protocol.MethodContinue, protocol.ContinueParams{Key: "main", SessionID: today.SessionID}, nil); err == nil {
		t.Error("the conversation that is open was taken out of its chat")
	}
	r.Restart()
	p = r.Connect()
	check("after a restart")
	gatewaytest.WaitFor(t, "search after a restart", func() bool { return fmt.Sprint(p.Found("lagoon", "")) == want })
}

// The chat that a conversation was taken out of is named by what is said next
// when nothing stands in it; a name that a person gave stays.
func TestAChatIsNamedAnewWhenItsConversationIsContinuedElsewhere(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	title := func(key string) (found string) {
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{IncludeDerivedTitles: true}, &list)
		for _, s := range list.Sessions {
			if s.Key == key {
				found = s.Label + "/" + s.DerivedTitle
			}
		}
		return found
	}
	for _, named := range []bool{false, true} {
		key, want := "agent:main:chat:11", "/the green hill"
		if named {
			key, want = "agent:main:chat:22", "Trip/the blue lagoon"
		}
		p.Say(key, "a"+key, "the blue lagoon")
		first := p.History(key).SessionID
		if named {
			label := "Trip"
			p.Do(protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: key, Label: protocol.Patch[string]{Set: true, Value: &label}},
				nil)
		}
		p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key}, nil)
		p.Do(protocol.MethodContinue, protocol.ContinueParams{Key: key, SessionID: first}, nil)
		p.Say(key, "b"+key, "the green hill")
		if got := title(key); got != want {
			t.Errorf("named %v: the chat is called %q", named, got)
		}
	}
}
