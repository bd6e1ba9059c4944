package client_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/signal/client"
	"github.com/hearth-assistant/hearth/gateway/channel/signal/signaltest"
)

// world is signal-cli with Ada, a group, and our client.
type world struct {
	*signaltest.Server
	ada  signaltest.Person
	town string
	c    *client.Client
	keep *clienttest.Kept
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := signaltest.New(time.Now().UnixMilli())
	t.Cleanup(s.Close)
	w := &world{Server: s, ada: s.AddPerson("Ada", "+491701234567"), town: s.AddGroup("town"), keep: &clienttest.Kept{}}
	w.c = w.open(t, true)
	return w
}

func (w *world) account(receipts bool) channel.Account {
	return channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Durable: w.keep, MaxFile: 1 << 20,
		Texts:    map[string]string{signal.KeyAccount: signaltest.Number, signal.KeyURL: w.URL() + "/", signal.KeyReceipts: fmt.Sprint(receipts)},
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) },
	}
}

func (w *world) open(t *testing.T, receipts bool) *client.Client {
	t.Helper()
	c, err := client.New(w.account(receipts))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) direct() channel.Target {
	return channel.Target{Account: "default", Conversation: signal.PersonSign + w.ada.UUID}
}

func (w *world) group() channel.Target {
	return channel.Target{Account: "default", Conversation: w.town}
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		w.Fail(map[loopback.Op]string{loopback.OpSend: "send", loopback.OpEdit: "edit"}[f.On], map[loopback.Kind]signaltest.Fault{
			loopback.OK:      {},
			loopback.Passing: {Code: -32603, Words: "Failed to send message: chat.signal.org (UnknownHostException)"},
			loopback.Limited: {Result: "RATE_LIMIT_FAILURE", After: int(f.After / time.Second)},
			loopback.Refused: {Result: "UNREGISTERED_FAILURE"},
			loopback.Auth:    {Code: -32603, Words: "Failed to send message: [401] Authorization failed! (AuthorizationFailedException)"},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind])
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) { w.receive(in, map[string]any{"message": in.Text}) }

// ReceiveFile implements conformance.FileNetwork.
func (w *world) ReceiveFile(in channel.Inbound, f loopback.File) {
	file := w.AddFile(signaltest.File{Name: f.Name, MIME: f.MIME, Data: f.Content})
	w.receive(in, map[string]any{"message": in.Text, "attachments": []any{file}})
}

func (w *world) receive(in channel.Inbound, data map[string]any) {
	at, _, _ := strings.Cut(in.MessageID, "/")
	data["timestamp"], _ = strconv.ParseInt(at, 10, 64)
	w.Say(w.ada, "", data)
}

// Taken: signal-cli is told when it is connected to again.
func (w *world) Taken(string) bool { return true }

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, m := range w.Sent() {
		one := loopback.Message{ID: fmt.Sprint(m.At), To: w.direct(), Text: m.Text, Reactions: m.Reactions, Deleted: m.Deleted}
		for _, f := range m.Files {
			one.Files = append(one.Files, loopback.File{Name: f.Name, MIME: f.MIME, Content: f.Data})
		}
		out = append(out, one)
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, files := newWorld(t), &channeltest.Files{}
	begin := time.Now().UnixMilli()
	open := func() channel.Channel {
		a := w.account(false)
		a.OpenFile = files.Open
		c, err := client.New(a)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: w.direct(), Files: files, Again: open,
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: w.direct().Conversation, SenderID: signal.PersonSign + w.ada.UUID},
		NextID:  func(n int) string { return fmt.Sprintf("%d/%s", begin+int64(1000*n), w.ada.UUID) },
		Cannot:  map[string]string{"SendWithoutConnection": "a message is a request of its own"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{signal.KeyAccount: signaltest.Number}}
	k := signal.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{"Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI="}, []string{"uuid:" + signaltest.Self})
	for _, wrong := range []map[string]string{
		{}, {signal.KeyAccount: "0151 1234"}, {signal.KeyAccount: "+0123456789"},
		{signal.KeyAccount: signaltest.Number, signal.KeyURL: "ftp://x"},
		{signal.KeyAccount: signaltest.Number, signal.KeyURL: "127.0.0.1:8080"},
	} {
		right.Texts = wrong
		if err := signal.Check(right); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
	for want, texts := range map[string]map[string]string{
		"http://127.0.0.1:8080": {}, "http://[::1]:9": {signal.KeyHost: "::1", signal.KeyPort: "9"},
		"https://s.example": {signal.KeyURL: "https://s.example/", signal.KeyPort: "9"},
	} {
		if got := signal.Address(channel.Account{Texts: texts}); got != want {
			t.Errorf("%v is at %s, want %s", texts, got, want)
		}
	}
}

func mention(start int, who signaltest.Person) map[string]any {
	var number any
	if who.Number != "" {
		number = who.Number
	}
	return map[string]any{"name": who.UUID, "number": number, "uuid": who.UUID, "start": start, "length": 1}
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	w := newWorld(t)
	bob, self := w.AddPerson("Bob", ""), signaltest.Person{UUID: signaltest.Self, Number: signaltest.Number, Name: "Hearth"}
	got, _ := clienttest.Connected(t, w.c)
	ours, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: "an answer"})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := strconv.ParseInt(ours.MessageID, 10, 64)
	nothing := func() { // none of these comes
		w.Say(self, "", map[string]any{"message": "ours"})
		w.Tell(w.ada, map[string]any{"typingMessage": map[string]any{"action": "STARTED", "timestamp": 1}})
		w.Tell(w.ada, map[string]any{"receiptMessage": map[string]any{"when": 1, "isRead": true, "timestamps": []int{1}}})
		w.Tell(self, map[string]any{"syncMessage": map[string]any{"sentMessage": map[string]any{"message": "from our phone", "timestamp": 1}}})
		w.Say(w.ada, "", map[string]any{"reaction": map[string]any{"emoji": "👍", "targetSentTimestamp": at, "isRemove": false}})
		w.Say(w.ada, "", map[string]any{"message": "once", "viewOnce": true})
		w.Say(w.ada, "", map[string]any{"message": "of a story", "storyContext": map[string]any{"sentTimestamp": 1}})
		w.Say(w.ada, "no group", map[string]any{"message": "x"})
		w.Say(signaltest.Person{UUID: "someone", Name: "Eve"}, "", map[string]any{"message": "x"})
		w.Say(w.ada, "", map[string]any{"message": "gone", "timestamp": int64(-5)})
		w.Raw(`{"account":"+4911111111","envelope":{"sourceUuid":"` + w.ada.UUID + `","dataMessage":{"timestamp":7,"message":"x"}}}`)
		w.Raw(`{"exception":{"message":"x","type":"UntrustedIdentityException"},"account":"` + signaltest.Number + `"}`)
		w.Raw(`{`)
		w.Raw(`[[[[`)
	}
	for _, tc := range []struct {
		who   signaltest.Person
		group string
		data  map[string]any
		text  string
		want  func(in channel.Inbound) bool
	}{
		{w.ada, "", map[string]any{"message": "hello"}, "hello", func(in channel.Inbound) bool {
			return in.Chat == channel.Direct && in.Conversation == "uuid:"+w.ada.UUID && in.SenderID == in.Conversation && in.SenderName == "Ada" &&
				!in.Mentioned && in.Label == "Ada"
		}},
		{bob, w.town, map[string]any{"message": "x"}, "x", func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == w.town && in.Label == "town" && in.SenderName == "Bob" && !in.Mentioned
		}},
		{bob, w.town, map[string]any{"message": "😀 \ufffc: /status", "mentions": []any{mention(3, self)}},
			"😀 @" + signaltest.Number + ": /status", func(in channel.Inbound) bool { return in.Mentioned }},
		{bob, w.town, map[string]any{"message": "\ufffc /status", "mentions": []any{mention(0, signaltest.Person{UUID: signaltest.Self})}},
			"@" + signaltest.Self + " /status", func(in channel.Inbound) bool { return in.Mentioned && in.Command == "/status" }},
		{bob, w.town, map[string]any{"message": "\ufffc and \ufffc", "mentions": []any{mention(0, w.ada), mention(6, bob), mention(99, self)}},
			"@" + w.ada.Number + " and @" + bob.UUID, func(in channel.Inbound) bool { return !in.Mentioned }},
		{bob, w.town, map[string]any{"message": "why?", "quote": map[string]any{"id": at, "authorUuid": signaltest.Self, "text": "an answer"}},
			"why?", func(in channel.Inbound) bool { return in.Mentioned && in.ReplyToText == "an answer" }},
		{bob, w.town, map[string]any{"message": "\u202egnirts\u200b"}, "\u202egnirts\u200b", func(channel.Inbound) bool { return true }},
	} {
		nothing()
		at := w.Say(tc.who, tc.group, tc.data)
		in := clienttest.Next(t, got)
		if in.MessageID != fmt.Sprintf("%d/%s", at, tc.who.UUID) || in.Text != tc.text || in.At.UnixMilli() != at || !tc.want(in) {
			t.Errorf("%v came as %+v", tc.data, in)
		}
	}
	first := w.Say(w.ada, "", map[string]any{"message": "one"})
	newer := w.Change(w.ada, first, "two")
	w.Change(w.ada, newer, "three")
	for i, want := range []string{"one", "two", "three"} {
		if in := clienttest.Next(t, got); in.Text != want || in.Edited != (i > 0) || in.MessageID != fmt.Sprintf("%d/%s", first, w.ada.UUID) {
			t.Errorf("%+v, not %q", in, want)
		}
	}
	clienttest.Until(t, "reading", func() bool { return len(w.Read()) > 0 })
	if read := w.Read(); read[0] == "" {
		t.Error(read)
	}
}

// TestWhatIsSent: how parts of a text look, what it answers, and its files.
func TestWhatIsSent(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Connected(t, w.c)
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("the notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Say(w.ada, w.town, map[string]any{"message": "what is new?"})
	asked := clienttest.Next(t, got)
	to := w.group()
	to.ReplyTo = asked.MessageID
	if _, err := w.c.Send(t.Context(), channel.Message{To: to, Text: "# New 😀\n\nThis **is** `it`, _all_.",
		Media: []channel.Media{{Name: "notes, all; of them.txt", URL: path}}}); err != nil {
		t.Fatal(err)
	}
	m := w.Sent()[0]
	want := "[{0 6 BOLD} {13 2 BOLD} {16 2 MONOSPACE} {20 3 ITALIC}]"
	if m.Text != "New 😀\n\nThis is it, all." || fmt.Sprint(m.Styles) != want {
		t.Errorf("%q with %v, want %v", m.Text, m.Styles, want)
	}
	if m.Quote == nil || m.Quote.Author != w.ada.UUID || m.Quote.Text != "what is new?" || m.To != w.town {
		t.Errorf("it answers %+v in %s", m.Quote, m.To)
	}
	if len(m.Files) != 1 || m.Files[0].Name != "notes, all; of them.txt" || string(m.Files[0].Data) != "the notes" {
		t.Errorf("%+v", m.Files)
	}
	if err := w.c.React(t.Context(), w.group(), asked.MessageID, "👀"); err != nil {
		t.Error(err)
	}
	if err := w.c.Typing(t.Context(), w.group()); err != nil || fmt.Sprint(w.Typed()) != fmt.Sprint([]string{w.town}) {
		t.Error(err, w.Typed())
	}
	file := w.AddFile(signaltest.File{Name: "a.bin", MIME: "image/png", Data: []byte("bytes")})
	w.Say(w.ada, w.town, map[string]any{"attachments": []any{file}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 1 || in.Media[0].Name != "a.bin" || in.Media[0].MIME != "image/png" || in.Media[0].Size != 5 {
		t.Fatalf("%+v", in)
	}
	r, err := w.c.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "bytes" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	for _, url := range []string{"", "id=../x&in=" + w.direct().Conversation, "id=x&in=nobody", "id=none&in=" + w.direct().Conversation} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
}
