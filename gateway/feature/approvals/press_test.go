package approvals_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// said waits for the words that a press was answered with.
func said(t *testing.T, api *telegramtest.Server, press string) (words string) {
	t.Helper()
	gatewaytest.WaitFor(t, "the answer to a press", func() (ok bool) { words, ok = api.Said(press); return ok })
	return words
}

func button(t *testing.T, m telegramtest.Message, label string) string {
	t.Helper()
	i := slices.IndexFunc(m.Buttons, func(b telegramtest.Button) bool { return b.Label == label })
	if i < 0 {
		t.Fatalf("no button %q: %+v", label, m.Buttons)
	}
	return m.Buttons[i].Data
}

func pending(p *gatewaytest.Peer) int {
	var list []protocol.Approval
	p.Do(protocol.MethodExecApprovalList, nil, &list)
	return len(list)
}

// A button decides when the owner presses it below its own question, once, and never
// otherwise: not for somebody else who sends the same, in their chat or in a group, not
// below another message, not with what was never shown, not again.
func TestSec_A_EXEC_19_Buttons(t *testing.T) {
	const bert, group = int64(888), int64(-500)
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777", "888"},
		"owners": []string{"telegram:777"}, "groups": map[string]any{"-500": map[string]any{}}})
	api.AddChat(telegramtest.Chat{ID: bert, Type: "private"})
	api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
	owner, guest := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, telegramtest.Person{ID: bert, Name: "Bert"}
	stranger := telegramtest.Person{ID: 999, Name: "Eve"}
	api.AddChat(telegramtest.Chat{ID: 999, Type: "private"})

	api.Say(gatewaytest.Anna, owner, "run:echo hello", nil)
	asked := askedOnTelegram(t, api, gatewaytest.Anna, 1)
	yes := button(t, asked, "This time")
	for _, b := range asked.Buttons {
		if strings.Contains(b.Data, waits(t, p)) || len(b.Data) < 20 || len(b.Data) > 64 {
			t.Errorf("what a button sends is %q", b.Data)
		}
	}
	other := api.Say(gatewaytest.Anna, owner, "/whoami", nil)
	for name, press := range map[string]string{
		"a guest in their own chat":   api.Press(bert, guest, asked.ID, yes),
		"a stranger":                  api.Press(999, stranger, asked.ID, yes),
		"a guest in a group":          api.Press(group, guest, asked.ID, yes),
		"the owner in a group":        api.Press(group, owner, asked.ID, yes),
		"a guest in the owner's chat": api.Press(gatewaytest.Anna, guest, asked.ID, yes),
		"below another message":       api.Press(gatewaytest.Anna, owner, other, yes),
		"an answer that is not there": api.Press(gatewaytest.Anna, owner, asked.ID, yes[:len(yes)-1]+"9"),
		"a number with more":          api.Press(gatewaytest.Anna, owner, asked.ID, yes[:len(yes)-1]+"00"),
		"another question":            api.Press(gatewaytest.Anna, owner, asked.ID, "aaaaaaaaaaaaaaaaaaaa.0"),
		"a command":                   api.Press(gatewaytest.Anna, owner, asked.ID, "/approve "+waits(t, p)+" once"),
	} {
		if words := said(t, api, press); !strings.Contains(words, "Nothing was done") {
			t.Errorf("%s: %q", name, words)
		}
	}
	if pending(p) != 1 {
		t.Fatal("something was decided")
	}
	if m, _ := api.Message(gatewaytest.Anna, asked.ID); len(m.Buttons) == 0 {
		t.Error("the buttons are gone")
	}
	first := api.Press(gatewaytest.Anna, owner, asked.ID, yes)
	again := api.Press(gatewaytest.Anna, owner, asked.ID, button(t, asked, "No"))
	if words := said(t, api, first); !strings.Contains(words, "This time") {
		t.Errorf("%q", words)
	}
	if words := said(t, api, again); !strings.Contains(words, "answered already") {
		t.Errorf("pressed again: %q", words)
	}
	gatewaytest.WaitFor(t, "the command, and the end of the buttons", func() bool {
		m, _ := api.Message(gatewaytest.Anna, asked.ID)
		all := strings.Join(gatewaytest.Texts(api, gatewaytest.Anna), "\n")
		return len(m.Buttons) == 0 && strings.Contains(m.Text, "✓ This time") && strings.Contains(all, "Allowed (this time): Run echo hello")
	})
	late := api.Press(gatewaytest.Anna, owner, asked.ID, yes)
	if words := said(t, api, late); !strings.Contains(words, "answered already") {
		t.Errorf("pressed late: %q", words)
	}
}

// What is decided elsewhere takes the buttons away, and says how it ended.
func TestButtonsGoWhenItIsDecidedElsewhere(t *testing.T) {
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	owner := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	api.Say(gatewaytest.Anna, owner, "run:echo hello", nil)
	asked := askedOnTelegram(t, api, gatewaytest.Anna, 1)
	var list []protocol.Approval
	p.Do(protocol.MethodExecApprovalList, nil, &list)
	p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: list[0].ID, Decision: protocol.DecisionDeny}, nil)
	gatewaytest.WaitFor(t, "the end of the buttons", func() bool {
		m, _ := api.Message(gatewaytest.Anna, asked.ID)
		return len(m.Buttons) == 0 && strings.Contains(m.Text, "✗ Not allowed")
	})
	press := api.Press(gatewaytest.Anna, owner, asked.ID, button(t, asked, "This time"))
	if words := said(t, api, press); !strings.Contains(words, "over") {
		t.Errorf("%q", words)
	}
}

// A question whose gateway was started again is over, its buttons go, and a press of
// one, on its way all the while, does nothing.
func TestSec_A_EXEC_20_ButtonsAfterARestart(t *testing.T) {
	r, p, api := gatewaytest.NewPuppetRigOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	owner := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	api.Say(gatewaytest.Anna, owner, "run:echo hello", nil)
	asked := askedOnTelegram(t, api, gatewaytest.Anna, 1)
	_ = p.Close()
	r.Shutdown()
	press := api.Press(gatewaytest.Anna, owner, asked.ID, button(t, asked, "This time"))
	r.Start()
	if words := said(t, api, press); strings.Contains(words, "✓") && pending(r.Connect()) > 0 {
		t.Errorf("%q", words)
	}
	gatewaytest.WaitFor(t, "the end of the buttons", func() bool {
		m, _ := api.Message(gatewaytest.Anna, asked.ID)
		return len(m.Buttons) == 0
	})
	for _, text := range gatewaytest.Texts(api, gatewaytest.Anna) {
		if strings.HasPrefix(text, "Allowed") {
			t.Errorf("after a restart: %q", text)
		}
	}
	again := api.Press(gatewaytest.Anna, owner, asked.ID, button(t, asked, "This time"))
	if words := said(t, api, again); strings.Contains(words, "✓") {
		t.Errorf("%q", words)
	}
}
