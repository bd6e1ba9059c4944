package client_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/client"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

const key = "abcdefghijklmnopqrstuvwxyzABCD12"

func account(s *zuliptest.Server, store channel.Durable) channel.Account {
	return channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Secrets: map[string]string{zulip.KeyAPIKey: key},
		Texts: map[string]string{zulip.KeySite: s.URL() + "/", zulip.KeyEmail: zuliptest.Email}, Durable: store, MaxFile: 1 << 20,
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) },
	}
}

// world is a server with Ada, a channel, and our client.
type world struct {
	*zuliptest.Server
	ada  zuliptest.User
	dm   zuliptest.Place
	town *zuliptest.Stream
	c    *client.Client
	keep *clienttest.Kept
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := zuliptest.New(key)
	t.Cleanup(s.Close)
	w := &world{Server: s, ada: s.AddUser("Ada", false), town: s.AddStream("town", false), keep: &clienttest.Kept{}}
	w.dm = zuliptest.Place{People: []zuliptest.User{w.ada, s.Bot}}
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
	return channel.Target{Account: "default", Conversation: fmt.Sprint("@", w.ada.ID)}
}

func (w *world) group() channel.Target {
	return channel.Target{Account: "default", Conversation: fmt.Sprint("#", w.town.ID), Thread: "plans"}
}

func (w *world) plans() zuliptest.Place { return zuliptest.Place{Stream: w.town, Topic: "plans"} }

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		what := map[loopback.Op]string{loopback.OpSend: "POST /messages", loopback.OpEdit: "PATCH /messages/{id}"}[f.On]
		w.Fail(what, map[loopback.Kind]zuliptest.Fault{
			loopback.Passing: {Status: 500, Code: "INTERNAL_SERVER_ERROR", Words: "Internal server error"},
			loopback.Limited: {Status: 429, Reset: f.After},
			loopback.Refused: {Status: 400, Code: "BAD_REQUEST", Words: "The time limit for editing this message has passed"},
			loopback.Auth:    {Status: 401, Code: "INVALID_API_KEY", Words: "Invalid API key"},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind])
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) { w.receive(in, in.Text) }

// ReceiveFile implements conformance.FileNetwork.
func (w *world) ReceiveFile(in channel.Inbound, f loopback.File) {
	w.receive(in, in.Text+"\n["+f.Name+"]("+w.Upload(f.Name, f.MIME, f.Content)+")")
}

func (w *world) receive(in channel.Inbound, text string) {
	if r := in.Reaction; r.Reacted() {
		id, _ := strconv.ParseInt(r.MessageID, 10, 64)
		w.Raw(map[string]any{"type": "reaction", "op": map[bool]string{true: "remove", false: "add"}[r.Removed], "user_id": w.ada.ID,
			"message_id": id, "emoji_name": "+1", "emoji_code": "1f44d", "reaction_type": "unicode_emoji"})
		return
	}
	where := w.dm
	if in.Thread != "" {
		where = zuliptest.Place{Stream: w.town, Topic: in.Thread}
	}
	w.Say(w.ada, where, text, func(m *zuliptest.Message) { m.ID, _ = strconv.ParseInt(in.MessageID, 10, 64) })
}

// Taken: nobody tells the server; the history is read from behind what was taken.
func (w *world) Taken(string) bool { return true }

var fileLink = regexp.MustCompile(`\n?\[[^\]]*\]\((/user_uploads/[^)]*)\)`)

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, p := range w.Sent() {
		m := loopback.Message{ID: fmt.Sprint(p.ID), To: w.direct(), Text: fileLink.ReplaceAllString(p.Content, "")}
		if p.At.Stream != nil {
			m.To = channel.Target{Conversation: fmt.Sprint("#", p.At.Stream.ID), Thread: p.At.Topic}
		}
		for _, at := range fileLink.FindAllStringSubmatch(p.Content, -1) {
			f, _ := w.FileOf(at[1])
			m.Files = append(m.Files, loopback.File{Name: f.Name, MIME: f.MIME, Content: f.Data})
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
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: w.direct(), Files: files, Again: open, Thread: w.group(),
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: w.direct().Conversation, SenderID: fmt.Sprint(w.ada.ID)},
		NextID:  func(n int) string { return fmt.Sprint(100_000 + 1000*n) },
		Cannot:  map[string]string{"SendWithoutConnection": "a message is a request of its own"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	texts := func(site, email string) map[string]string {
		return map[string]string{zulip.KeySite: site, zulip.KeyEmail: email}
	}
	right := channel.Account{ID: "default", Texts: texts("https://example.zulipchat.com", zuliptest.Email),
		Secrets: map[string]string{zulip.KeyAPIKey: key}}
	k := zulip.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{"#5", "@7,8"}, []string{"@7"})
	for _, wrong := range []map[string]string{
		texts("", zuliptest.Email), texts("example.zulipchat.com", zuliptest.Email), texts("ftp://x", zuliptest.Email),
		texts("https://x", ""), texts("https://x", "bot"), texts("https://x", "bot:a@b"),
	} {
		right.Texts = wrong
		if err := zulip.Check(right); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

func connected(c *client.Client) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	w := newWorld(t)
	bob, robot := w.AddUser("Bob", false), w.AddUser("Robot", true)
	three := zuliptest.Place{People: []zuliptest.User{w.ada, bob, w.Bot}}
	got, _ := clienttest.Started(t, w.c)
	clienttest.Until(t, "connecting", connected(w.c))
	w.Say(w.Bot, w.plans(), "an answer of ours", nil)
	photo, name := w.Upload("photo 1.png", "image/png", []byte("\x89PNG")), "["+"photo 1.png"+"]"
	silent := fmt.Sprintf("@_**Hearth|%d** said so", w.Bot.ID)
	for _, tc := range []struct {
		who    zuliptest.User
		where  zuliptest.Place
		says   string
		text   string // "": as it says
		change func(*zuliptest.Message)
		want   func(in channel.Inbound) bool
	}{
		{w.ada, w.dm, "hello", "", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Direct && in.Conversation == w.direct().Conversation && in.SenderID == fmt.Sprint(w.ada.ID) &&
				in.SenderName == "Ada" && in.SenderHandle == w.ada.Email && in.Thread == "" && !in.SenderIsBot && !in.Mentioned
		}},
		{w.ada, w.plans(), "@**Hearth**: /status", "", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == w.group().Conversation && in.Thread == "plans" && in.Mentioned &&
				in.Command == "/status" && in.Label == "town" && in.Room == "#town"
		}},
		{w.ada, w.plans(), fmt.Sprintf("stop @**Hearth|%d**", w.Bot.ID), "stop @**Hearth|" + fmt.Sprint(w.Bot.ID) + "**", nil,
			func(in channel.Inbound) bool { return in.Mentioned && in.Command == "stop" }},
		{w.ada, w.plans(), "who is @**Hearth** here", "", nil, func(in channel.Inbound) bool { return in.Mentioned && in.Command == "" }},
		{w.ada, w.plans(), "Hearth, @Hearth, @**all** and " + silent, "", nil, func(in channel.Inbound) bool { return !in.Mentioned }},
		{bob, three, "x", "", nil, func(in channel.Inbound) bool {
			return in.Chat == channel.Group && in.Conversation == fmt.Sprintf("@%d,%d", w.ada.ID, bob.ID) && in.Label == "Ada, Bob"
		}},
		{robot, w.plans(), "beep", "", nil, func(in channel.Inbound) bool { return in.SenderIsBot }},
		{w.ada, w.plans(), "Ada resolved this", "", func(m *zuliptest.Message) { m.Client = "Internal" },
			func(in channel.Inbound) bool { return in.SenderIsBot }},
		{w.ada, w.dm, "!" + name + "(" + photo + ")", "\x00", nil, func(in channel.Inbound) bool {
			return len(in.Media) == 1 && in.Media[0] == channel.Media{MIME: "image/png", Name: "photo 1.png", Size: 4, URL: photo}
		}},
		{w.ada, w.dm, "see " + name + "(" + w.URL() + photo + ") and [this](/help)", "see photo 1.png and [this](/help)", nil,
			func(in channel.Inbound) bool { return len(in.Media) == 1 && in.Media[0].URL == photo }},
		{w.ada, w.dm, "[x](/user_uploads/../../../x) [y](/user_uploads/temporary/1/2) [z](/user_uploads/2/%2e%2e/x)", "", nil,
			func(in channel.Inbound) bool { return len(in.Media) == 0 }},
		{w.ada, w.dm, "\u202egnirts\u200b", "", nil, func(in channel.Inbound) bool { return true }},
	} {
		m := w.Say(tc.who, tc.where, tc.says, tc.change)
		text := tc.text
		switch text {
		case "":
			text = tc.says
		case "\x00": // nothing is left of it
			text = ""
		}
		in := clienttest.Next(t, got)
		if in.MessageID != fmt.Sprint(m.ID) || in.Text != text || in.At.Unix() != m.Timestamp || in.Channel != zulip.ID || !tc.want(in) {
			t.Errorf("%q came as %+v", tc.says, in)
		}
	}
	// The picture of a link changes no words; what people change does.
	changed := w.Say(w.ada, w.dm, "one", nil)
	w.Preview(changed)
	w.Change(changed, "two")
	w.Change(w.Say(w.Bot, w.dm, "ours", nil), "ours too")
	w.Change(changed, "three")
	for i, want := range []string{"one", "two", "three"} {
		if in := clienttest.Next(t, got); in.Text != want || in.Edited != (i > 0) || in.MessageID != fmt.Sprint(changed.ID) {
			t.Errorf("%+v, not %q", in, want)
		}
	}
}

// TestFiles: both ways, within the limits.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("the notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := channel.Message{To: w.group(), Text: "here", Media: []channel.Media{{Name: "notes [1] @**all** & more.txt", URL: path}}}
	if _, err := w.c.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	sent := w.Sent()
	if len(sent) != 1 || !strings.HasPrefix(sent[0].Content, "here\n[notes _1_ ") || len(zuliptest.Pings(sent[0].Content)) != 0 {
		t.Fatalf("%+v", sent)
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
	for _, url := range []string{"/user_uploads/2/aa/none/x", "/user_uploads/../users/me", "/users/me", ""} {
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
	m := w.Say(w.ada, w.plans(), "x", nil)
	id := fmt.Sprint(m.ID)
	for _, tc := range []struct{ sign, want string }{{"👀", "eyes"}, {"✅", "check"}, {"✅", "check"}, {"🛠", "working_on_it"}, {"", ""}} {
		if err := w.c.React(t.Context(), w.group(), id, tc.sign); err != nil {
			t.Fatal(err)
		}
		all := w.Reactions(m)
		if tc.want == "" && len(all) != 0 || tc.want != "" && (len(all) != 1 || all[0].Name != tc.want) {
			t.Errorf("after %q: %+v", tc.sign, all)
		}
	}
	if err := w.c.React(t.Context(), w.group(), id, "🂡"); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("an emoji without a name: %v", err)
	}
	for _, to := range []channel.Target{w.group(), w.direct(), {Conversation: w.group().Conversation}} {
		if err := w.c.Typing(t.Context(), to); err != nil {
			t.Error(err)
		}
	}
	want := fmt.Sprintf("%d/plans %d %d/(no topic)", w.town.ID, w.ada.ID, w.town.ID)
	if got := strings.Join(w.Typed(), " "); got != want {
		t.Errorf("typed in %q, want %q", got, want)
	}
}
