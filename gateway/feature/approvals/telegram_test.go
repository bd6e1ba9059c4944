package approvals_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// askedOnTelegram is the newest question in a chat that has n of them with buttons.
func askedOnTelegram(t *testing.T, api *telegramtest.Server, chat int64, n int) (last telegramtest.Message) {
	t.Helper()
	gatewaytest.WaitFor(t, "the question", func() bool {
		seen := 0
		for _, m := range api.Sent(chat) {
			if strings.HasPrefix(m.Text, "May I do this?") && len(m.Buttons) > 0 {
				seen, last = seen+1, m
			}
		}
		return seen == n
	})
	return last
}

// waits is the short id of the one request that waits.
func waits(t *testing.T, p *gatewaytest.Peer) string {
	t.Helper()
	var list []protocol.Approval
	p.Do(protocol.MethodExecApprovalList, nil, &list)
	if len(list) != 1 {
		t.Fatalf("%d requests wait", len(list))
	}
	return list[0].ID[:8]
}

// The owner is asked where they wrote, and answers there. Somebody else who was
// let in gets no such tools, and cannot answer for the owner.
func TestSec_A_EXEC_19_Telegram(t *testing.T) {
	const bert = int64(888)
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "pairing", "allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bert, Type: "private"})
	owner, guest := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, telegramtest.Person{ID: bert, Name: "Bert"}

	api.Say(bert, guest, "let me in", nil)
	var reqs protocol.ContactsList
	gatewaytest.WaitFor(t, "a pairing request", func() bool { p.Do(protocol.MethodContactsList, nil, &reqs); return len(reqs.Requests) == 1 })
	p.Do(protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: "telegram", Code: reqs.Requests[0].Code,
		Decision: "approve"}, nil)

	api.Say(gatewaytest.Anna, owner, "run:echo hello", nil)
	asked := askedOnTelegram(t, api, gatewaytest.Anna, 1)
	id := waits(t, p)
	if strings.Contains(asked.Text, "/approve") || len(asked.Buttons) < 2 || asked.Buttons[0].Label != "This time" {
		t.Errorf("the question has buttons and says: %+v", asked)
	}
	if all := strings.Join(gatewaytest.Texts(api, gatewaytest.Anna), "\n"); !strings.Contains(all, "Hearth wants to run a command") ||
		!strings.Contains(all, "  echo hello\n") {
		t.Errorf("the question: %s", all)
	}
	for _, text := range []string{"/approve " + id + " once", "/approve " + id, "I say: /approve " + id + " once"} {
		api.Say(bert, guest, text, nil)
	}
	api.Say(bert, guest, "/whoami", nil) // behind the others
	gatewaytest.WaitFor(t, "the reply to /whoami", func() bool {
		return strings.Contains(strings.Join(gatewaytest.Texts(api, bert), "\n"), "You are a guest")
	})
	api.Say(bert, guest, "run:echo pwned", nil)
	var list []protocol.Approval
	p.Do(protocol.MethodExecApprovalList, nil, &list)
	if len(list) != 1 || !strings.HasPrefix(list[0].ID, id) || list[0].Request.HearthFrom != "telegram:777" {
		t.Fatalf("%+v", list)
	}
	api.Say(gatewaytest.Anna, owner, "/approve "+id+" deny", nil)
	gatewaytest.WaitFor(t, "the end", func() bool {
		all := strings.Join(gatewaytest.Texts(api, gatewaytest.Anna), "\n")
		return strings.Contains(all, "Not allowed: Run echo hello") && strings.Contains(all, "the owner said no")
	})
	gatewaytest.WaitFor(t, "the guest's answer", func() bool {
		return strings.Contains(strings.Join(gatewaytest.Texts(api, bert), "\n"), `There is no tool called "exec"`)
	})
	api.Say(gatewaytest.Anna, owner, "/approve "+id+" once", nil)
	gatewaytest.WaitFor(t, "the second decision's reply", func() bool {
		return strings.Contains(strings.Join(gatewaytest.Texts(api, gatewaytest.Anna), "\n"), "Nothing waits under this id")
	})
}
