package inbound

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
)

func customer(id, text string) channel.Inbound {
	in := group(id, text, true)
	in.Conversation, in.Behalf, in.Label = "business:c:42", "77", "Bea, a customer of Ann"
	return in
}

// Customers are guests whatever the policies are, get no code, and are nobody's owner
// there: not even the owner, who may write to somebody's shop too.
func TestCustomersAreGuests(t *testing.T) {
	in := customer("1", "hi")
	for _, p := range []Policy{{}, {DM: DMDisabled, Group: GroupDisabled}, {DM: DMOpen, Owners: []string{"42"}}} {
		if v := p.admit(in, &contact.Contact{Owner: true}); v.rule != RuleAccepted || v.owner || v.shared {
			t.Errorf("%+v: %+v", p, v)
		}
	}
	in.Mentioned = false
	if v := (Policy{}).admit(in, nil); v.rule != RuleMention {
		t.Errorf("%+v", v)
	}
	in.SenderIsBot = true
	if v := (Policy{}).admit(in, nil); v.rule != RuleBot {
		t.Errorf("%+v", v)
	}
}

func TestConversationInSomebodysName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t)
		h.policy = Policy{}
		h.settings.Debounce = time.Second
		h.run()
		own := customer("1", "we close at six")
		own.Mentioned, own.SenderID, own.SenderName = false, "77", "Ann"
		gone := customer("2", "my password is hunter2")
		gone.Mentioned, gone.SenderID = false, "77"
		h.receive(own)
		h.receive(gone)
		gone.Edited, gone.Withdrawn, gone.Text, gone.Mentioned = true, true, "", true
		h.receive(gone)
		h.receive(customer("3", "when do you close?"))
		slip := customer("4", "secret slip")
		h.receive(slip)
		slip.Edited, slip.Withdrawn, slip.Text = true, true, ""
		h.receive(slip)
		pass(5 * time.Second)
		synctest.Wait()
		h.sessions.mu.Lock()
		defer h.sessions.mu.Unlock()
		if len(h.sessions.got) != 1 {
			t.Fatalf("%+v", h.sessions.got)
		}
		a := h.sessions.got[0]
		if a.SenderIsOwner || a.SessionKey != "agent:main:telegram:group:business%3Ac%3A42" || !strings.Contains(a.Text, "we close at six") ||
			!strings.Contains(a.Text, "when do you close?") || strings.Contains(a.Text, "hunter2") || strings.Contains(a.Text, "slip") ||
			!strings.Contains(a.Text, "a customer of Ann") || !strings.Contains(a.Text, withdrawn) {
			t.Errorf("%s\n%+v", a.Text, a)
		}
		if len(h.told) != 0 {
			t.Errorf("somebody was told: %q", h.told)
		}
	})
}
