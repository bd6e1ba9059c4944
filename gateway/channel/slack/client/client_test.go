package client_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/client"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/slacktest"
)

const (
	botToken = "xoxb-1234567890-abcdefghijklmno"
	appToken = "xapp-1-A0000000-1234567890-abcdef"
)

func account(s *slacktest.Server, store channel.Durable) channel.Account {
	return channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Secrets: map[string]string{slack.KeyBot: botToken, slack.KeyApp: appToken},
		Texts:   map[string]string{slack.KeyRoot: s.URL() + "/"}, Durable: store, MaxFile: 1 << 20,
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) },
	}
}

// world is a workspace with Ada, a channel, and our client.
type world struct {
	*slacktest.Server
	ada  slacktest.User
	dm   *slacktest.Channel
	town *slacktest.Channel
	c    *client.Client
	keep *clienttest.Kept
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := slacktest.New(botToken, appToken, slack.Scopes())
	t.Cleanup(s.Close)
	w := &world{Server: s, ada: s.AddUser("ada", false), keep: &clienttest.Kept{}}
	w.dm, w.town = s.Direct(w.ada), s.AddChannel("town")
	w.c = w.open(t)
	return w
}

func (w *world) open(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(account(w.Server, w.keep))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) group() channel.Target {
	return channel.Target{Account: "default", Conversation: w.town.ID}
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		method := map[loopback.Op]string{loopback.OpSend: "chat.postMessage", loopback.OpEdit: "chat.update"}[f.On]
		w.Fail(method, map[loopback.Kind]slacktest.Fault{
			loopback.Passing: {Error: "service_unavailable"},
			loopback.Limited: {Status: 429, After: f.After},
			loopback.Refused: {Error: "restricted_action"},
			loopback.Auth:    {Error: "token_revoked"},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind])
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) { w.receive(in) }

// ReceiveFile implements conformance.FileNetwork.
func (w *world) ReceiveFile(in channel.Inbound, f loopback.File) {
	w.receive(in, w.Upload(f.Name, f.MIME, f.Content))
}

func (w *world) receive(in channel.Inbound, files ...slacktest.File) {
	switch {
	case in.Press.Pressed():
		w.Press(w.ada, in.Press.MessageID, in.Press.Data)
		return
	case in.Reaction.Reacted():
		w.React(w.ada, in.Reaction.MessageID, "+1", in.Reaction.Removed)
		return
	}
	where := w.dm
	if in.Conversation == w.town.ID {
		where = w.town
	}
	w.Say(w.ada, where, in.Text, func(m *slacktest.Message) {
		m.TS, m.Thread, m.Files = in.MessageID, in.Thread, files
		if len(files) > 0 {
			m.Subtype = "file_share"
		}
	})
}

// Taken is whether the event was acknowledged.
func (w *world) Taken(messageID string) bool {
	until := time.Now().Add(5 * time.Second) // it is on its way
	for !w.Acked(messageID) && time.Now().Before(until) {
		<-time.After(time.Millisecond)
	}
	return w.Acked(messageID)
}

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, p := range w.Sent() {
		m := loopback.Message{ID: p.TS, To: channel.Target{Conversation: p.Channel, Thread: p.Thread}, Text: p.Text, Words: p.Words,
			Pinned: p.Pinned}
		for _, b := range p.Buttons() {
			m.Choices = append(m.Choices, channel.Choice{Data: b.Value, Label: b.Text.Text})
		}
		for _, f := range p.Files {
			m.Files = append(m.Files, loopback.File{Name: f.Name, MIME: f.MIME, Content: w.FileOf(f.ID).Data})
		}
		for _, r := range p.Reactions {
			m.Reactions = append(m.Reactions, map[string]string{"+1": "👍", "heart": "❤"}[r.Name])
		}
		out = append(out, m)
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, files := newWorld(t), &channeltest.Files{}
	open := func() channel.Channel {
		a := account(w.Server, w.keep)
		a.OpenFile = files.Open
		c, err := client.New(a)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := w.Silently(w.ada, w.town, "a thread")
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Files: files, Again: open,
		Target:  channel.Target{Account: "default", Conversation: w.dm.ID},
		Thread:  channel.Target{Account: "default", Conversation: w.town.ID, Thread: first.TS},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: w.dm.ID, SenderID: w.ada.ID},
		NextID:  func(n int) string { return fmt.Sprintf("2900000000.%06d", n) },
		Cannot:  map[string]string{"SendWithoutConnection": "a message is a request of its own"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{},
		Secrets: map[string]string{slack.KeyBot: botToken, slack.KeyApp: appToken}}
	k := slack.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{"C0123456789", "G0123456789"}, []string{"D0123456789", "U0123456789"})
}

// TestManifest: the manifest asks for the scopes that the client needs.
func TestManifest(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/channels/slack-manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if m := slack.Kind().Manifest; m.Text != string(b) || m.Name != "slack-manifest.yaml" {
		t.Error("gateway/channel/slack/manifest.yaml is another one than docs/channels/slack-manifest.yaml")
	}
	for _, scope := range slack.Scopes() {
		if !strings.Contains(string(b), "      - "+scope+"\n") {
			t.Errorf("the manifest lacks %s", scope)
		}
	}
	if !strings.Contains(string(b), "socket_mode_enabled: true") {
		t.Error("the manifest does not switch Socket Mode on")
	}
}

func connected(c *client.Client) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	w := newWorld(t)
	robot := w.AddUser("robot", true)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	me := "<@" + w.Bot.ID + ">"
	mine := w.Say(w.Bot, w.town, "ours", nil)
	photo := w.Upload("photo.png", "image/png", []byte("png"))
	type message = *slacktest.Message
	for _, tc := range []struct {
		who    slacktest.User
		where  *slacktest.Channel
		text   string
		change func(m message)
		want   func(in channel.Inbound) bool
	}{
		{w.ada, w.dm, "a &lt; b &amp;&amp; c", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Direct && in.Conversation == w.dm.ID && in.SenderID == w.ada.ID && in.SenderName == "The ada" &&
				in.SenderHandle == "ada" && in.Text == "a < b && c"
		}},
		{w.ada, w.town, me + " /status", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == w.town.ID && in.Mentioned && in.Command == "/status" && in.Label == "#town" &&
				in.Room == "#town" && in.Space == "T0000001" &&
				in.Text == "@hearth /status"
		}},
		{w.ada, w.town, "hearth, @hearth and <!here>", nil, func(in channel.Inbound) bool {
			return !in.Mentioned && in.Text == "hearth, @hearth and @here"
		}},
		{w.ada, w.town, "<@" + robot.ID + "> <#C123|den> <https://e.com/?a&amp;b|site> <https://e.com>", nil, func(in channel.Inbound) bool {
			return in.Text == "@robot #den site (https://e.com/?a&b) https://e.com"
		}},
		{robot, w.town, "beep", nil, func(in channel.Inbound) bool { return in.SenderIsBot }},
		{slacktest.User{}, w.town, "by a hook", func(m message) { m.Subtype, m.Bot = "bot_message", "B0000000002" },
			func(in channel.Inbound) bool { return in.SenderIsBot && in.SenderID == "B0000000002" }},
		{w.ada, w.town, "why?", func(m message) { m.Thread, m.Parent = mine.TS, w.Bot.ID }, func(in channel.Inbound) bool {
			return in.Mentioned && in.Thread == mine.TS
		}},
		{w.ada, w.dm, "", func(m message) { m.Subtype, m.Files = "file_share", []slacktest.File{photo} }, func(in channel.Inbound) bool {
			return len(in.Media) == 1 && in.Media[0] == channel.Media{MIME: "image/png", Name: "photo.png", Size: 3, URL: photo.URL}
		}},
		{w.ada, w.dm, "\u202egnirts\u200b", nil, func(in channel.Inbound) bool { return in.Text == "\u202egnirts\u200b" }},
	} {
		m := w.Say(tc.who, tc.where, tc.text, tc.change)
		in := clienttest.Next(t, got)
		if in.MessageID != m.TS || in.At.IsZero() || in.Channel != slack.ID || !tc.want(in) {
			t.Errorf("%q came as %+v", tc.text, in)
		}
	}
	// Slack's own words, and the picture of a link, are not for us.
	w.Say(w.ada, w.town, "ada joined", func(m message) { m.Subtype = "channel_join" })
	changed := w.Say(w.ada, w.dm, "one", nil)
	w.Change(changed, "", true)
	w.Change(changed, "two", false)
	if in := clienttest.Next(t, got); in.Text != "one" || in.Edited {
		t.Errorf("%+v", in)
	}
	if in := clienttest.Next(t, got); in.Text != "two" || !in.Edited || in.MessageID != changed.TS {
		t.Errorf("%+v", in)
	}
	clienttest.Until(t, "acknowledging everything", func() bool { return w.Unacked() == 0 })
}

// TestFetch: files are for who has the scope, from Slack alone.
func TestFetch(t *testing.T) {
	w := newWorld(t)
	f := w.Upload("a.bin", "application/octet-stream", []byte("bytes"))
	r, err := w.c.Fetch(t.Context(), channel.Media{URL: f.URL})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if _ = r.Close(); string(b) != "bytes" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	w.Unscope("files:read")
	for _, url := range []string{f.URL, "http://127.0.0.1:1/x", "https://files.slack.com.example.org/x", "file:///etc/passwd", ""} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestSec_A_CH_NobodyIsCalled: no text of a model calls anybody.
func TestSec_A_CH_NobodyIsCalled(t *testing.T) {
	w := newWorld(t)
	text := "<!channel> <!here|x> <@" + w.ada.ID + "> [<!everyone>](https://e.com) <!subteam^S1>"
	r, err := w.c.Send(t.Context(), channel.Message{To: w.group(), Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.c.Edit(t.Context(), w.group(), r.MessageID, text+" x"); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"<!", "<@", "<#"} {
		if sent := w.Sent(); strings.Contains(sent[0].Text, call) {
			t.Errorf("it says %q", sent[0].Text)
		}
	}
}

// TestCommand: what stands behind /hearth is said to us; a command is one by its name.
func TestCommand(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	if err := w.c.Menu(t.Context(), []channel.Command{{Name: "status"}, {Name: "help"}}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range [][2]string{{"status now", "/status now"}, {"how are you?", "how are you?"}, {"", "/help"}} {
		w.Command(w.ada, w.town, "/hearth", tc[0])
		if in := clienttest.Next(t, got); in.Text != tc[1] || !in.Mentioned || in.Conversation != w.town.ID || in.SenderID != w.ada.ID {
			t.Errorf("%q came as %+v", tc[0], in)
		}
	}
}
