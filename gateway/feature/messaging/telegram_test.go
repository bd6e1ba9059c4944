package messaging_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A message on Telegram is answered on Telegram, in the main session that the
// owner's own clients see too.
func TestTelegramRoundTrip(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	p := r.Connect()
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "hello from the phone", nil)
	gatewaytest.WaitFor(t, "an answer", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], "hello from the phone")
	})
	var h protocol.ChatHistory
	gatewaytest.WaitFor(t, "the answer in the transcript", func() bool { // the chat shows it a little earlier
		h = p.History("main")
		return len(h.Messages) == 2
	})
	if h.Messages[0].Text() != "hello from the phone" || !strings.Contains(h.Messages[0].ForAgent, "[Telegram") {
		t.Fatalf("transcript: %+v", h.Messages)
	}
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, nil, &list)
	if o := list.Sessions[0].Origin; o == nil || o.Provider != "telegram" {
		t.Errorf("origin: %+v", o)
	}
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "/status", nil)
	gatewaytest.WaitFor(t, "the status", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 2 && strings.Contains(got[1], "Model:")
	})
	var st protocol.ChannelsStatus
	p.Do(protocol.MethodChannelsStatus, nil, &st)
	if acc := st.ChannelAccounts["telegram"]; len(acc) != 1 || !acc[0].Connected {
		t.Errorf("channels.status: %+v", st)
	}
}

// A stranger gets a code and nothing else until the owner approves it.
func TestTelegramStrangersArePaired(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", nil)
	p := r.Connect()
	stranger := telegramtest.Person{ID: gatewaytest.Anna, Name: "Somebody"}
	api.Say(gatewaytest.Anna, stranger, "let me in", nil)
	var reqs protocol.ContactsList
	gatewaytest.WaitFor(t, "a pairing request", func() bool {
		p.Do(protocol.MethodContactsList, nil, &reqs)
		return len(reqs.Requests) == 1
	})
	gatewaytest.WaitFor(t, "the code", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], reqs.Requests[0].Code)
	})
	if n := r.Model.Calls("let me in"); n != 0 {
		t.Errorf("the model was asked %d times for a stranger", n)
	}
	p.Do(protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: "telegram", Code: reqs.Requests[0].Code,
		Decision: "approve"}, nil)
	api.Say(gatewaytest.Anna, stranger, "thank you", nil)
	gatewaytest.WaitFor(t, "an answer after approval", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 2 && strings.Contains(got[1], "thank you")
	})
	for _, text := range []string{"/model list", "/new", "/reset"} { // the owner's
		api.Say(gatewaytest.Anna, stranger, text, nil)
	}
	api.Say(gatewaytest.Anna, stranger, "/whoami", nil)
	gatewaytest.WaitFor(t, "three refusals and the reply to /whoami", func() bool {
		return len(gatewaytest.Texts(api,
			gatewaytest.Anna)) == 6
	})
	for _, said := range gatewaytest.Texts(api, gatewaytest.Anna)[2:5] {
		if !strings.Contains(said, "is for the owner") {
			t.Errorf("the stranger was told %q", said)
		}
	}
}

// While a long answer is written the chat shows it in one message, which the
// final text takes over; nothing stands twice.
func TestTelegramPreviewBecomesTheAnswer(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/stream-150-20", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}})
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "count", nil)
	gatewaytest.WaitFor(t, "the whole answer", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], "w150")
	})
	if m := api.Sent(gatewaytest.Anna)[0]; m.Edits == 0 {
		t.Error("the answer was not shown while it was written")
	}
}

// A preview is never longer than textChunkLimit allows.
func TestTelegramPreviewKeepsToTheLimit(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/stream-200-10", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"},
		"textChunkLimit": 100})
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "count", nil)
	gatewaytest.WaitFor(t, "the whole answer", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) > 1 && strings.Contains(got[len(got)-1], "w200")
	})
	edits := api.Requests("editMessageText")
	for _, r := range append(edits, api.Requests("sendMessage")...) {
		if s, _ := r.Params["text"].(string); len(s) > 100 {
			t.Errorf("%d characters: %q", len(s), s)
		}
	}
}

// Streaming page: a reply to a part that was selected is not shown while it is
// written, because an edit would lose the quote.
func TestTelegramSelectedQuoteSkipsThePreview(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/stream-100-15", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}})
	said := api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "one two three", nil)
	gatewaytest.WaitFor(t, "the first answer", func() bool {
		return len(api.Sent(gatewaytest.Anna)) == 1 && strings.Contains(api.Sent(gatewaytest.Anna)[0].Text, "w100")
	})
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "what of this?", map[string]any{
		"reply_to_message": map[string]any{"message_id": said, "date": 1, "chat": map[string]any{"id": gatewaytest.Anna, "type": "private"},
			"text": "one two three"},
		"quote": map[string]any{"text": "two", "position": 4, "is_manual": true},
	})
	gatewaytest.WaitFor(t, "the second answer", func() bool {
		return len(api.Sent(gatewaytest.Anna)) == 2 && strings.Contains(api.Sent(gatewaytest.Anna)[1].Text, "w100")
	})
	if n := api.Sent(gatewaytest.Anna)[1].Edits; n != 0 {
		t.Errorf("the answer to a selected quote was edited %d times", n)
	}
}

// In groups commands after a mention are commands, and ask no model; those to
// somebody else are none of ours.
func TestTelegramGroupCommands(t *testing.T) {
	const group = int64(-700)
	r, api := gatewaytest.NewOnTelegram(t, "chat/stream-400-50", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"groups": map[string]any{"*": map[string]any{}}})
	me, at := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "@"+telegramtest.BotName
	api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
	api.Say(group, me, at+" /status", nil)
	gatewaytest.WaitFor(t, "the status", func() bool {
		return len(gatewaytest.Texts(api, group)) == 1 && strings.Contains(gatewaytest.Texts(api, group)[0], "Model:")
	})
	for _, stop := range []string{at + " stop", "stop " + at} {
		n := len(gatewaytest.Texts(api, group))
		api.Say(group, me, at+" count", nil)
		gatewaytest.WaitFor(t, "the beginning of an answer", func() bool { return len(gatewaytest.Texts(api, group)) == n+1 })
		api.Say(group, me, "@somebody stop", nil)
		api.Say(group, me, stop, nil)
		gatewaytest.WaitFor(t, "the reply to "+stop, func() bool {
			return strings.Contains(strings.Join(gatewaytest.Texts(api, group)[n:], "\n"), "Stopped.")
		})
		if got := strings.Join(gatewaytest.Texts(api, group), "\n"); strings.Contains(got, "w400") {
			t.Errorf("it went on: %q", got)
		}
		if n := r.Model.Calls(stop); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	}
}
