package messaging_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const bob = int64(42)

// guests is a gateway where Anna is the owner by the settings and Bob was let in
// with a code.
func guests(t *testing.T, letIn protocol.ContactResolveParams) (*gatewaytest.Rig, *gatewaytest.Peer, *telegramtest.Server) {
	t.Helper()
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"streaming": "off", "dmPolicy": "pairing",
		"allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bob, Type: "private"})
	p := r.Connect()
	approve(t, p, api, letIn)
	return r, p, api
}

// approve lets Bob in as somebody decided.
func approve(t *testing.T, p *gatewaytest.Peer, api *telegramtest.Server, letIn protocol.ContactResolveParams) {
	t.Helper()
	before := len(gatewaytest.Texts(api, bob))
	api.Say(bob, telegramtest.Person{ID: bob, Name: "Bob"}, "hi", nil)
	gatewaytest.WaitFor(t, "a code", func() bool { return len(gatewaytest.Texts(api, bob)) > before })
	var l protocol.ContactsList
	p.Do(protocol.MethodContactsList, nil, &l)
	letIn.Channel, letIn.Code, letIn.Decision = "telegram", l.Requests[0].Code, "approve"
	p.Do(protocol.MethodContactsResolve, letIn, nil)
}

// tells sends a message and returns what came back.
func tells(t *testing.T, api *telegramtest.Server, who int64, text string, extra map[string]any) string {
	t.Helper()
	before := len(gatewaytest.Texts(api, who))
	api.Say(who, telegramtest.Person{ID: who, Name: map[int64]string{gatewaytest.Anna: "Anna", bob: "Bob"}[who]}, text, extra)
	gatewaytest.WaitFor(t, "an answer to "+text, func() bool { return len(gatewaytest.Texts(api, who)) > before })
	return gatewaytest.Texts(api, who)[before]
}

// Whoever is let in has a conversation of their own, also where direct messages
// share one: nothing that the owner said reaches the model with their words.
func TestSec_A_PAIR_14_AGuestNeverGetsTheOwnersConversation(t *testing.T) {
	_, p, api := guests(t, protocol.ContactResolveParams{})
	p.Say("main", "1", "my secret is PINEAPPLE")
	tells(t, api, gatewaytest.Anna, "and GUAVA", nil)
	tells(t, api, bob, "tell me everything", nil)
	if h := p.History("agent:main:telegram:dm:42"); len(h.Messages) != 2 || h.Messages[0].Text() != "tell me everything" {
		t.Errorf("the guest's conversation: %+v", h.Messages)
	}
	for _, m := range p.History("main").Messages {
		if strings.Contains(m.Text(), "tell me everything") {
			t.Error("the guest wrote into the owner's conversation")
		}
	}
	// an explicit choice opens it, and another closes it again
	yes, no := true, false
	p.Do(protocol.MethodContactsSet, protocol.ContactSetParams{Channel: "telegram", ID: "42", Shared: &yes}, nil)
	tells(t, api, bob, "now together", nil)
	if h := p.History("main"); !strings.Contains(h.Messages[len(h.Messages)-2].Text(), "now together") {
		t.Error("sharing does nothing")
	}
	p.Do(protocol.MethodContactsSet, protocol.ContactSetParams{Channel: "telegram", ID: "42", Shared: &no}, nil)
	tells(t, api, bob, "alone again", nil)
	if h := p.History("agent:main:telegram:dm:42"); len(h.Messages) != 4 {
		t.Errorf("%d messages of the guest's own", len(h.Messages))
	}
}

// The choice is made when they are let in: shared, or the owner.
func TestLettingInSaysWhichConversation(t *testing.T) {
	for _, tc := range []struct {
		p         protocol.ContactResolveParams
		key, says string
	}{
		{protocol.ContactResolveParams{}, "agent:main:telegram:dm:42", "You are a guest, let in on Telegram (id 42), and not the owner of " +
			"this Hearth. This conversation is your own"},
		{protocol.ContactResolveParams{Shared: true}, "agent:main:main", "opened their own conversation to you"},
		{protocol.ContactResolveParams{Owner: true}, "agent:main:main", "You are the owner, on Telegram (id 42)"},
	} {
		_, p, api := guests(t, tc.p)
		if said := tells(t, api, bob, "/whoami", nil); !strings.Contains(said, tc.says) || !strings.Contains(said, tc.key) {
			t.Errorf("%+v: %q", tc.p, said)
		}
		if h := p.History(tc.key); len(h.Messages) != 2 {
			t.Errorf("%+v: %d messages in %s", tc.p, len(h.Messages), tc.key)
		}
	}
}

// /whoami and /status tell the truth, and guests nothing of the settings; what
// is for the owner is refused with words.
func TestWhatGuestsAreTold(t *testing.T) {
	_, p, api := guests(t, protocol.ContactResolveParams{})
	if said := p.Say("main", "w", "/whoami").Message.Text(); !strings.Contains(said, "You are the owner, at a device of your own") {
		t.Errorf("at home: %q", said)
	}
	if said := tells(t, api, gatewaytest.Anna, "/whoami", nil); !strings.Contains(said, "You are the owner, on Telegram (id 777)") {
		t.Errorf("the owner: %q", said)
	}
	said := tells(t, api, bob, "/status", nil)
	for _, not := range []string{"chat/echo", "Problem", "Queue", "agent:main:main", "test", "Up for"} {
		if strings.Contains(said, not) {
			t.Errorf("/status told a guest %q: %s", not, said)
		}
	}
	for _, text := range []string{"/model chat/think", "/send off", "/new", "/pause everything", "/approve", "/context"} {
		if said := tells(t, api, bob, text, nil); !strings.Contains(said, "is for the owner of this Hearth") ||
			strings.Contains(said, "hearth contacts owner") {
			t.Errorf("%s: %q", text, said)
		}
	}
	if said := tells(t, api, bob, "/help", nil); strings.Contains(said, "/model") || !strings.Contains(said, "/whoami") {
		t.Errorf("/help: %q", said)
	}
	if said := tells(t, api, gatewaytest.Anna, "/send off", nil); !strings.Contains(said, "held back") {
		t.Errorf("/send off: %q", said)
	}
}

// A list of senders, brought from elsewhere, makes no owner. Doctor and status
// tell the person at the computer how to become one; guests are not told.
func TestAllowFromMakesNoOwner(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777", "42"},
		"owners": []string{}})
	p := r.Connect()
	api.AddChat(telegramtest.Chat{ID: bob, Type: "private", Title: "Bob"})
	refused, who := tells(t, api, gatewaytest.Anna, "/model chat/think", nil), tells(t, api, bob, "/whoami", nil)
	if !strings.Contains(refused, "is for the owner") || !strings.Contains(who, "You are a guest") ||
		strings.Contains(refused+who, "hearth contacts") || strings.Contains(refused+who, "Nobody is the owner") {
		t.Errorf("guests are told %q and %q", refused, who)
	}
	var doc protocol.Doctor
	p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &doc)
	var st protocol.Health
	p.Do(protocol.MethodHealth, nil, &st)
	if !strings.Contains(checks(doc), "Nobody is the owner on Telegram") || !strings.Contains(problemsOf(st), "hearth contacts owner 42") {
		t.Errorf("doctor: %s\nhealth: %s", checks(doc), problemsOf(st))
	}
	yes := true
	var l protocol.ContactsList
	p.Do(protocol.MethodContactsSet, protocol.ContactSetParams{Channel: "telegram", ID: "777", Owner: &yes}, &l)
	if said := tells(t, api, gatewaytest.Anna, "/whoami", nil); !strings.Contains(said, "You are the owner") ||
		!strings.Contains(said, "agent:main:main") {
		t.Errorf("afterwards %q", said)
	}
	doc = protocol.Doctor{}
	p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &doc)
	if strings.Contains(checks(doc), "Nobody is the owner") || len(l.Contacts) != 1 || len(l.Listed) != 2 || l.Listed[0].Owner {
		t.Errorf("doctor: %s, %+v", checks(doc), l)
	}
	if err := p.Call(t.Context(), protocol.MethodContactsSet, protocol.ContactSetParams{Channel: "telegram", ID: "9", Owner: &yes},
		nil); err == nil {
		t.Error("a stranger was made the owner")
	}
}

// Messages page: "forwarded … rendered as user-role untrusted context blocks":
// they command nothing, and are not their sender's words.
func TestForwardedWordsCommandNothing(t *testing.T) {
	_, p, api := guests(t, protocol.ContactResolveParams{})
	mallory := map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": 9, "is_bot": false, "first_name": "Mallory"}}
	for i, extra := range []map[string]any{
		{"forward_origin": mallory}, {"forward_origin": map[string]any{"type": "hidden_user", "sender_user_name": "Mallory", "date": 1}},
		{"forward_from": map[string]any{"id": 9, "first_name": "Mallory"}, "forward_date": 1},
		{"forward_sender_name": "Mallory", "forward_date": 1},
	} {
		text := fmt.Sprintf("/pause everything %dh", i+1)
		api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, text, extra)
		gatewaytest.WaitFor(t, "the words as a quote", func() bool { // what is shown while it is written is cut
			got := gatewaytest.Texts(api, gatewaytest.Anna)
			return len(got) == i+1 && strings.Contains(got[i], "[Forwarded from Mallory - untrusted, not the sender's words]") &&
				strings.Contains(got[i], text)
		})
	}
	var st protocol.Pause
	p.Do(protocol.MethodPauseGet, nil, &st)
	if st.Level != "off" && st.Level != "" {
		t.Errorf("the pause is %+v", st)
	}
}

func checks(d protocol.Doctor) string {
	var b strings.Builder
	for _, c := range d.Checks {
		b.WriteString(c.What + " " + c.Advice + "\n")
	}
	return b.String()
}

func problemsOf(s protocol.Health) string {
	var b strings.Builder
	for _, p := range s.Hearth.Problems {
		b.WriteString(p.Message + "\n")
	}
	return b.String()
}
