package messaging_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// An answer whose file Telegram did not take arrived with words in its place: the
// list of deliveries says so and why, and does not count it among those that
// somebody has to decide about.
func TestDeliveriesTellOfFilesThatWereReplaced(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"streaming": "off"})
	p := r.Connect()
	pic := gatewaytest.PutFile(t, workspaceOf(t, r), "pic.png", gatewaytest.Pixels(t, 30))
	api.Fail("sendPhoto", telegramtest.Fault{Status: 400, Description: "Bad Request: PHOTO_INVALID_DIMENSIONS"})
	api.Fail("sendDocument", telegramtest.Fault{Status: 400, Description: "Bad Request: file is broken"})
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "here you are\nMEDIA:./pic.png", nil)
	gatewaytest.WaitFor(t, "the words", func() bool {
		got := api.Sent(gatewaytest.Anna)
		return len(got) == 1 && got[0].File == nil && strings.Contains(got[0].Text, "could not be sent")
	})
	var list protocol.DeliveriesList
	gatewaytest.WaitFor(t, "the end of the delivery", func() bool {
		list = protocol.DeliveriesList{}
		p.Do(protocol.MethodDeliveriesList, nil, &list)
		return len(list.Deliveries) == 0
	})
	if len(list.Incomplete) != 1 || !strings.Contains(list.Incomplete[0].Reason, "a file was not sent: ") {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(pic); err != nil {
		t.Error(err)
	}
}
