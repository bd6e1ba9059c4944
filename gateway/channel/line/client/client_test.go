package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/line/client"
	"github.com/hearth-assistant/hearth/gateway/channel/line/linetest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

const (
	token  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
	secret = "0123456789abcdef0123456789abcdef"
)

var (
	ada    = "U" + strings.Repeat("a", 32)
	family = "C" + strings.Repeat("c", 32)
)

func account(s *linetest.Server, store channel.Durable) channel.Account {
	return channel.Account{ID: "default", Now: time.Now, Durable: store, MaxFile: 1 << 20, Texts: map[string]string{line.KeyRoot: s.URL()},
		Secrets: map[string]string{line.KeyToken: token, line.KeySecret: secret}}
}

// world is LINE, and our client.
type world struct {
	*linetest.Server
	c *client.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: linetest.New(t.Context(), token, secret, channel.CallPath(line.ID, "default"))}
	t.Cleanup(w.Close)
	w.c = w.open(t, &clienttest.Kept{})
	w.Calls(w.c)
	return w
}

func (w *world) open(t *testing.T, store channel.Durable) *client.Client {
	t.Helper()
	c, err := client.New(account(w.Server, store))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func direct() channel.Target { return channel.Target{Account: "default", Conversation: ada} }

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		w.Fail("push", map[loopback.Kind]linetest.Fault{
			loopback.Passing: {Status: 500, Words: "internal"},
			loopback.Limited: {Status: 429, Words: "The API rate limit has been exceeded. Try again later.", Reset: f.After},
			loopback.Refused: {Status: 400, Words: "Failed to send messages"},
			loopback.Auth:    {Status: 401, Words: "Authentication failed"},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind])
	}
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) {
	w.Say(linetest.Event{User: ada, ID: in.MessageID, Message: text(in.Text), NoReply: true})
}

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, m := range w.Sent() {
		out = append(out, loopback.Message{ID: m.ID, To: channel.Target{Conversation: m.To}, Text: m.Text})
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, kept := newWorld(t), &clienttest.Kept{}
	open := func() channel.Channel { return w.open(t, kept) }
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: direct(), Again: open,
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: ada, SenderID: ada},
		NextID:  func(n int) string { return []string{"", "1001", "1002", "1003", "1004"}[n] },
		Skip: map[loopback.Kind]string{
			loopback.Lost: "LINE takes a message once by its key, so it is sent again: TestFault_F_CH_LineSendsOnce"},
		Cannot: map[string]string{"SendWithoutConnection": "a message is a request of its own",
			"FileIn":         "a file comes without words: TestFiles",
			"FileInTooLarge": "a file comes without words: TestFiles"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Secrets: map[string]string{line.KeyToken: token, line.KeySecret: secret}}
	k := line.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{family, "R" + strings.Repeat("0", 32)}, []string{ada})
	err := line.Check(channel.Account{Secrets: map[string]string{line.KeyToken: token}})
	if err == nil || !strings.Contains(err.Error(), "anybody") {
		t.Errorf("without the secret: %v", err)
	}
}

// TestReplies: an answer takes the token that came with the question, which costs
// nothing, once and in time; others count.
func TestReplies(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	send := func(words string) {
		t.Helper()
		m := channel.Message{To: channel.Target{Conversation: ada, ReplyTo: "11"}, Text: words, Key: words}
		if _, err := w.c.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	w.Say(linetest.Event{User: ada, ID: "11", Message: text("hi")})
	clienttest.Next(t, got)
	send("**first**")
	send("second")
	w.Say(linetest.Event{User: ada, ID: "12", Message: text("later"), At: time.Now().Add(-2 * time.Minute)})
	clienttest.Next(t, got)
	send("third")
	w.Say(linetest.Event{User: ada, ID: "13", Message: text("once more")})
	clienttest.Next(t, got)
	w.Fail("reply", linetest.Fault{Status: 400, Words: "Invalid reply token"})
	send("fourth")
	all := w.Sent()
	for i, want := range []linetest.Message{{Text: "first", Reply: true}, {Text: "second"}, {Text: "third"}, {Text: "fourth"}} {
		if m := all[i]; m.Text != want.Text || m.Reply != want.Reply || m.Quote != "q-11" || m.To != ada {
			t.Errorf("message %d is %+v", i+1, m)
		}
	}
}

// TestFault_F_CH_LineSendsOnce: a message whose answer was lost is sent again, and seen
// once; a reply whose answer was lost is uncertain, because its token knows no key.
func TestFault_F_CH_LineSendsOnce(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	m := channel.Message{To: direct(), Text: "once", Key: "k1"}
	w.Fail("push", linetest.Fault{CutAfter: true}, linetest.Fault{Status: 502, Page: true})
	for range 2 {
		if _, err := w.c.Send(t.Context(), m); err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
			t.Errorf("%v", err)
		}
	}
	if r, err := w.c.Send(t.Context(), m); err != nil || r.MessageID != w.Sent()[0].ID {
		t.Errorf("%+v %v", r, err)
	}
	if all := w.Sent(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	for id, f := range map[string]linetest.Fault{"21": {CutAfter: true}, "22": {Status: 502, Page: true}} {
		w.Say(linetest.Event{User: ada, ID: id, Message: text("hi")})
		clienttest.Next(t, got)
		w.Fail("reply", f)
		if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "reply " + id, Key: id}); !errors.Is(err, channel.ErrUncertain) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// TestQuota: when the month is used up that is said, and is no limit that passes.
func TestQuota(t *testing.T) {
	w := newWorld(t)
	w.Quota = 1
	if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "x"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "y"})
	if !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "in a month are used up") {
		t.Errorf("%v", err)
	}
	clienttest.Running(t, w.c)
	if p := w.c.Status().Problem; !strings.Contains(p, "Of the 1 messages") || w.c.Status().Bot != "Hearth @hearth" {
		t.Errorf("%+v", w.c.Status())
	}
}

// TestWebhookAddress: what is wrong with the address at LINE is said.
func TestWebhookAddress(t *testing.T) {
	for want, change := range map[string]func(*linetest.Server){
		"knows no address":          func(s *linetest.Server) { s.Endpoint = "" },
		"not the address":           func(s *linetest.Server) { s.Endpoint = "https://elsewhere.example/line/webhook" },
		"Use webhook is switched":   func(s *linetest.Server) { s.Active = false },
		"channels/line.md says whi": func(s *linetest.Server) { s.Endpoint = "" },
	} {
		w := newWorld(t)
		change(w.Server)
		clienttest.Running(t, w.c)
		if p := w.c.Status().Problem; !strings.Contains(p, want) {
			t.Errorf("%q, want %q", p, want)
		}
	}
}

func TestGroups(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	mentions := func(s, name string, self bool) map[string]any {
		m := text(s)
		m["mention"] = map[string]any{"mentionees": []any{map[string]any{"index": strings.Index(s, name), "length": len(name), "type": "user",
			"isSelf": self}}}
		return m
	}
	w.Say(linetest.Event{User: ada, Group: family, ID: "31", Message: mentions("@Hearth stop", "@Hearth", true)})
	in := clienttest.Next(t, got)
	if in.Chat != channel.Group || in.Conversation != family || in.SenderID != ada || in.SenderName != "Ada" || in.Label != "family" ||
		!in.Mentioned || in.Command != "stop" || in.Text != "@Hearth stop" {
		t.Errorf("%+v", in)
	}
	w.Say(linetest.Event{User: ada, Group: family, ID: "32", Message: mentions("@Bob hello", "@Bob", false)})
	if in := clienttest.Next(t, got); in.Mentioned || in.Command != "" {
		t.Errorf("%+v", in)
	}
	wide := text("x")
	wide["mention"] = map[string]any{"mentionees": []any{map[string]any{"index": 5, "length": 1 << 40, "type": "user", "isSelf": true}}}
	w.Say(linetest.Event{User: ada, Group: family, ID: "33", Message: wide})
	if in := clienttest.Next(t, got); !in.Mentioned || in.Text != "x" {
		t.Errorf("%+v", in)
	}
	if err := w.c.Typing(t.Context(), channel.Target{Conversation: family}); err != nil || len(w.Loading()) != 0 {
		t.Errorf("%v %q", err, w.Loading())
	}
	if err := w.c.Typing(t.Context(), direct()); err != nil || len(w.Loading()) != 1 {
		t.Errorf("%v %q", err, w.Loading())
	}
}

// TestFiles: what is not text comes with what it is, and content is fetched within the
// limit.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	w.Put("41", linetest.File{MIME: "application/pdf", Data: []byte("%PDF")})
	w.Put("42", linetest.File{MIME: "image/jpeg", Data: make([]byte, 1<<20+1)})
	w.Say(linetest.Event{User: ada, ID: "41", Message: map[string]any{"type": "file", "fileName": "plan.pdf", "fileSize": 4}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 1 || in.Media[0].Name != "plan.pdf" || in.Media[0].Size != 4 {
		t.Fatalf("%+v", in)
	}
	r, err := w.c.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "%PDF" || err != nil || r.Close() != nil {
		t.Errorf("%q %v", b, err)
	}
	w.Say(linetest.Event{User: ada, ID: "42", Message: map[string]any{"type": "image", "contentProvider": map[string]any{"type": "line"}}})
	in = clienttest.Next(t, got)
	if r, err = w.c.Fetch(t.Context(), in.Media[0]); err == nil {
		_, err = io.ReadAll(r)
		_ = r.Close()
	}
	if !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file that is too large: %v", err)
	}
	for _, url := range []string{"../info", "7", "x"} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for id, tc := range map[string]struct {
		m    map[string]any
		want string
	}{
		"43": {map[string]any{"type": "sticker", "keywords": []string{"happy", "wave"}}, "[sticker] happy, wave"},
		"44": {map[string]any{"type": "location", "title": "Office", "address": "1 Main St", "latitude": 35.5, "longitude": 139},
			"[place] Office 1 Main St (35.5, 139)"},
		"45": {map[string]any{"type": "image", "contentProvider": map[string]any{"type": "external", "originalContentUrl": "http://x/"}},
			"[image from elsewhere]"},
	} {
		w.Say(linetest.Event{User: ada, ID: id, Message: tc.m})
		if in := clienttest.Next(t, got); in.Text != tc.want || len(in.Media) != 0 {
			t.Errorf("%+v", in)
		}
	}
}

// TestSec_A_CH_LineForged: nothing but what LINE signed, lately, is taken, and that once.
func TestSec_A_CH_LineForged(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	body := w.Body(linetest.Event{User: ada, ID: "51", Message: text("signed")}, false)
	right := w.Sign(body)
	change := func(f func(*channel.Call)) channel.Call {
		c := right
		c.Header = right.Header.Clone()
		f(&c)
		return c
	}
	other := linetest.New(t.Context(), token, strings.Repeat("f", 32), right.Path)
	defer other.Close()
	long := linetest.Event{User: ada, ID: "52", Message: text("old"), At: time.Now().Add(-time.Hour)}
	for name, call := range map[string]channel.Call{
		"another body":     change(func(c *channel.Call) { c.Body = []byte(strings.Replace(string(body), "signed", "forged", 1)) }),
		"no signature":     change(func(c *channel.Call) { c.Header.Del("X-Line-Signature") }),
		"two signatures":   change(func(c *channel.Call) { c.Header.Add("X-Line-Signature", "AA==") }),
		"no base64":        change(func(c *channel.Call) { c.Header.Set("X-Line-Signature", "%%%") }),
		"another's secret": other.Sign(body),
		"played again":     w.Sign(w.Body(long, false)),
	} {
		if a, err := w.Once(call); err != nil || a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, a.Status, err)
		}
	}
	for range 3 {
		if a, err := w.Once(right); err != nil || a.Status != http.StatusOK {
			t.Errorf("%d %v", a.Status, err)
		}
	}
	if in := clienttest.Next(t, got); in.Text != "signed" {
		t.Errorf("%+v", in)
	}
	if a, err := w.Once(w.Sign(w.Body(long, true))); err != nil || a.Status != http.StatusOK { // LINE itself says that it comes again
		t.Errorf("%d %v", a.Status, err)
	}
	if in := clienttest.Next(t, got); in.Text != "old" {
		t.Errorf("%+v", in)
	}
	verify, _ := json.Marshal(map[string]any{"destination": "x", "events": []any{}}) // the console's button
	for _, b := range []string{string(verify), "", "{", "[]", `{"events":[7,{"type":"unsend"},{}]}`} {
		if a, err := w.Once(w.Sign([]byte(b))); err != nil || a.Status >= 500 || b == string(verify) && a.Status != http.StatusOK {
			t.Errorf("%q: %d %v", b, a.Status, err)
		}
	}
	select {
	case in := <-got:
		t.Errorf("%+v came", in)
	default:
	}
}
