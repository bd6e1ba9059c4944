package sessions_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Session page, "Gateway is the source of truth" and "Inspecting": a row tells the
// window of its model and how much of it is used, by what the service counted last,
// and /status says it.
func TestContextUsed(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{
		Raw: `{"models":{"providers":{"chat":{"models":[{"id":"echo","contextWindow":128000}]}}}}`}, nil)
	status := func(id string) string { return p.Say("main", id, "/status").Message.Text() }
	if got := status("s1"); !strings.Contains(got, "Context: 128K tokens") {
		t.Errorf("before the first answer: %s", got)
	}
	var last int
	for _, id := range []string{"a", "b"} {
		end := p.Say("main", id, "count me, please")
		last = end.Usage.TotalTokens
	}
	row := func() *protocol.SessionRow {
		var res protocol.SessionsGetResult
		p.Do(protocol.MethodSessionsGet, protocol.SessionKeyParams{Key: "main"}, &res)
		return res.Session
	}
	if s := row(); s.ContextTokens != 128_000 || s.ContextUsed != last || s.TotalTokens != 2*last {
		t.Errorf("the last call had %d tokens: %+v", last, s)
	}
	if got := status("s2"); !strings.Contains(got, "of 128K tokens, 0 %") {
		t.Errorf("after two answers: %s", got)
	}
	p.Say("main", "c", "/new chat/echo again")
	if s := row(); s.ContextUsed == 0 || s.ContextUsed > 2*last {
		t.Errorf("in a new session: %+v", s)
	}
}

// Session page, "Where state lives": a group is called by its subject, whatever was
// said in it first.
func TestGroupsAreCalledByTheirSubject(t *testing.T) {
	const group = int64(-720)
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"groups": map[string]any{"*": map[string]any{}}})
	p := r.Connect()
	api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
	api.Say(group, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "@"+telegramtest.BotName+" hi", nil)
	gatewaytest.WaitFor(t, "the answer", func() bool { return len(gatewaytest.Texts(api, group)) == 1 })
	gatewaytest.AnnaSays(api, "hello")
	gatewaytest.WaitSent(t, api, 1, "hello")
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{IncludeDerivedTitles: true}, &list)
	names := map[string]string{}
	for _, s := range list.Sessions {
		names[s.Kind] = s.DisplayName
		if want := map[string]string{"group": "Friends"}[s.Kind]; s.Subject != want || s.Room+s.GroupChannel+s.Space != "" {
			t.Errorf("%s: the subject is %q, the room %q in %q", s.Kind, s.Subject, s.Room, s.Space)
		}
	}
	if names["group"] != "Friends" || names["direct"] != "" {
		t.Errorf("called %v", names)
	}
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{Search: "friends"}, &list)
	if len(list.Sessions) != 1 {
		t.Errorf("found %d by the subject", len(list.Sessions))
	}
}
