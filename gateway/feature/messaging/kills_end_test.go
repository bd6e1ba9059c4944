package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// How a world of kills ends, and the networks it is played on.

// settle waits until every message stands in a conversation and nothing is on its
// way any more, and decides as a person would about what is shown as uncertain or
// put aside.
func (k *killing) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seed.Rounds(3, 15))*time.Minute)
	defer cancel()
	c := k.v.Dial(ctx, nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	defer c.Close()
	for {
		busy, list := k.busy(ctx, t, c)
		if busy == 0 && k.net.listening() {
			k.read(ctx, t, c)
			switch {
			case k.missing() != "":
			case len(list) == 0:
				return
			default:
				k.decide(ctx, t, c, list)
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("still %d on their way; %s", busy, k.missing())
		}
	}
}

// busy counts what goes on by itself, and lists what waits for a person.
func (k *killing) busy(ctx context.Context, t *testing.T, c *client.Client) (n int, waits []protocol.DeliveryInfo) {
	t.Helper()
	var st protocol.Status
	var list protocol.DeliveriesList
	ask(ctx, t, c, protocol.MethodStatus, nil, &st)
	ask(ctx, t, c, protocol.MethodDeliveriesList, nil, &list)
	for _, a := range list.Aside {
		k.aside++
		ask(ctx, t, c, protocol.MethodDeliveriesResolve, protocol.DeliveryResolveParams{ID: a.ID, Decision: "retry"}, nil)
	}
	n = st.Hearth.ActiveRuns + st.Hearth.QueuedRuns + st.Hearth.Undelivered + len(list.Aside)
	for _, d := range list.Deliveries {
		switch d.State {
		case "waiting", "sending":
			n++
		default:
			waits = append(waits, d)
		}
	}
	return n, waits
}

func ask(ctx context.Context, t *testing.T, c *client.Client, method string, params, result any) {
	t.Helper()
	if err := c.Call(ctx, method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// decide looks whether what is uncertain has arrived, and has it sent once more when
// it has not.
func (k *killing) decide(ctx context.Context, t *testing.T, c *client.Client, list []protocol.DeliveryInfo) {
	t.Helper()
	sent, _ := k.received()
	for _, d := range list {
		decision, of := "arrived", numbersIn(d.Text)
		switch {
		case d.State != "uncertain" || d.Reason == "":
			t.Errorf("a delivery is shown as %s: %s", d.State, d.Reason)
		case len(of) == 0:
			k.mute++
		case sent[of[0]] == 0:
			k.lost++
			decision = "resend"
		default:
			k.there++
		}
		ask(ctx, t, c, protocol.MethodDeliveriesResolve, protocol.DeliveryResolveParams{ID: d.ID, Decision: decision}, nil)
	}
}

// received counts the answers on the network by the number of their message, and
// those without one.
func (k *killing) received() (of map[int]int, others []string) {
	of = map[int]int{}
	for _, text := range k.net.sent() {
		list := numbersIn(text)
		for _, n := range list {
			of[n]++
		}
		if len(list) == 0 {
			others = append(others, text)
		}
	}
	return of, others
}

// read looks through all conversations.
func (k *killing) read(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	k.asked, k.ended = map[int]int{}, map[int]protocol.ReceiptState{}
	var list protocol.SessionsList
	ask(ctx, t, c, protocol.MethodSessionsList, protocol.SessionsListParams{Limit: 1000}, &list)
	for _, s := range list.Sessions {
		for after, more := int64(0), true; more; {
			var page protocol.TranscriptExport
			ask(ctx, t, c, protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: s.Key, After: after}, &page)
			for _, m := range page.Messages {
				after = m.Meta.Seq
				if m.Role != protocol.MessageUser {
					continue
				}
				for _, n := range numbersIn(m.Text()) {
					k.asked[n]++
					k.ended[n] = m.Hearth.State
				}
			}
			more = page.HasMore
		}
	}
}

// missing names the messages that stand in no conversation.
func (k *killing) missing() string {
	var list []int
	for n := 1; n <= k.said; n++ {
		if k.asked[n] == 0 {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d messages stand in no conversation: %v", len(list), k.said, list[:min(len(list), 20)])
}

// check holds what people wrote against the conversations and the network.
func (k *killing) check(t *testing.T) {
	t.Helper()
	sent, others := k.received()
	states, mute := map[protocol.ReceiptState]int{}, 0
	for n := 1; n <= k.said; n++ {
		state := k.ended[n]
		states[state]++
		switch state {
		case protocol.ReceiptAnswered:
			if sent[n] != 1 {
				t.Errorf("message %d was answered, and the answer is there %d times", n, sent[n])
			}
		case protocol.ReceiptInterrupted, protocol.ReceiptFailed: // too many kills for one answer, and people are told so
			if sent[n] == 0 {
				mute++
			}
		default:
			t.Errorf("message %d has no visible end: %q", n, state)
		}
		if k.asked[n] != 1 || sent[n] > 1 {
			t.Errorf("message %d stands in the conversations %d times, and what was answered %d times on the network", n, k.asked[n], sent[n])
		}
	}
	if len(others) > mute || len(others) < mute-k.mute {
		t.Errorf("%d messages had no answer, and %d times people were told: %.500q", mute, len(others), others)
	}
	if answered := states[protocol.ReceiptAnswered]; answered < k.said/2 {
		t.Errorf("only %d of %d messages were answered", answered, k.said)
	}
	t.Logf("%d messages in %v; ended: %v; killed: %v; shown as uncertain: %d that had arrived, %d that had not, %d notices; "+
		"put aside: %d", k.said, time.Since(k.began).Round(time.Second), states, k.hits, k.there, k.lost, k.mute, k.aside)
}

// connect writes a network into the settings of the gateway. What an answer looks
// like while it is written is no delivery, so it is not shown here.
func connect(t *testing.T, v *gatewaytest.Victim, id string, account map[string]any) {
	t.Helper()
	path := filepath.Join(string(v.Dir), "hearth.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cfg map[string]any
	if err := json.Unmarshal(raw, &cfg); err != nil {
		t.Fatal(err)
	}
	account["enabled"], account["dmPolicy"], account["streaming"] = true, "allowlist", map[string]any{"mode": "off"}
	cfg["channels"] = map[string]any{id: account}
	cfg["messages"] = map[string]any{"queue": map[string]any{"mode": "followup", "cap": 1000, "debounceMs": 0}}
	if raw, err = json.Marshal(cfg); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// overMattermost is a bot on a Mattermost server of our own, in a program of its own.
type overMattermost struct {
	*mattermosttest.Server
	who   []mattermosttest.User
	where []*mattermosttest.Channel
}

func onMattermost(t *testing.T, v *gatewaytest.Victim) network {
	t.Helper()
	const token = "abcdefghijklmnopqrstuvwxyz"
	m := &overMattermost{Server: mattermosttest.New(token)}
	t.Cleanup(m.Close)
	var ids []string
	for n := range people {
		u := m.AddUser("person"+strconv.Itoa(n), false)
		m.who, m.where, ids = append(m.who, u), append(m.where, m.Direct(u)), append(ids, u.ID)
	}
	connect(t, v, "mattermost", map[string]any{"botToken": token, "baseUrl": m.URL(), "allowFrom": ids})
	return m
}

func (m *overMattermost) say(person int, text string) {
	m.Say(m.who[person], m.where[person], text, nil)
}
func (m *overMattermost) sends() int { return m.Written() }

// listening: one program is connected, and none that was left over.
func (m *overMattermost) listening() bool { return m.Connected() == 1 }

func (m *overMattermost) sent() (out []string) {
	for _, p := range m.Sent() {
		out = append(out, p.Message)
	}
	return out
}

// overTelegram is a bot on a Bot API server of our own, in the gateway itself.
type overTelegram struct{ *telegramtest.Server }

const firstPerson = int64(1_000_000)

func onTelegram(t *testing.T, v *gatewaytest.Victim) network {
	t.Helper()
	api := telegramtest.New(gatewaytest.BotToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	t.Cleanup(v.Kill) // a poll that waits would keep the server open
	var ids []string
	for n := range people {
		id := firstPerson + int64(n)
		api.AddChat(telegramtest.Chat{ID: id, Type: "private"})
		ids = append(ids, fmt.Sprint(id))
	}
	connect(t, v, "telegram", map[string]any{"botToken": gatewaytest.BotToken, "apiRoot": front.URL, "allowFrom": ids})
	return overTelegram{api}
}

func (o overTelegram) say(person int, text string) {
	id := firstPerson + int64(person)
	o.Say(id, telegramtest.Person{ID: id, Name: "Person " + strconv.Itoa(person)}, text, nil)
}

func (o overTelegram) sends() int      { return o.Calls("sendMessage") }
func (o overTelegram) listening() bool { return true }

func (o overTelegram) sent() (out []string) {
	for n := range people {
		out = append(out, gatewaytest.Texts(o.Server, firstPerson+int64(n))...)
	}
	return out
}
