package chat_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Directive stripping: a level in a message holds for its answer,
// and the model does not read it; what the person wrote stays as they wrote it.
func TestDirectivesHoldForOneMessage(t *testing.T) {
	r := gatewaytest.New(t, "chat/think")
	p := r.Connect()
	for _, tc := range []struct{ id, text, read, level string }{
		{"a", "/think high what is 1+1", "what is 1+1", `"high"`},
		{"b", "and 2+2", "and 2+2", ""},
		{"c", "please /think low now", "please now", `"low"`},
		{"d", "what does `/think high` do", "what does `/think high` do", ""},
		{"e", "/new /think high begin", "begin", `"high"`},
		{"f", "then", "then", ""},
	} {
		end := p.Say("main", tc.id, tc.text)
		if end.State != protocol.ChatFinal || end.Message.Text() != "echo: "+tc.read {
			t.Errorf("%s: %q", tc.text, end.Message.Text())
		}
		if got := r.Model.Snapshot().Thinking; got != tc.level {
			t.Errorf("%s: the model was told %q, want %q", tc.text, got, tc.level)
		}
	}
	var row protocol.SessionsGetResult
	p.Do(protocol.MethodSessionsGet, protocol.SessionKeyParams{Key: "main"}, &row)
	if row.Session.ThinkingLevel != "" {
		t.Errorf("the session's level became %q", row.Session.ThinkingLevel)
	}
	if got := row.Messages[0].Text(); got != "/new /think high begin" || row.Session.DerivedTitle != "what is 1+1" {
		t.Errorf("the person's words became %q, the title %q", got, row.Session.DerivedTitle)
	}
	if why := p.Say("main", "w", "/why e").Message.Text(); !strings.Contains(why, "this message asked for thinking high") {
		t.Errorf("/why: %s", why)
	}
}

// Alone, directives are the commands that they always were; wrong ones are told.
func TestDirectivesAloneHoldForTheSession(t *testing.T) {
	r := gatewaytest.New(t, "chat/think")
	p := r.Connect()
	if got := p.Say("main", "a", "/think high /verbose full").Message.Text(); !strings.Contains(got, "`/think` is now **high**") ||
		!strings.Contains(got, "`/verbose` is now **full**") {
		t.Errorf("two levels: %q", got)
	}
	if got := p.Say("main", "b", "hi").Message.Text(); got != "echo: hi" || r.Model.Snapshot().Thinking != `"high"` {
		t.Errorf("%q, the model was told %q", got, r.Model.Snapshot().Thinking)
	}
	if got := p.Say("main", "c", "/think off just say hi").Message.Text(); got != "echo: just say hi" || r.Model.Snapshot().Thinking != "" {
		t.Errorf("%q, the model was told %q", got, r.Model.Snapshot().Thinking)
	}
	if got := p.Say("main", "d", "/think hihg what is 1+1").Message.Text(); !strings.Contains(got, "can be off, low, medium, high") {
		t.Errorf("a level that there is not: %q", got)
	}
}

// A model is chosen for one message like a level, and a message that waits takes
// its own with it.
func TestModelForOneMessage(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-30-20")
	p := r.Connect()
	p.Send("main", "a", "first")
	p.Send("main", "b", "/model chat/echo second")
	p.Send("main", "c", "third")
	p.Do(protocol.MethodQueueEdit, protocol.QueueEditParams{Key: "main", RunID: "c", Message: "/model chat/think /think high third"}, nil)
	for id, want := range map[string]string{"a": "re: first\n", "b": "echo: second", "c": "echo: third"} {
		if got := p.Ended(id).Message.Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", id, got)
		}
	}
	if got := r.Model.Snapshot().Thinking; got != `"high"` {
		t.Errorf("the edited message told the model %q", got)
	}
	if got := p.Say("main", "d", "fourth").Message.Text(); !strings.HasPrefix(got, "re: fourth\n") {
		t.Errorf("the next message: %q", got)
	}
	if got := p.Say("main", "e", "/model nonsense/x what").Message.Text(); !strings.Contains(got, "No model here") {
		t.Errorf("a model that there is not: %q", got)
	}
}

// On Telegram they are taken out of the sender's own words, and out of no quote or
// history.
func TestDirectivesOnTelegram(t *testing.T) {
	const group = int64(-710)
	account := annaOwns()
	account["groups"] = map[string]any{"*": map[string]any{}}
	account["groupAllowFrom"] = []string{"777", "888"}
	r, api := gatewaytest.NewOnTelegram(t, "chat/think", account)
	gatewaytest.AnnaSays(api, "/think high what is 1+1")
	gatewaytest.WaitSent(t, api, 1, "what is 1+1")
	if got := gatewaytest.Texts(api, gatewaytest.Anna)[0]; strings.Contains(got, "/think") || r.Model.Snapshot().Thinking != `"high"` {
		t.Errorf("answered %q, the model was told %q", got, r.Model.Snapshot().Thinking)
	}
	gatewaytest.AnnaSays(api, "/reasoning on show me")
	gatewaytest.WaitSent(t, api, 2, "Let me think about that.")
	gatewaytest.AnnaSays(api, "and now")
	if got := gatewaytest.WaitSent(t, api, 3, "and now"); strings.Contains(got, "Let me think") || r.Model.Snapshot().Thinking != "" {
		t.Errorf("the next answer: %q", got)
	}
	at := "@" + telegramtest.BotName
	api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
	other := telegramtest.Person{ID: 888, Name: "Bob"}
	api.Say(group, other, "I like /think low a lot", nil)
	api.Say(group, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, at+" /think high do you", nil)
	gatewaytest.WaitFor(t, "the answer in the group", func() bool {
		return len(gatewaytest.Texts(api, group)) == 1 && strings.Contains(gatewaytest.Texts(api, group)[0],
			"do you")
	})
	if got := gatewaytest.Texts(api, group)[0]; !strings.Contains(got, "I like /think low a lot") || strings.Contains(got, "/think high") ||
		r.Model.Snapshot().Thinking != `"high"` {
		t.Errorf("answered %q, the model was told %q", got, r.Model.Snapshot().Thinking)
	}
}

// Whoever may not use a command may not use it in a message either.
func TestDirectivesOfGuests(t *testing.T) {
	account := map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}, "owners": []string{"telegram:1"}}
	r, api := gatewaytest.NewOnTelegram(t, "chat/think", account)
	gatewaytest.AnnaSays(api, "/think high what is 1+1")
	gatewaytest.WaitSent(t, api, 1, "is for the owner")
	gatewaytest.AnnaSays(api, "please /think high now")
	gatewaytest.WaitSent(t, api, 2, "please /think high now")
	if got := r.Model.Snapshot().Thinking; got != "" {
		t.Errorf("a guest told the model %q", got)
	}
}
