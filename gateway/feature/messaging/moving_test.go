package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/webhook"
)

const signingKey = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"

// console is a second network: a program that posts to the gateway and is posted to.
type console struct {
	t    *testing.T
	root string // of the gateway
	mu   sync.Mutex
	told []string // "conversation: text"
	sent int
}

// ServeHTTP takes what the gateway says.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct{ Type, Conversation, Text string }
	_ = json.NewDecoder(r.Body).Decode(&m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Type == "message" {
		c.told = append(c.told, m.Conversation+": "+m.Text)
	}
	w.WriteHeader(http.StatusOK)
}

func (c *console) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// says posts a message of somebody.
func (c *console) says(sender, text string) {
	c.t.Helper()
	c.sent++
	body, _ := json.Marshal(map[string]any{"senderId": sender, "senderName": strings.ToUpper(sender), "text": text})
	head, err := webhook.Sign(secret.New(signingKey), fmt.Sprintf("msg-%d", c.sent), body, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	at := c.root + "/api/channels/webhook/default"
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = head
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		c.t.Fatalf("the gateway answered %s", res.Status)
	}
}

// twoNetworks is a gateway on which Anna (777, and "anna" at the console) may write,
// and Bob ("bob") too. The second network is set up while it runs.
func twoNetworks(t *testing.T, owners []string, session map[string]any) (*gatewaytest.Peer, *telegramtest.Server, *console) {
	t.Helper()
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"streaming": "off", "dmPolicy": "allowlist",
		"allowFrom": []string{"777", "42"}, "owners": owners})
	p := r.Connect()
	at, _, err := client.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, root: strings.TrimSuffix(strings.Replace(at, "ws", "http", 1), "/")}
	taking := httptest.NewServer(c)
	t.Cleanup(taking.Close)
	p.Patch(map[string]any{
		"channels": map[string]any{"webhook": map[string]any{"secret": signingKey, "url": taking.URL, "dmPolicy": "allowlist",
			"allowFrom": []string{"anna", "bob"}, "streaming": "off"}},
		"session": session,
	})
	gatewaytest.WaitFor(t, "the console to be connected", func() bool {
		a, ok := accountOf(p, "webhook", "default")
		return ok && a.Connected
	})
	return p, api, c
}

func (c *console) waits(n int, holds string) {
	c.t.Helper()
	gatewaytest.WaitFor(c.t, holds+" at the console", func() bool {
		got := c.heard()
		return len(got) >= n && strings.Contains(got[n-1], holds)
	})
}

var annasLinks = map[string]any{"anna": []string{"telegram:777", "webhook:anna"}}

// TestOnePersonOnTwoNetworks: identity links give a person one conversation, for each
// way of keeping direct messages apart, and each answer goes where its message came from.
func TestOnePersonOnTwoNetworks(t *testing.T) {
	for _, scope := range []string{"per-peer", "per-channel-peer", "per-account-channel-peer"} {
		p, api, c := twoNetworks(t, nil, map[string]any{"dmScope": scope, "identityLinks": annasLinks})
		gatewaytest.AnnaSays(api, "from the phone")
		gatewaytest.WaitSent(t, api, 1, "from the phone")
		c.says("anna", "from the console")
		c.waits(1, "from the console")
		h := p.History("agent:main:dm:anna")
		if len(h.Messages) != 4 {
			t.Fatalf("%s: %d messages", scope, len(h.Messages))
		}
		from, there := h.Messages[0].Origin, h.Messages[2].Origin
		if from == nil || there == nil || from.Channel != "telegram" || from.Sender != "Anna" || from.Owner || there.Channel != "webhook" ||
			there.Sender != "ANNA" || h.Messages[1].Origin != nil {
			t.Errorf("%s: %+v, %+v", scope, from, there)
		}
		if n := len(gatewaytest.Texts(api, gatewaytest.Anna)); n != 1 {
			t.Errorf("%s: %d answers on the phone", scope, n)
		}
	}
}

// TestSec_A_CH_AStrangerNeverJoinsALinkedConversation: the same id on another network,
// or a name like a link's, opens nothing; nor does a place that a guest wrote from.
func TestSec_A_CH_AStrangerNeverJoinsALinkedConversation(t *testing.T) {
	p, api, c := twoNetworks(t, nil, map[string]any{"dmScope": "per-peer", "identityLinks": map[string]any{
		"bob": []string{"telegram:777"}}}) // the link is called as somebody's id elsewhere
	gatewaytest.AnnaSays(api, "my secret is GUAVA")
	gatewaytest.WaitSent(t, api, 1, "GUAVA")
	c.says("bob", "what is the secret?")
	c.waits(1, "what is the secret?")
	if h := p.History("agent:main:dm:bob"); len(h.Messages) != 2 {
		t.Errorf("%d messages in the linked conversation", len(h.Messages))
	}
	if said := strings.Join(c.heard(), "\n"); strings.Contains(said, "GUAVA") {
		t.Error(said)
	}
	// A guest cannot take a conversation along: neither their own nor anybody's.
	api.AddChat(telegramtest.Chat{ID: bob, Type: "private"})
	for _, word := range []string{"/continue webhook", "/dock-webhook", "/dock_webhook"} {
		if said := tells(t, api, bob, word, nil); !strings.Contains(said, "is for the owner") {
			t.Errorf("%s: %q", word, said)
		}
	}
}

// TestGoingOnElsewhere: answers to the owner follow them to the network that they
// named, from the page too, until they say otherwise; nothing goes to somebody else.
func TestGoingOnElsewhere(t *testing.T) {
	owner := []string{"telegram:777", "webhook:anna"}
	p, api, c := twoNetworks(t, owner, map[string]any{})
	if said := p.Say("main", "p0", "/continue telegram").Message.Text(); !strings.Contains(said, "Write to me there once") {
		t.Errorf("before anything was written there: %q", said)
	}
	gatewaytest.AnnaSays(api, "one")
	gatewaytest.WaitSent(t, api, 1, "one")
	c.says("anna", "two")
	c.waits(1, "two")
	c.says("bob", "a guest's")
	c.waits(2, "a guest's")

	c.says("anna", "/dock_telegram")
	c.waits(3, "We go on on Telegram")
	gatewaytest.WaitSent(t, api, 2, "We go on here")
	c.says("anna", "three")
	gatewaytest.WaitSent(t, api, 3, "three")
	p.Say("main", "p1", "four")
	gatewaytest.WaitSent(t, api, 4, "four")
	c.says("bob", "still a guest's")
	c.waits(4, "still a guest's")
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, nil, &list)
	i := slices.IndexFunc(list.Sessions, func(s protocol.SessionRow) bool { return s.Key == gatewaytest.MainKey })
	if row := list.Sessions[i]; row.Dock == nil || row.Dock.Provider != "telegram" || row.LastChannel != "telegram" || row.LastTo != "777" {
		t.Errorf("%+v", row)
	}
	h := p.History("main")
	if to := h.Messages[len(h.Messages)-2].AnswersTo; to == nil || to.Channel != "telegram" || !to.Owner {
		t.Errorf("where the answer to the page went: %+v", to)
	}

	if said := p.Say("main", "p2", "/continue here").Message.Text(); !strings.Contains(said, "where you write again") {
		t.Errorf("%q", said)
	}
	c.says("anna", "five")
	c.waits(5, "five")
	p.Say("main", "p3", "six")
	if got := gatewaytest.Texts(api, gatewaytest.Anna); len(got) != 4 {
		t.Errorf("the phone got %q", got)
	}
	if said := p.Say("main", "p4", "/continue smoke").Message.Text(); !strings.Contains(said, "no messaging network `smoke`") {
		t.Errorf("%q", said)
	}
}

// TestAnsweringFromThePage: a message of the page is answered to the network's
// conversation when its person says so, to whom they saw, and nowhere else.
func TestAnsweringFromThePage(t *testing.T) {
	p, api, c := twoNetworks(t, nil, map[string]any{})
	api.AddChat(telegramtest.Chat{ID: bob, Type: "private"})
	tells(t, api, bob, "when do we meet?", nil)
	key := "agent:main:telegram:dm:42"
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, nil, &list)
	i := slices.IndexFunc(list.Sessions, func(s protocol.SessionRow) bool { return s.Key == key })
	at := list.Sessions[i].DeliveryContext
	if at == nil || at.Channel != "telegram" || at.To != "42" || at.AccountID != "default" {
		t.Fatalf("%+v", at)
	}
	p.Say(key, "q1", "only for me")
	send := protocol.ChatSendParams{SessionKey: key, Message: "tell Bob: at six", IdempotencyKey: "q2", Deliver: true, DeliverTo: at}
	p.Do(protocol.MethodChatSend, send, nil)
	p.Ended("q2")
	gatewaytest.WaitFor(t, "the answer to Bob", func() bool { return len(gatewaytest.Texts(api, bob)) == 2 })
	if got := gatewaytest.Texts(api, bob); !strings.Contains(got[1], "tell Bob: at six") ||
		strings.Contains(strings.Join(got, " "), "only for me") {
		t.Errorf("Bob got %q", got)
	}
	h := p.History(key)
	if to := h.Messages[len(h.Messages)-2].AnswersTo; to == nil || to.Channel != "telegram" || to.SenderID != "42" || to.Owner {
		t.Errorf("%+v", to)
	}

	// Whom it goes to is not changed by who wrote last.
	other := *at
	other.To = "777"
	send.IdempotencyKey, send.DeliverTo = "q3", &other
	if said := p.Refused(protocol.MethodChatSend, send); !strings.Contains(said, "another one by now") {
		t.Error(said)
	}
	send.SessionKey, send.IdempotencyKey, send.DeliverTo = "agent:main:chat:alone", "q4", nil
	if said := p.Refused(protocol.MethodChatSend, send); !strings.Contains(said, "nowhere to answer") {
		t.Error(said)
	}
	if got := len(gatewaytest.Texts(api, bob)) + len(gatewaytest.Texts(api, gatewaytest.Anna)) + len(c.heard()); got != 2 {
		t.Errorf("%d messages went out", got)
	}
}
