package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	k.stale = map[int]int{}
	for _, d := range list.Incomplete {
		if of := numbersIn(d.Text); d.Stale && len(of) == 1 {
			k.stale[of[0]]++
		}
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
	seen := k.received()
	for _, d := range list {
		decision, of := "arrived", numbersIn(d.Text)
		switch {
		case d.State != "uncertain" || d.Reason == "":
			t.Errorf("a delivery is shown as %s: %s", d.State, d.Reason)
		case d.Draft:
			count := k.drafts
			if !k.half(d.Text) { // all of a short answer was shown at once
				count = k.full
			}
			for _, n := range of {
				count[n]++
			}
		case len(of) == 0:
			k.mute++
		case seen.whole[of[0]]+seen.broken[of[0]] == 0:
			k.lost++
			decision = "resend"
		default:
			k.there++
		}
		ask(ctx, t, c, protocol.MethodDeliveriesResolve, protocol.DeliveryResolveParams{ID: d.ID, Decision: decision}, nil)
	}
}

// seen is what stands on a network, by the numbers of messages: whole answers, those
// that say that they were broken off, and beginnings that do not; and the texts that
// name no message.
type seen struct {
	whole, broken, halves map[int]int
	others                []string
}

func (k *killing) received() seen {
	s := seen{whole: map[int]int{}, broken: map[int]int{}, halves: map[int]int{}}
	for _, text := range k.net.sent() {
		list, count := numbersIn(text), s.whole
		switch {
		case strings.Contains(text, "Hearth stopped"):
			count = s.broken
		case k.half(text):
			count = s.halves
		}
		for _, n := range list {
			count[n]++
		}
		if len(list) == 0 {
			s.others = append(s.others, text)
		}
	}
	return s
}

// half reports whether a text is the beginning of an answer.
func (k *killing) half(text string) bool {
	return k.last != "" && strings.HasPrefix(text, "re:") && !strings.Contains(text, k.last)
}

// read looks through all conversations.
func (k *killing) read(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	k.asked, k.ended, k.runs = map[int]int{}, map[int]protocol.ReceiptState{}, map[int]string{}
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
					k.ended[n], k.runs[n] = m.Hearth.State, m.Meta.RunID
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
	on := k.received()
	states, silent := map[protocol.ReceiptState]int{}, map[string]bool{} // runs whose end names none of their messages
	for n := 1; n <= k.said; n++ {
		state, whole, broken := k.ended[n], on.whole[n], on.broken[n]
		states[state]++
		most := k.full[n] + k.stale[n] // answers of which the owner was told that they may be there twice
		switch state {
		case protocol.ReceiptAnswered:
			if most++; whole == 0 || broken > 0 {
				t.Errorf("message %d was answered, and the answer is there %d times, and broken off %d times", n, whole, broken)
			}
		case protocol.ReceiptInterrupted, protocol.ReceiptFailed: // too many kills for one answer, and people are told so
			if broken == 0 {
				silent[k.runs[n]] = true
			}
		default:
			t.Errorf("message %d has no visible end: %q", n, state)
		}
		if k.asked[n] != 1 || whole > most || broken > 1 {
			t.Errorf("message %d (%s) stands in the conversations %d times, and what was answered %d times on the network, at most %d; "+
				"broken off %d times", n, state, k.asked[n], whole, most, broken)
		}
	}
	halves, others := on.halves, on.others
	for n, count := range halves {
		if count > k.drafts[n]+k.stale[n] {
			t.Errorf("%d times the beginning of the answer to message %d stands alone, and the owner was shown %d", count, n, k.drafts[n])
		}
	}
	mute := len(silent)                                          // messages that wait together are one run, and its end is told once
	if len(others) > mute+k.aside || len(others) < mute-k.mute { // whose message is put aside is told so too
		t.Errorf("%d runs had no answer, and %d times people were told: %.500q", mute, len(others), others)
	}
	enough := k.said / 2
	if k.last != "" { // they take longer, and three kills are the end of one
		enough = k.said / 8
	}
	if answered := states[protocol.ReceiptAnswered]; answered < enough {
		t.Errorf("only %d of %d messages were answered", answered, k.said)
	}
	t.Logf("%d messages in %v; ended: %v; %d runs without an answer, told %d times; killed: %v; shown as uncertain: %d that had arrived, "+
		"%d that had not, %d notices, %d beginnings of which %d stand there, %d beginnings that were all; put aside: %d", k.said,
		time.Since(k.began).Round(time.Second), states, mute, len(others), k.hits, k.there, k.lost, k.mute, total(k.drafts), total(halves),
		total(k.full), k.aside)
}

func total(counts map[int]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// connect writes a network into the settings of the gateway.
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
	account["enabled"], account["dmPolicy"] = true, "allowlist"
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

func onMattermost(t *testing.T, v *gatewaytest.Victim, account map[string]any) network {
	t.Helper()
	const token = "abcdefghijklmnopqrstuvwxyz"
	m := &overMattermost{Server: mattermosttest.New(token)}
	t.Cleanup(m.Close)
	var ids []string
	for n := range people {
		u := m.AddUser("person"+strconv.Itoa(n), false)
		m.who, m.where, ids = append(m.who, u), append(m.where, m.Direct(u)), append(ids, u.ID)
	}
	account["botToken"], account["baseUrl"], account["allowFrom"] = token, m.URL(), ids
	connect(t, v, "mattermost", account)
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

func onTelegram(t *testing.T, v *gatewaytest.Victim, account map[string]any) network {
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
	account["botToken"], account["apiRoot"], account["allowFrom"] = gatewaytest.BotToken, front.URL, ids
	connect(t, v, "telegram", account)
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
