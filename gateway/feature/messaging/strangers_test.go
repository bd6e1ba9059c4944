package messaging_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestStrangersForClients: OpenClaw's clients see who asks to be let in without their codes,
// let them in, the first as the owner, tell them, or take the request away.
func TestStrangersForClients(t *testing.T) {
	const bert, carl = int64(888), int64(999)
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"streaming": "off"})
	p := r.Connect()
	var list protocol.ChannelPairingList
	ask := func(id int64, name string) protocol.ChannelPairingRequest {
		t.Helper()
		api.AddChat(telegramtest.Chat{ID: id, Type: "private"})
		api.Say(id, telegramtest.Person{ID: id, Name: name}, "let me in", nil)
		gatewaytest.WaitFor(t, "the request of "+name, func() bool {
			list = protocol.ChannelPairingList{}
			p.Do(protocol.MethodChannelsPairingList, nil, &list)
			return len(list.Requests) == 1
		})
		return list.Requests[0]
	}
	a := ask(gatewaytest.Anna, "Anna")
	if len(list.Accounts) != 1 || list.Accounts[0].ChannelLabel != "Telegram" || !list.Accounts[0].NotifySupported ||
		list.CommandOwnerConfigured || list.Limits.PendingPerAccount != 3 || list.Limits.TTLMs != 3600000 {
		t.Errorf("%+v", list)
	}
	if a.SenderID != "777" || a.Channel != "telegram" || a.AccountID != "default" || a.Metadata["name"] != "Anna" || len(a.RequestID) < 20 ||
		a.SenderLabel != "telegramUserId" || a.CreatedAt == "" || a.ExpiresAt <= a.CreatedAt {
		t.Errorf("%+v", a)
	}
	var waits protocol.ContactsList
	p.Do(protocol.MethodContactsList, nil, &waits)
	if code := waits.Requests[0].Code; strings.Contains(a.RequestID, code) {
		t.Error("the code stands in it")
	}
	approve := protocol.ChannelPairingApproveParams{Channel: "telegram", AccountID: "default", RequestID: a.RequestID, Notify: true,
		BootstrapCommandOwner: true}
	var in protocol.ChannelPairingApproved
	p.Do(protocol.MethodChannelsPairingApprove, approve, &in)
	if (in != protocol.ChannelPairingApproved{RequestID: a.RequestID, SenderID: "777", Notification: "sent",
		CommandOwnerBootstrap: "configured"}) {
		t.Errorf("%+v", in)
	}
	gatewaytest.WaitSent(t, api, 2, "You may write to this assistant now")
	if said := p.Refused(protocol.MethodChannelsPairingApprove, approve); !strings.Contains(said, "no longer exists") {
		t.Error(said)
	}

	b := ask(bert, "Bert")
	if !list.CommandOwnerConfigured {
		t.Error("Anna is not the owner")
	}
	approve.RequestID, approve.Notify = b.RequestID, false
	p.Do(protocol.MethodChannelsPairingApprove, approve, &in)
	if in.CommandOwnerBootstrap != "already-configured" || in.Notification != "not-requested" {
		t.Errorf("%+v", in)
	}
	p.Do(protocol.MethodContactsList, nil, &waits)
	for _, c := range waits.Contacts {
		if c.Owner != (c.ID == "777") {
			t.Errorf("%+v", c)
		}
	}

	c := ask(carl, "Carl")
	dismiss := protocol.ChannelPairingDismissParams{Channel: "telegram", AccountID: "default", RequestID: c.RequestID}
	var gone protocol.ChannelPairingDismissed
	p.Do(protocol.MethodChannelsPairingDismiss, dismiss, &gone)
	if gone.SenderID != "999" || gone.RequestID != c.RequestID {
		t.Errorf("%+v", gone)
	}
	if said := p.Refused(protocol.MethodChannelsPairingDismiss, dismiss); !strings.Contains(said, "no longer exists") {
		t.Error(said)
	}
	if again := ask(carl, "Carl"); again.RequestID == c.RequestID { // they may ask again
		t.Error("a request came back")
	}
	for what, bad := range map[string]protocol.ChannelPairingListParams{"unknown pairing channel: smoke": {Channel: "smoke"}} {
		if said := p.Refused(protocol.MethodChannelsPairingList, bad); !strings.Contains(said, what) {
			t.Error(said)
		}
	}
	dismiss.AccountID = "work"
	if said := p.Refused(protocol.MethodChannelsPairingDismiss, dismiss); !strings.Contains(said, "does not use DM pairing: telegram:work") {
		t.Error(said)
	}
}
