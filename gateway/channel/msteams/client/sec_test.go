package client_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
)

// TestSec_A_CH_TeamsForged: nothing but what the Bot Connector signed for this bot,
// lately, is taken, and that once.
func TestSec_A_CH_TeamsForged(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	body := w.Body(msteamstest.Said{Conversation: personal, ID: "1", User: ada, Text: "signed"})
	claim := func(key string, value any) channel.Call {
		return w.Call(body, func(c map[string]any) { c[key] = value })
	}
	right := w.Call(body, nil)
	two := right
	two.Header = right.Header.Clone()
	two.Header.Add("Authorization", right.Header.Get("Authorization"))
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	token := strings.TrimPrefix(right.Header.Get("Authorization"), "Bearer ")
	calls := map[string]channel.Call{
		"no token":          {Method: http.MethodPost, Body: body},
		"two tokens":        two,
		"another key":       w.With(body, w.Forged(w.Claims())),
		"no algorithm":      w.With(body, w.As("none", w.Claims())),
		"a shared key":      w.With(body, w.As("HS256", w.Claims())),
		"a cut signature":   w.With(body, token[:len(token)-8]),
		"no signature":      w.With(body, token[:strings.LastIndexByte(token, '.')+1]),
		"another bot":       claim("aud", msteamstest.Tenant),
		"no bot":            claim("aud", nil),
		"another issuer":    claim("iss", "https://sts.windows.net/"+msteamstest.Tenant+"/"),
		"the emulator":      claim("iss", "https://login.microsoftonline.com/"+msteamstest.Tenant+"/v2.0"),
		"a government":      claim("iss", "https://api.botframework.us"),
		"expired":           claim("exp", in(-bearer.Skew-time.Minute)),
		"without an end":    claim("exp", nil),
		"of tomorrow":       claim("nbf", in(bearer.Skew+time.Minute)),
		"names no service":  claim("serviceurl", nil),
		"basic":             {Method: http.MethodPost, Body: body, Header: http.Header{"Authorization": {"Basic " + token}}},
		"in another header": {Method: http.MethodPost, Body: body, Header: http.Header{"X-Authorization": {"Bearer " + token}}},
	}
	for name, call := range calls {
		if a, err := w.Once(call); err != nil || a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, a.Status, err)
		}
	}
	for range 3 {
		if a, err := w.Once(right); err != nil || a.Status != http.StatusOK || string(a.Body) != "{}" {
			t.Errorf("%d %v", a.Status, err)
		}
	}
	if in := clienttest.Next(t, got); in.Text != "signed" {
		t.Errorf("%+v", in)
	}
	skewed := w.Call(w.Body(msteamstest.Said{Conversation: personal, ID: "2", User: ada, Text: "skewed"}), func(c map[string]any) {
		c["nbf"], c["exp"] = in(bearer.Skew-time.Minute), in(bearer.Skew)
	})
	if a, err := w.Once(skewed); err != nil || a.Status != http.StatusOK {
		t.Errorf("a clock that is four minutes ahead: %d %v", a.Status, err)
	}
	clienttest.Next(t, got)
	if len(got) != 0 || w.KeysAsked() > 2 {
		t.Errorf("%d more came in, and the keys were asked for %d times", len(got), w.KeysAsked())
	}
}

// TestSec_A_CH_TeamsElsewhere: a proven call is believed only about Teams, and about a
// service of Microsoft's that it was signed for: answers and the bot's token go there.
func TestSec_A_CH_TeamsElsewhere(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	said := func(extra map[string]any) []byte {
		return w.Body(msteamstest.Said{Conversation: personal, ID: "1", User: ada, Text: "x", Extra: extra})
	}
	at := func(service string) channel.Call {
		return w.Call(said(map[string]any{"serviceUrl": service}), func(c map[string]any) { c["serviceurl"] = service })
	}
	calls := map[string]channel.Call{
		"Web Chat":         w.Call(said(map[string]any{"channelId": "webchat"}), nil),
		"Direct Line":      w.Call(said(map[string]any{"channelId": "directline"}), nil),
		"no network":       w.Call(said(map[string]any{"channelId": nil}), nil),
		"another service":  w.Call(said(map[string]any{"serviceUrl": "https://smba.trafficmanager.net/amer/"}), nil),
		"no service":       w.Call(said(map[string]any{"serviceUrl": nil}), nil),
		"a service of Eve": at("https://evil.trafficmanager.net/emea/"),
		"a longer name":    at("https://smba.trafficmanager.net.evil.org/emea/"),
		"a person in it":   at("https://smba.trafficmanager.net@evil.org/"),
		"a port":           at("https://smba.trafficmanager.net:8443/emea/"),
		"no encryption":    at("http://smba.trafficmanager.net/emea/"),
		"a query":          at("https://smba.trafficmanager.net/emea/?x="),
		"this machine":     at("https://127.0.0.1/"),
	}
	for name, call := range calls {
		if a, err := w.Once(call); err != nil || a.Status != http.StatusForbidden {
			t.Errorf("%s: %d %v", name, a.Status, err)
		}
	}
	if len(got) != 0 {
		t.Errorf("%+v came", <-got)
	}
	other := newWorld(t)
	other.Endorse("webchat", "directline")
	got = clienttest.Running(t, other.c)
	if a, err := other.Once(other.Call(said(nil), nil)); err != nil || a.Status != http.StatusForbidden || len(got) != 0 {
		t.Errorf("a key that does not speak for Teams: %d %v", a.Status, err)
	}
}

// TestSec_A_CH_TeamsKept: what is kept on disk cannot lead the token elsewhere.
func TestSec_A_CH_TeamsKept(t *testing.T) {
	w := newWorld(t)
	kept := &clienttest.Kept{}
	_ = kept.Put(t.Context(), "services", []byte(`{"usual":"https://evil.example.org/","others":{"@`+personal+`":"http://127.0.0.1/"}}`))
	c := w.open(t, kept)
	clienttest.Running(t, c)
	// It is looked for where all conversations are, and is not there in this world.
	if _, err := c.Send(t.Context(), channel.Message{To: direct(), Text: "x"}); !errors.Is(err, channel.ErrRefused) ||
		!strings.Contains(err.Error(), "ConversationNotFound") {
		t.Errorf("%v", err)
	}
}

// TestSec_A_CH_TeamsTenants: of other organisations nothing is taken where the bot is of
// one, and everything that policy lets in where it is of none.
func TestSec_A_CH_TeamsTenants(t *testing.T) {
	theirs := map[string]any{"channelData": map[string]any{"tenant": map[string]any{"id": msteamstest.App}}}
	none := map[string]any{"channelData": nil, "conversation": map[string]any{"id": personal, "conversationType": "personal"}}
	for single, want := range map[bool]string{true: "ours", false: "theirs"} {
		w := newWorld(t, func(a *channel.Account) {
			a.Texts = maps.Clone(a.Texts)
			if !single {
				delete(a.Texts, msteams.KeyTenant)
			}
		})
		got := clienttest.Running(t, w.c)
		w.Say(msteamstest.Said{Conversation: personal, ID: "1", User: ada, Text: "theirs", Extra: theirs})
		w.Say(msteamstest.Said{Conversation: personal, ID: "2", User: ada, Text: "nobody's", Extra: none})
		w.Say(msteamstest.Said{Conversation: personal, ID: "3", User: ada, Text: "ours"})
		if in := clienttest.Next(t, got); in.Text != want {
			t.Errorf("with a tenant: %v, and %q came", single, in.Text)
		}
	}
}

// TestSec_A_CH_TeamsPresses: only what our buttons carry is a press, and who pressed is
// whom Microsoft names.
func TestSec_A_CH_TeamsPresses(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	for n, value := range []any{map[string]any{"hearthChoice": strings.Repeat("x", 65)}, map[string]any{"other": "y"}, "hearthChoice",
		map[string]any{"hearthChoice": map[string]any{"a": 1}}, []any{"hearthChoice"}} {
		w.Say(msteamstest.Said{Conversation: crowd, ID: "v" + string(rune('0'+n)), User: ada,
			Extra: map[string]any{"value": value, "replyToId": "5"}})
	}
	w.Say(msteamstest.Said{Conversation: crowd, ID: "w", User: ada,
		Extra: map[string]any{"value": map[string]any{"hearthChoice": "a"}, "replyToId": "../5"}})
	w.Say(msteamstest.Said{Conversation: crowd, ID: "z", User: ada, Text: "words beside it",
		Extra: map[string]any{"value": map[string]any{"hearthChoice": "q1.a", "senderId": "eve"}, "replyToId": "5"}})
	in := clienttest.Next(t, got)
	if in.Press != (channel.Press{ID: "z", Data: "q1.a", MessageID: "5"}) || in.SenderID != ada || in.Text != "" {
		t.Errorf("%+v", in)
	}
}

// TestPresses: words to who pressed are seen by them alone, and what was pressed in a
// program that knows no such answer comes too.
func TestPresses(t *testing.T) {
	w := newWorld(t)
	pressed := make(chan channel.Inbound, 10)
	clienttest.Serving(t, w.c, func(ctx context.Context, in channel.Inbound) error {
		pressed <- in
		return nil
	})
	w.Say(msteamstest.Said{Conversation: crowd, ID: "0", User: ada, Text: "hi"})
	clienttest.Next(t, pressed)
	to := channel.Target{Conversation: crowd}
	r, err := w.c.Send(t.Context(), channel.Message{To: to, Text: "May I?", Choices: []channel.Choice{{Data: "q1.a", Label: "Yes"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.press(msteamstest.Said{Conversation: crowd, ID: "f:1-2", User: ada}, channel.Press{Data: "q1.a", MessageID: r.MessageID})
	in := clienttest.Next(t, pressed)
	if in.Press != (channel.Press{ID: "f:1-2", Data: "q1.a", MessageID: r.MessageID}) {
		t.Fatalf("%+v", in)
	}
	if err := w.c.Answer(t.Context(), to, ada, in.Press, "It is *noted*."); err != nil {
		t.Error(err)
	}
	clienttest.Until(t, "the answer", func() bool { return w.Taken("f:1-2") })
	if all := w.Messages(); len(all) != 1 || len(all[0].Words) != 1 || all[0].Words[0] != "It is noted." || len(w.Sent()) != 1 {
		t.Errorf("%+v", all)
	}
	if err := w.c.Answer(t.Context(), to, ada, in.Press, "too late"); err != nil || len(w.Sent()) != 2 || w.Sent()[1].ReplyTo != r.MessageID {
		t.Errorf("%v %+v", err, w.Sent())
	}
	w.Say(msteamstest.Said{Conversation: crowd, ID: "5", User: ada,
		Extra: map[string]any{"value": map[string]any{"hearthChoice": "q1.a"}, "replyToId": r.MessageID}})
	if in := clienttest.Next(t, pressed); in.Press.Data != "q1.a" || in.Press.ID != "5" {
		t.Errorf("%+v", in)
	}
	for _, name := range []string{"fileConsent/invoke", "task/fetch", "adaptiveCard/action", ""} {
		a, err := w.Once(w.Call(w.Body(msteamstest.Said{Conversation: crowd, ID: "6", User: ada, Type: "invoke", Text: "x",
			Extra: map[string]any{"name": name, "value": map[string]any{"hearthChoice": "q1.a"}, "replyToId": "5"}}), nil))
		if err != nil || a.Status != http.StatusNotImplemented || len(pressed) != 0 {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}
