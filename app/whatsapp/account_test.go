package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
)

// memory is the gateway's store.
type memory struct {
	mu   sync.Mutex
	m    map[string][]byte
	left int // writes until it fails; 0: it does not
}

func (k *memory) Get(_ context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.m[key], nil
}

func (k *memory) Put(_ context.Context, key string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left > 0 {
		if k.left--; k.left == 0 {
			k.left = 1
			return errors.New("the disk is full")
		}
	}
	if len(value) > 1<<20 {
		return errors.New("a value has at most 1 MB")
	}
	if k.m == nil {
		k.m = map[string][]byte{}
	}
	k.m[key] = value
	return nil
}

func settings(store channel.Durable, more ...string) channel.Account {
	texts := map[string]string{whatsapp.KeyNumber: ourNumber}
	for _, key := range more {
		texts[key] = "true"
	}
	return channel.Account{ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Texts: texts, Durable: store, MaxFile: 1 << 20,
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) }}
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	f, files, store := newFake(), &channeltest.Files{}, &memory{}
	open := func() channel.Channel {
		a := settings(store)
		a.OpenFile = files.Open
		c, err := newAccount(a, f.open)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &channeltest.Setup{
		Channel: open(), Net: f, Connected: true, Waits: 30 * time.Second, Files: files, Again: open,
		Target:  channel.Target{Account: "default", Conversation: "+" + ada.User},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "+" + ada.User, SenderID: "+" + ada.User},
		NextID:  func(n int) string { return "3A" + strings.Repeat("F", n) + "/+" + ada.User },
		Skip: map[loopback.Kind]string{
			loopback.Limited: "WhatsApp names no time to wait",
			loopback.Auth:    "WhatsApp tells of a device that it removed by an event, and the account is linked anew",
		},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	k := whatsapp.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return newAccount(a, newFake().open) }
	channeltest.Kind(t, k, settings(nil), []string{"120363000000000001@g.us"}, []string{"+491701234567", "lid:99887766"})
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

// running runs an account until the test ends.
func running(t *testing.T, f *fake, more ...string) (*account, <-chan channel.Inbound, <-chan error) {
	t.Helper()
	c, err := newAccount(settings(&memory{}, more...), f.open)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	got, ended, over := make(chan channel.Inbound, 100), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		ended <- c.Run(ctx, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
	}()
	t.Cleanup(func() { cancel(); <-over })
	return c, got, ended
}

func next(t *testing.T, got <-chan channel.Inbound) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		return in
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came")
		return channel.Inbound{}
	}
}

// TestLinking: codes are asked for until the phone scanned one, then the account is
// connected; a device that was removed is linked anew.
func TestLinking(t *testing.T) {
	f := newFake()
	f.linked = false
	c, _, _ := running(t, f)
	code := func(item whatsmeow.QRChannelItem) {
		until(t, "asking for codes", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.codes != nil })
		f.codes <- item
	}
	link := func() {
		f.mu.Lock()
		f.linked = true
		f.mu.Unlock()
		code(whatsmeow.QRChannelSuccess)
		f.event(&events.Connected{})
		until(t, "the connection", func() bool { return c.Status().State == channel.Receiving && c.Asking().Kind == "" })
	}
	code(whatsmeow.QRChannelItem{Event: "code", Code: "2@first", Timeout: time.Minute})
	until(t, "the first code", func() bool { return c.Asking().Kind == channel.AskQR && c.Asking().Value == "2@first" })
	if err := c.Asking().Check(time.Now()); err != nil || !strings.Contains(c.Status().Problem, "channels login whatsapp") {
		t.Error(err, c.Status().Problem)
	}
	code(whatsmeow.QRChannelItem{Event: "code", Code: "2@second", Timeout: time.Minute})
	until(t, "the second code", func() bool { return c.Asking().Value == "2@second" })
	link()
	f.mu.Lock()
	f.linked, f.codes = false, nil
	f.mu.Unlock()
	f.event(&events.LoggedOut{})
	until(t, "a word about it", func() bool { return strings.Contains(c.Status().Problem, "removed this linked device") })
	code(whatsmeow.QRChannelItem{Event: "code", Code: "2@third", Timeout: time.Minute})
	until(t, "the third code", func() bool { return c.Asking().Value == "2@third" })
	link()
}

// TestFault_F_CH_WhatsAppBreaks: a message that comes again after a break is not
// forgotten by WhatsApp before it is taken, and is taken once.
func TestFault_F_CH_WhatsAppBreaks(t *testing.T) {
	f := newFake()
	c, err := newAccount(settings(&memory{}), f.open)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	offered, accept, over := make(chan string, 10), make(chan error), make(chan struct{})
	go func() {
		defer close(over)
		_ = c.Run(ctx, func(ctx context.Context, in channel.Inbound) error {
			offered <- in.Text
			select {
			case err := <-accept:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-over })
	f.say(message("A", &waE2E.Message{Conversation: proto.String("hello")}))
	if text := <-offered; text != "hello" {
		t.Error(text)
	}
	f.beside(&events.StreamReplaced{}) // the connection ends while the message is not taken
	until(t, "the end of the connection", func() bool { return c.Status().State == channel.Conflict })
	until(t, "the next one", func() bool { return c.Status().State == channel.Receiving })
	if f.Taken("A/x") {
		t.Error("WhatsApp may forget a message that is not taken")
	}
	accept <- nil
	until(t, "the message being taken", func() bool { return f.Taken("A/x") })
	select {
	case text := <-offered:
		t.Errorf("%q came twice", text)
	default:
	}
}

// TestLinkingByCode: the code is asked for once, with the number of the settings.
func TestLinkingByCode(t *testing.T) {
	f := newFake()
	f.linked = false
	c, _, _ := running(t, f, whatsapp.KeyByCode)
	until(t, "asking for codes", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.codes != nil })
	f.codes <- whatsmeow.QRChannelItem{Event: "code", Code: "2@x", Timeout: time.Minute}
	f.codes <- whatsmeow.QRChannelItem{Event: "code", Code: "2@y", Timeout: time.Minute}
	until(t, "the code", func() bool { return c.Asking().Kind == channel.AskCode && c.Asking().Value == "ABCD-1234" })
	f.codes <- whatsmeow.QRChannelTimeout
	until(t, "the end of it", func() bool { return c.Asking().Kind == "" && strings.Contains(c.Status().Problem, "nobody linked") })
	if len(f.typed) != 1 || f.typed[0] != ourNumber {
		t.Error(f.typed)
	}
}

// TestFault_F_CH_WhatsAppEnds: what ends an account for good says what to do.
func TestFault_F_CH_WhatsAppEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		event any
		says  string
	}{
		"banned":  {&events.TemporaryBan{Code: events.TempBanSentToTooManyPeople, Expire: time.Hour}, "banned"},
		"too old": {&events.ClientOutdated{}, "newer"},
	} {
		f := newFake()
		c, _, ended := running(t, f)
		until(t, "the connection", func() bool { return c.Status().State == channel.Receiving })
		f.event(tc.event)
		if err := <-ended; !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := settings(nil)
	a.Texts[whatsapp.KeyNumber] = "+4915100000000"
	c, _ := newAccount(a, newFake().open)
	if err := c.Run(t.Context(), nil); !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "+4915112345678 was linked") {
		t.Errorf("another phone: %v", err)
	}
	f := newFake()
	other, _, _ := running(t, f)
	until(t, "the connection", func() bool { return other.Status().State == channel.Receiving })
	f.event(&events.StreamReplaced{})
	until(t, "the conflict", func() bool { return other.Status().State == channel.Conflict })
}

func inGroup(m *events.Message) *events.Message {
	m.Info.Chat, m.Info.IsGroup = town, true
	return m
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	f := newFake()
	c, got, _ := running(t, f)
	until(t, "the connection", func() bool { return c.Status().State == channel.Receiving })
	text := func(s string) *waE2E.Message { return &waE2E.Message{Conversation: proto.String(s)} }
	extended := func(s string, about *waE2E.ContextInfo) *waE2E.Message {
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String(s), ContextInfo: about}}
	}
	hidden := types.NewJID("123456", types.HiddenUserServer)
	here := &waE2E.LocationMessage{DegreesLatitude: proto.Float64(52.5), Name: proto.String("Here")}
	for n, change := range []func(*events.Message){
		func(m *events.Message) { m.Info.IsFromMe = true },
		func(m *events.Message) { m.Info.Chat = types.StatusBroadcastJID },
		func(m *events.Message) { m.Info.Chat = types.NewJID("1", types.NewsletterServer) },
		func(m *events.Message) { m.Info.Chat = types.NewJID("1", types.BroadcastServer) },
		func(m *events.Message) { m.IsViewOnce = true },
		func(m *events.Message) {
			m.Message = &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Text: proto.String("👍")}}
		},
		func(m *events.Message) {
			m.Message = &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum()}}
		},
		func(m *events.Message) { m.Info.Sender = types.JID{} },
		func(m *events.Message) { m.Message = nil },
	} {
		m := message(strings.Repeat("N", n+1), text("not for us"))
		change(m)
		if !f.event(m) {
			t.Errorf("what is not for us (%d) is brought again", n)
		}
	}
	for id, tc := range map[string]struct {
		m    *events.Message
		text string
		want func(in channel.Inbound) bool
	}{
		"A": {message("A", text("hello")), "hello", func(in channel.Inbound) bool {
			return in.Chat == channel.Direct && in.Conversation == "+"+ada.User && in.SenderID == in.Conversation &&
				in.SenderName == "Ada" && !in.Mentioned
		}},
		"B": {inGroup(message("B", text("x"))), "x", func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == town.String() && in.Label == "town" && !in.Mentioned
		}},
		"C": {inGroup(message("C", extended("@"+ourL.User+": /status", &waE2E.ContextInfo{MentionedJID: []string{ourL.String()}}))),
			"@" + ourL.User + ": /status", func(in channel.Inbound) bool { return in.Mentioned && in.Command == "/status" }},
		"D": {inGroup(message("D", extended("@5 hi", &waE2E.ContextInfo{MentionedJID: []string{"5@s.whatsapp.net", "x y z"}}))), "@5 hi",
			func(in channel.Inbound) bool { return !in.Mentioned }},
		"E": {inGroup(message("E", extended("why?", &waE2E.ContextInfo{Participant: proto.String(us.String()), QuotedMessage: text("ours")}))),
			"why?", func(in channel.Inbound) bool { return in.Mentioned && in.ReplyToText == "ours" }},
		"F": {message("F", extended("pay me", &waE2E.ContextInfo{IsForwarded: proto.Bool(true)})), "",
			func(in channel.Inbound) bool { return in.Forwarded.Text == "pay me" }},
		"G": {message("G", &waE2E.Message{LocationMessage: here}),
			"Here https://maps.google.com/?q=52.500000,0.000000", func(channel.Inbound) bool { return true }},
	} {
		f.say(tc.m)
		in := next(t, got)
		if in.MessageID != id+"/+"+ada.User && id != "H" || in.Text != tc.text || !tc.want(in) {
			t.Errorf("%s came as %+v", id, in)
		}
	}
	strange := message("L", text("hidden"))
	strange.Info.Chat, strange.Info.Sender = hidden, hidden
	f.say(strange)
	if in := next(t, got); in.SenderID != "lid:123456" || in.Conversation != "lid:123456" {
		t.Errorf("%+v", in)
	}
	strange = message("M", text("known"))
	strange.Info.Chat, strange.Info.Sender, strange.Info.SenderAlt = hidden, hidden, ada
	f.say(strange)
	if in := next(t, got); in.SenderID != "+"+ada.User {
		t.Errorf("%+v", in)
	}
	edit := message("X2", &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(),
		Key: &waCommon.MessageKey{ID: proto.String("A")}, EditedMessage: text("hello again")}})
	f.say(edit)
	if in := next(t, got); !in.Edited || in.MessageID != "A/+"+ada.User || in.Text != "hello again" {
		t.Errorf("%+v", in)
	}
	f.say(edit) // once
	f.say(message("Z", text("last")))
	if in := next(t, got); in.Text != "last" {
		t.Errorf("%+v", in)
	}
	until(t, "reading", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.read) > 5 && f.asked == 1 })
}

// TestWhatIsSent: how parts of a text look, what it answers, and its files.
func TestWhatIsSent(t *testing.T) {
	f := newFake()
	c, got, _ := running(t, f)
	until(t, "the connection", func() bool { return c.Status().State == channel.Receiving })
	f.say(inGroup(message("Q", &waE2E.Message{Conversation: proto.String("what is new?")})))
	asked := next(t, got)
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, []byte("\x89PNG"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := channel.Target{Conversation: town.String(), ReplyTo: asked.MessageID}
	if _, err := c.Send(t.Context(), channel.Message{To: to, Text: "# New 😀\n\nThis **is** `it`, _all_.\n\n```\na\nb\n```"}); err != nil {
		t.Fatal(err)
	}
	if m := f.sent[0]; m.text != "*New 😀*\n\nThis *is* `it`, _all_.\n\n```a\nb```" || m.quoted != "what is new?" || m.to != town.String() {
		t.Errorf("%+v", m)
	}
	picture := []channel.Media{{Name: "a.png", MIME: "image/png", URL: path}}
	if _, err := c.Send(t.Context(), channel.Message{To: to, Text: "see", Media: picture}); err != nil {
		t.Fatal(err)
	}
	if m := f.sent[1]; m.text != "see" || len(m.files) != 1 || string(m.files[0].Content) != "\x89PNG" {
		t.Errorf("%+v", m)
	}
	if err := c.React(t.Context(), to, asked.MessageID, "👀"); err != nil {
		t.Error(err)
	}
	if err := c.Typing(t.Context(), to); err != nil || len(f.composed) != 1 || f.composed[0] != town.String() {
		t.Error(err, f.composed)
	}
	for _, wrong := range []string{"", "+", "lid:x", "49170", "status@broadcast", "+49/1", "x@g.us"} {
		m := channel.Message{To: channel.Target{Conversation: wrong}, Text: "x"}
		if _, err := c.Send(t.Context(), m); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, url := range []string{"", "image:", "image:!!", "none:AAAA", "document:" + strings.Repeat("A", 20_000)} {
		if _, err := c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
	k := key(town, asked.MessageID)
	if k.GetFromMe() || k.GetParticipant() != ada.String() || k.GetID() != "Q" {
		t.Errorf("somebody's message in a group is %v", k)
	}
}

// TestRun: it says its licence, and takes nothing else.
func TestRun(t *testing.T) {
	var told strings.Builder
	if code := run([]string{"x"}, io.NopCloser(strings.NewReader("")), nil, &told); code != 2 || !strings.Contains(told.String(), "Usage") {
		t.Error(code, told.String())
	}
	r, w := io.Pipe()
	go func() { run([]string{"--version"}, io.NopCloser(strings.NewReader("")), w, io.Discard); _ = w.Close() }()
	if b, _ := io.ReadAll(r); !strings.Contains(string(b), "GPL-3.0") {
		t.Errorf("%s", b)
	}
}

// TestLogOut: the phone is told, and the account ends and says how it comes back; while the
// phone cannot be told nothing changes, and where none is linked there is nothing to end.
func TestLogOut(t *testing.T) {
	f := newFake()
	c, _, ended := running(t, f)
	until(t, "the connection", func() bool { return c.Status().State == channel.Receiving })
	f.mu.Lock()
	f.logout = errors.New("the line is down")
	f.mu.Unlock()
	if err := c.LogOut(t.Context()); err == nil || errors.Is(err, channel.ErrAuth) || c.Status().State != channel.Receiving {
		t.Errorf("%v, %+v", err, c.Status())
	}
	f.mu.Lock()
	f.logout = nil
	f.mu.Unlock()
	if err := c.LogOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "channels login whatsapp") {
		t.Errorf("it ended with %v", err)
	}
	if self, _ := f.Self(); !self.IsEmpty() {
		t.Errorf("%s is still linked", self)
	}
	if err := c.LogOut(t.Context()); err == nil || errors.Is(err, channel.ErrAuth) {
		t.Errorf("without a connection: %v", err)
	}
	g := newFake()
	g.linked = false
	other, _, _ := running(t, g)
	until(t, "asking for codes", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.codes != nil })
	g.codes <- whatsmeow.QRChannelItem{Event: "code", Code: "2@first", Timeout: time.Minute}
	until(t, "the code", func() bool { return other.Asking().Kind == channel.AskQR })
	if err := other.LogOut(t.Context()); !errors.Is(err, channel.ErrAuth) {
		t.Errorf("without a phone: %v", err)
	}
	close(g.codes) // as whatsmeow does at the end of a connection
}
