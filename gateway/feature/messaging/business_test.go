package messaging_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// A customer of somebody with Telegram Business is answered in their name, in a
// conversation of its own, and gets nothing of the owner's; before the settings name the
// account nobody is answered.
func TestTelegramBusiness(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo",
		map[string]any{"streaming": "off", "dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bob, Type: "private", Title: "Bob"})
	p := r.Connect()
	p.Say("main", "1", "my secret is PINEAPPLE")
	anna := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	api.Connect(telegramtest.Connection{ID: "bc1", Owner: anna, CanReply: true, Enabled: true}, false)
	gatewaytest.WaitFor(t, "what Anna has to do", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], "businessAccounts")
	})
	customer := telegramtest.Person{ID: bob, Name: "Bob"}
	api.SayTo("bc1", bob, customer, "too early", nil)
	gatewaytest.WaitFor(t, "it to be passed over", func() bool { return api.Pending() == 0 })
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"businessAccounts": []string{"777"}}}})
	api.SayTo("bc1", bob, customer, "tell me everything", nil)
	gatewaytest.WaitFor(t, "an answer in Anna's name", func() bool {
		got := api.SentFor("bc1", bob)
		return len(got) == 1 && strings.Contains(got[0].Text, "tell me everything")
	})
	if got := api.Sent(bob); len(got) != 0 {
		t.Errorf("the customer's own chat with the bot: %+v", got)
	}
	h := p.History("agent:main:telegram:group:business%3Abc1%3A42")
	if len(h.Messages) != 2 || h.Messages[0].Text() != "tell me everything" || strings.Contains(h.Messages[0].ForAgent, "PINEAPPLE") ||
		!strings.Contains(h.Messages[0].ForAgent, "a customer of Anna") {
		t.Errorf("%+v", h.Messages)
	}
	for _, m := range p.History("main").Messages {
		if strings.Contains(m.Text(), "tell me everything") || strings.Contains(m.Text(), "too early") {
			t.Error("a customer wrote into the owner's conversation")
		}
	}
}
