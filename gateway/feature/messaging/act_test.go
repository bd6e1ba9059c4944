package messaging_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The assistant puts an emoji on what it answers, makes a poll, pins and changes what it
// wrote, where it is told to; what a network cannot it says.
func TestMessageActionsOnTelegram(t *testing.T) {
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	anna := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}
	tell := func(args string) (asked int64, said string) {
		t.Helper()
		asked = api.Say(gatewaytest.Anna, anna, "run:@message "+args, nil)
		gatewaytest.WaitFor(t, "the answer to "+args, func() bool {
			for _, m := range api.Sent(gatewaytest.Anna) {
				if m.ID > asked && len(m.Options) == 0 && !strings.HasPrefix(m.Text, "•") { // that shows the tool at work
					said = m.Text
					return true
				}
			}
			return false
		})
		return asked, said
	}
	asked, _ := tell(`{"action":"react","emoji":"👍"}`)
	if m, _ := api.Message(gatewaytest.Anna, asked); !slices.Equal(m.Reactions, []string{"👍"}) {
		t.Errorf("%+v", m)
	}
	asked, _ = tell(`{"action":"pin"}`)
	if m, _ := api.Message(gatewaytest.Anna, asked); !m.Pinned {
		t.Errorf("%+v", m)
	}
	tell(`{"action":"poll","pollQuestion":"Where to?","pollOption":["Sea","Mountains"]}`)
	if !slices.ContainsFunc(api.Sent(gatewaytest.Anna), func(m telegramtest.Message) bool {
		return m.Text == "Where to?" && slices.Equal(m.Options, []string{"Sea", "Mountains"})
	}) {
		t.Errorf("no poll: %q", gatewaytest.Texts(api, gatewaytest.Anna))
	}
	if _, said := tell(`{"action":"read"}`); !strings.Contains(said, "on Telegram Hearth cannot read what was said before") {
		t.Errorf("%q", said)
	}
	if _, said := tell(`{"action":"search"}`); !strings.Contains(said, "search needs query") {
		t.Errorf("%q", said)
	}
	if _, said := tell(`{"action":"search","query":"sea"}`); !strings.Contains(said, "on Telegram Hearth cannot read what was said before") {
		t.Errorf("%q", said)
	}
	if _, said := tell(`{"action":"poll","pollQuestion":"One?","pollOption":["only"]}`); !strings.Contains(said, "2 to 20 answers") {
		t.Errorf("%q", said)
	}
	var list []protocol.Approval
	if p.Do(protocol.MethodExecApprovalList, nil, &list); len(list) != 0 {
		t.Errorf("it was asked for: %+v", list)
	}
}

// What somebody else wrote is deleted when the owner said yes to just that, and what is
// done in another chat is asked for as well.
func TestSec_A_INJ_01_ActionsAreAskedFor(t *testing.T) {
	const bert = int64(888)
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bert, Type: "private"})
	first := api.Say(bert, telegramtest.Person{ID: bert, Name: "Bert"}, "what I wrote", nil)
	for i, args := range []string{
		`{"action":"delete","channel":"telegram","target":"888","messageId":"1"}`,
		`{"action":"react","channel":"telegram","target":"888","messageId":"1","emoji":"👍"}`,
		`{"action":"pin","channel":"telegram","target":"888","messageId":"1"}`,
		`{"action":"poll","channel":"telegram","target":"888","pollQuestion":"Your key?","pollOption":["a","b"]}`,
	} {
		run := string(rune('a' + i))
		p.Send("main", run, "run:@message "+args)
		a := gatewaytest.Question(p, i+1)
		if a.Request.HearthKind != "send" || slices.Contains(a.Request.HearthScopes, "here") {
			t.Errorf("%s: %+v", args, a.Request)
		}
		p.Do(protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, HearthScope: "deny"}, new(protocol.OKResult))
		p.Ended(run)
	}
	if m, ok := api.Message(bert, first); !ok || len(m.Reactions) > 0 || m.Pinned || len(api.Sent(bert)) != 0 {
		t.Errorf("something was done: %+v, %q", m, gatewaytest.Texts(api, bert))
	}
}
