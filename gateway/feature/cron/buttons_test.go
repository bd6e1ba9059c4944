package cron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// withButton waits for a message that has a button of this name.
func withButton(t *testing.T, api *telegramtest.Server, label string) (m telegramtest.Message, data string) {
	t.Helper()
	gatewaytest.WaitFor(t, "the button "+label, func() bool {
		for _, m = range api.Sent(gatewaytest.Anna) {
			if i := slices.IndexFunc(m.Buttons, func(b telegramtest.Button) bool { return b.Label == label }); i >= 0 {
				data = m.Buttons[i].Data
				return true
			}
		}
		return false
	})
	return m, data
}

// A reminder on a network has buttons: pressed, it comes again later, and they go. They
// work also after the gateway was started again in between.
func TestRemindersHaveButtons(t *testing.T) {
	r, p, api := gatewaytest.NewPuppetRigOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	anna := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	p.Patch(map[string]any{"cron": map[string]any{"remindTo": "telegram:777"}})
	addJob(p, protocol.CronSpec{
		Name: "call mum", Schedule: soon(50 * time.Millisecond), SessionTarget: protocol.CronMain,
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "call mum"}, Hearth: &protocol.CronOwn{Reminder: true},
	})
	m, data := withButton(t, api, "In an hour")
	if !strings.Contains(m.Text, "call mum") {
		t.Errorf("%+v", m)
	}
	r.Shutdown()
	stranger := telegramtest.Person{ID: 999, Name: "Eve"}
	api.AddChat(telegramtest.Chat{ID: 999, Type: "private"})
	api.Press(999, stranger, m.ID, data)
	api.Press(gatewaytest.Anna, anna, m.ID, data)
	r.Start()
	p = r.Connect()
	gatewaytest.WaitFor(t, "the end of the buttons", func() bool {
		now, _ := api.Message(gatewaytest.Anna, m.ID)
		return len(now.Buttons) == 0 && strings.Contains(now.Text, "✓ In an hour")
	})
	gatewaytest.WaitFor(t, "the job", func() bool {
		var list protocol.CronList
		p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
		return slices.ContainsFunc(list.Jobs, func(j protocol.CronJob) bool { return strings.Contains(j.Name, "call mum") })
	})
}

// What the assistant would do is asked with Yes and No, and planned once.
func TestProposalsHaveButtons(t *testing.T) {
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	anna := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	api.Say(gatewaytest.Anna, anna, `run:@cron {"action":"propose","when":"tomorrow at nine","text":"Call mum","kind":"reminder"}`, nil)
	m, yes := withButton(t, api, "Yes")
	if jobs(p) != 0 {
		t.Error("it is planned before anybody said yes")
	}
	api.Press(gatewaytest.Anna, anna, m.ID, yes)
	again := api.Press(gatewaytest.Anna, anna, m.ID, yes)
	gatewaytest.WaitFor(t, "the second press", func() bool { words, ok := api.Said(again); return ok && strings.Contains(words, "already") })
	gatewaytest.WaitFor(t, "the job", func() bool { return jobs(p) == 1 })
	gatewaytest.WaitFor(t, "the end of the buttons", func() bool {
		now, _ := api.Message(gatewaytest.Anna, m.ID)
		return len(now.Buttons) == 0
	})
}
