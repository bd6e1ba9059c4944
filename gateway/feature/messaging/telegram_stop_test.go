package messaging_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What is said at once after a stop is answered, whatever the mode of the queue:
// also when it is said in the words and in the second of what was stopped, as one
// does who corrects a slip.
func TestTelegramSaidAtOnceAfterAStop(t *testing.T) {
	const group = int64(-700)
	for _, mode := range []string{"steer", "followup", "collect", "interrupt"} {
		t.Run(mode, func(t *testing.T) {
			_, api := gatewaytest.NewOnTelegram(t, "chat/stream-400-50", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
				"groups": map[string]any{"*": map[string]any{}}})
			me, at := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "@"+telegramtest.BotName
			api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
			second := map[string]any{"date": time.Now().Unix()}
			api.Say(group, me, at+" /queue "+mode, second)
			gatewaytest.WaitFor(t, "the mode", func() bool { return len(gatewaytest.Texts(api, group)) == 1 })
			for n := range 3 {
				api.Say(group, me, at+" count", second)
				gatewaytest.WaitFor(t, "the beginning of an answer", func() bool { return len(gatewaytest.Texts(api, group)) == 2*n+2 })
				api.Say(group, me, at+" stop", second)
				gatewaytest.WaitFor(t, "the reply to stop", func() bool { return len(gatewaytest.Texts(api, group)) == 2*n+3 })
			}
			stops := slices.DeleteFunc(gatewaytest.Texts(api, group), func(s string) bool { return s != "Stopped." })
			if len(stops) != 3 || strings.Contains(strings.Join(gatewaytest.Texts(api, group), "\n"), "w400") {
				t.Errorf("%q", gatewaytest.Texts(api, group))
			}
		})
	}
}

// The same on the page and in the terminal, which name each message by a key.
func TestPageSaidAtOnceAfterAStop(t *testing.T) {
	r, _ := gatewaytest.NewOnTelegram(t, "chat/stream-400-50", nil)
	p := r.Connect()
	for n := range 4 {
		key := string(rune('a' + n))
		p.Do(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "count", IdempotencyKey: key}, nil)
		gatewaytest.WaitFor(t, "an answer that is written", func() bool {
			h := p.History("main")
			return h.InFlightRun != nil && h.InFlightRun.RunID == key && h.InFlightRun.Text != ""
		})
		p.Do(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "/stop", IdempotencyKey: key + "-stop"}, nil)
	}
	gatewaytest.WaitFor(t, "the end of all", func() bool {
		ended := 0
		for _, m := range p.History("main").Messages {
			if m.Role == protocol.MessageUser && m.Text() == "count" && m.Hearth != nil && m.Hearth.State == protocol.ReceiptAborted {
				ended++
			}
		}
		return ended == 4
	})
}

// Messages that gave way because too many waited are said in their chat, once for
// a flood of them.
func TestTelegramTellsOfDroppedMessages(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/stream-400-50", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	me := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	api.Say(gatewaytest.Anna, me, "/queue followup cap:1 drop:old", nil)
	gatewaytest.WaitFor(t, "the mode", func() bool { return len(gatewaytest.Texts(api, gatewaytest.Anna)) == 1 })
	for _, text := range []string{"one", "two", "three", "four"} {
		api.Say(gatewaytest.Anna, me, text, nil)
	}
	notices := func() (n int) {
		for _, s := range gatewaytest.Texts(api, gatewaytest.Anna) {
			if strings.Contains(s, "Too many messages were waiting") {
				n++
			}
		}
		return n
	}
	gatewaytest.WaitFor(t, "a notice", func() bool { return notices() == 1 })
	api.Say(gatewaytest.Anna, me, "five", nil)
	api.Say(gatewaytest.Anna, me, "stop", nil)
	gatewaytest.WaitFor(t, "the stop", func() bool {
		return slices.ContainsFunc(gatewaytest.Texts(api, gatewaytest.Anna), func(s string) bool { return strings.HasPrefix(s, "Stopped") })
	})
	if n := notices(); n != 1 {
		t.Errorf("%d notices", n)
	}
}
