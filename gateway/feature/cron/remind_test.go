package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A reminder of a conversation on the page reaches a person on the network that
// the settings name, with its receipt, and nowhere else when they say so.
func TestRemindersGoWhereThePersonWants(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"allowFrom": []string{"777"}})
	p := r.Connect()
	remind := func(text string) protocol.CronRun {
		return ran(p, t, addJob(p, protocol.CronSpec{
			Name: text, Schedule: soon(50 * time.Millisecond), SessionTarget: protocol.CronMain,
			Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: text}, Hearth: &protocol.CronOwn{Reminder: true},
		}).ID)
	}
	p.Patch(map[string]any{"cron": map[string]any{"remindTo": "telegram:777"}})
	if run := remind("drink water"); run.DeliveryStatus != protocol.CronDelivered || run.Hearth.DeliveryID == "" {
		t.Errorf("the run is %+v", run)
	}
	gatewaytest.WaitSent(t, api, 1, "drink water")
	p.Patch(map[string]any{"cron": map[string]any{"remindTo": "webchat"}})
	if run := remind("drink tea"); run.DeliveryStatus != protocol.CronDelivered || run.Hearth.DeliveryID != "" {
		t.Errorf("the run is %+v", run)
	}
	if sent := gatewaytest.Texts(api, gatewaytest.Anna); len(sent) != 1 {
		t.Errorf("sent was %q", sent)
	}
	said := p.Refused(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"cron":{"remindTo":"telegram"}}`})
	if !strings.Contains(said, "your chat there") {
		t.Errorf("a network without a chat: %s", said)
	}
}
