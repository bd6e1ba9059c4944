package client_test

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/client"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
)

const token = "abcdefghijklmnopqrstuvwx12"

func account(s *mattermosttest.Server, store channel.Durable) channel.Account {
	return channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Secrets: map[string]string{mattermost.KeyToken: token},
		Texts: map[string]string{mattermost.KeyBase: s.URL() + "/"}, Durable: store, MaxFile: 1 << 20,
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) },
	}
}

// world is a server with Ada, a channel with her and the bot, and our client.
type world struct {
	*mattermosttest.Server
	ada  mattermosttest.User
	dm   *mattermosttest.Channel
	town *mattermosttest.Channel
	c    *client.Client
	keep *clienttest.Kept

	said map[string]*mattermosttest.Post // by the suite's ids
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := mattermosttest.New(token)
	t.Cleanup(s.Close)
	w := &world{Server: s, ada: s.AddUser("ada", false), keep: &clienttest.Kept{}, said: map[string]*mattermosttest.Post{}}
	w.dm, w.town = s.Direct(w.ada), s.AddChannel("O", "town", w.ada)
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

func (w *world) direct() channel.Target {
	return channel.Target{Account: "default", Conversation: "@" + w.ada.ID}
}

func (w *world) group() channel.Target {
	return channel.Target{Account: "default", Conversation: w.town.ID}
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		what := map[loopback.Op]string{loopback.OpSend: "POST /posts", loopback.OpEdit: "PUT /posts/{id}/patch"}[f.On]
		w.Fail(what, map[loopback.Kind]mattermosttest.Fault{
			loopback.Passing: {Status: 500, ID: "app.post.save.app_error", Words: "Unable to save the Post."},
			loopback.Limited: {Status: 429, Reset: f.After},
			loopback.Refused: {Status: 403, ID: "api.context.permissions.app_error", Words: "You do not have the appropriate permissions."},
			loopback.Auth:    {Status: 401, ID: "api.context.session_expired.app_error", Words: "Invalid or expired session."},
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

func (w *world) receive(in channel.Inbound, files ...string) {
	if r := in.Reaction; r.Reacted() {
		w.React(w.ada, r.MessageID, "+1", r.Removed)
		return
	}
	where := w.dm
	if in.Conversation == w.town.ID {
		where = w.town
	}
	w.Say(w.ada, where, in.Text, func(p *mattermosttest.Post) { p.ID, p.RootID, p.FileIDs = in.MessageID, in.Thread, files })
}

// Taken: nobody tells the server; the history is read from behind what was taken.
func (w *world) Taken(string) bool { return true }

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, p := range w.Sent() {
		m := loopback.Message{ID: p.ID, To: channel.Target{Conversation: p.ChannelID, Thread: p.RootID}, Text: p.Message, Pinned: p.Pinned}
		for _, id := range p.FileIDs {
			f := w.FileOf(id)
			m.Files = append(m.Files, loopback.File{Name: f.Name, MIME: f.MIME, Content: f.Data})
		}
		for _, r := range w.Reactions() {
			if r.PostID == p.ID {
				m.Reactions = append(m.Reactions, map[string]string{"+1": "👍", "heart": "❤"}[r.Name])
			}
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
	first := w.Say(w.ada, w.town, "a thread", nil)
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: w.direct(), Files: files, Again: open,
		Thread:  channel.Target{Account: "default", Conversation: w.town.ID, Thread: first.ID},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "@" + w.ada.ID, SenderID: w.ada.ID},
		NextID:  func(n int) string { return strings.Repeat("m", 25) + string(rune('0'+n)) },
		Cannot:  map[string]string{"SendWithoutConnection": "a post is a request of its own"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{mattermost.KeyBase: "https://chat.example.org"},
		Secrets: map[string]string{mattermost.KeyToken: token}}
	k := mattermost.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{strings.Repeat("c", 26)}, []string{"@" + strings.Repeat("u", 26)})
	for _, base := range []string{"", "chat.example.org", "ftp://x"} {
		right.Texts = map[string]string{mattermost.KeyBase: base}
		if err := mattermost.Check(right); err == nil {
			t.Errorf("the address %q", base)
		}
	}
}

func connected(c *client.Client) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	w := newWorld(t)
	bob, other := w.AddUser("bob", true), w.AddUser("hearth.two", false)
	some := w.AddChannel("G", "some", w.ada, bob)
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	mine := w.Say(w.Bot, w.town, "an answer of ours", nil)
	photo := w.Upload("photo.png", "image/png", []byte("\x89PNG"))
	for _, tc := range []struct {
		who    mattermosttest.User
		where  *mattermosttest.Channel
		text   string
		change func(*mattermosttest.Post)
		want   func(in channel.Inbound) bool
	}{
		{w.ada, w.dm, "hello", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Direct && in.Conversation == "@"+w.ada.ID && in.SenderID == w.ada.ID && in.SenderHandle == "ada" &&
				!in.SenderIsBot
		}},
		{w.ada, w.town, "@Hearth: /status", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == w.town.ID && in.Mentioned && in.Command == "/status" && in.Label == "TOWN" &&
				in.Room == "#town" && in.Space == mattermosttest.Team
		}},
		{w.ada, w.town, "who is @hearth.", nil, func(in channel.Inbound) bool { return in.Mentioned }},
		{w.ada, w.town, "stop @hearth", nil, func(in channel.Inbound) bool { return in.Mentioned && in.Command == "stop" }},
		{w.ada, w.town, "mail ada@hearth, hearth, @hearth.two and @channel", nil, func(in channel.Inbound) bool { return !in.Mentioned }},
		{other, some, "x", nil, func(in channel.Inbound) bool { return in.Chat == channel.Group && in.SenderHandle == "hearth.two" }},
		{bob, w.town, "beep", nil, func(in channel.Inbound) bool { return in.SenderIsBot }},
		{w.ada, w.town, "by a hook", func(p *mattermosttest.Post) { p.Props["from_webhook"] = "true" },
			func(in channel.Inbound) bool { return in.SenderIsBot }},
		{w.ada, w.town, "why?", func(p *mattermosttest.Post) { p.RootID = mine.ID }, func(in channel.Inbound) bool {
			return in.Mentioned && in.Thread == mine.ID && in.ReplyToText == "an answer of ours"
		}},
		{w.ada, w.dm, "", func(p *mattermosttest.Post) { p.FileIDs = []string{photo} }, func(in channel.Inbound) bool {
			return len(in.Media) == 1 && in.Media[0] == channel.Media{MIME: "image/png", Name: "photo.png", Size: 4, URL: photo}
		}},
		{w.ada, w.dm, "\u202egnirts\u200b", nil, func(in channel.Inbound) bool { return in.Text == "\u202egnirts\u200b" }},
	} {
		p := w.Say(tc.who, tc.where, tc.text, tc.change)
		in := clienttest.Next(t, got)
		if in.MessageID != p.ID || in.Text != tc.text || in.At.UnixMilli() != p.CreateAt || in.Channel != mattermost.ID || !tc.want(in) {
			t.Errorf("%q came as %+v", tc.text, in)
		}
	}
	// Nobody's words, and those that were only pinned, are not for us.
	w.Say(w.ada, w.town, "ada joined", func(p *mattermosttest.Post) { p.Type = "system_join_channel" })
	w.Pin(w.Say(w.ada, w.dm, "draft", nil))
	if in := clienttest.Next(t, got); in.Text != "draft" || in.Edited {
		t.Errorf("%+v", in)
	}
	changed := w.Say(w.ada, w.dm, "one", nil)
	w.Change(changed, "two")
	if in := clienttest.Next(t, got); in.Text != "one" {
		t.Errorf("%+v", in)
	}
	if in := clienttest.Next(t, got); in.Text != "two" || !in.Edited || in.MessageID != changed.ID {
		t.Errorf("%+v", in)
	}
}

// TestFiles: both ways, within the limits.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("the notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := channel.Message{To: w.group(), Text: "here", Media: []channel.Media{{Name: "notes & more.txt", URL: path}}}
	if _, err := w.c.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	sent := w.Sent()
	if len(sent) != 1 || sent[0].Message != "here" || len(sent[0].FileIDs) != 1 {
		t.Fatalf("%+v", sent)
	}
	if f := w.FileOf(sent[0].FileIDs[0]); f.Name != "notes & more.txt" || string(f.Data) != "the notes" {
		t.Errorf("%+v", f)
	}
	id := w.Upload("a.bin", "application/octet-stream", []byte("bytes"))
	r, err := w.c.Fetch(t.Context(), channel.Media{URL: id})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if _ = r.Close(); string(b) != "bytes" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	for _, url := range []string{strings.Repeat("x", 26), "../users/me", ""} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
	if err := os.Truncate(path, 2<<20); err != nil {
		t.Fatal(err)
	}
	m = channel.Message{To: w.group(), Media: []channel.Media{{URL: path}}}
	if _, err := w.c.Send(t.Context(), m); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file of 2 MB where 1 is allowed: %v", err)
	}
}

// TestReactAndType: our emoji takes the place of the one before; typing is seen where
// the answer will be.
func TestReactAndType(t *testing.T) {
	w := newWorld(t)
	p := w.Say(w.ada, w.town, "x", nil)
	for sign, want := range map[string]string{"👀": "eyes", "✅": "white_check_mark", "": ""} {
		if err := w.c.React(t.Context(), w.group(), p.ID, sign); err != nil {
			t.Fatal(err)
		}
		all := w.Reactions()
		if want == "" && len(all) != 0 || want != "" && (len(all) != 1 || all[0].Name != want) {
			t.Errorf("after %q: %+v", sign, all)
		}
	}
	if err := w.c.React(t.Context(), w.group(), p.ID, "🂡"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("an emoji without a name: %v", err)
	}
	to := w.group()
	to.Thread = p.ID
	if err := w.c.Typing(t.Context(), to); err != nil || strings.Join(w.Typed(), " ") != w.town.ID+"/"+p.ID {
		t.Errorf("%v %v", w.Typed(), err)
	}
}
