package imessage

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/hearth-assistant/hearth/gateway/channel/imessage/imessagetest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

const ada = "+491701234567"

// world is a Mac that Ada writes to.
type world struct {
	*imessagetest.Mac
	keep clienttest.Kept
}

func newWorld(t *testing.T) *world { return &world{Mac: imessagetest.New(t)} }

func (w *world) account(more map[string]string) channel.Account {
	texts := map[string]string{keyProgram: "/opt/homebrew/bin/imsg", keyFiles: "true"}
	for k, v := range more {
		texts[k] = v
	}
	return channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Durable: &w.keep, MaxFile: 1 << 20, Texts: texts, Launch: w.Launch,
		OpenFile: func(path string) (fs.File, error) { return os.Open(path) },
	}
}

func (w *world) open(t *testing.T, more map[string]string) *Client {
	t.Helper()
	c, err := New(w.account(more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		w.Fail(map[loopback.Kind]imessagetest.Fault{
			loopback.OK:      {},
			loopback.Passing: {Code: -32603, Words: "AppleScript failed: Not authorized to send Apple events to Messages. (-1743)"},
			loopback.Refused: {Code: -32602, Words: "invalid chat target"},
			loopback.Lost:    {EndAfter: true},
			loopback.Broken:  {EndBefore: true},
		}[f.Kind])
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) { w.Say(in.MessageID, ada, in.Text, nil) }

// ReceiveFile implements conformance.FileNetwork.
func (w *world) ReceiveFile(in channel.Inbound, f loopback.File) {
	w.Say(in.MessageID, ada, in.Text, imessagetest.Message{"attachments": []any{
		w.Attach(imessagetest.File{Name: f.Name, MIME: f.MIME, Data: f.Content})}})
}

// Taken: imsg is told when it is started again.
func (w *world) Taken(string) bool { return true }

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, m := range w.Sent() {
		one := loopback.Message{ID: m.ID, To: channel.Target{Account: "default", Conversation: m.To}, Text: m.Text}
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
	open := func() channel.Channel {
		a := w.account(nil)
		a.OpenFile = files.Open
		c, err := New(a)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Files: files, Again: open,
		Target:  channel.Target{Account: "default", Conversation: ada},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: ada, SenderID: ada},
		Skip:    map[loopback.Kind]string{loopback.Limited: "Messages says no time", loopback.Auth: "imsg has no login"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

func TestKind(t *testing.T) {
	right := channel.Account{ID: "default", Texts: map[string]string{keyProgram: "/Users/ada/imsg-ssh"}}
	channeltest.Kind(t, Kind(), right, []string{"chat_id:42"}, []string{ada, "ada@example.com"})
	for _, c := range []struct {
		mac   bool
		texts map[string]string
		want  string
	}{
		{true, map[string]string{}, "cliPath"},
		{true, map[string]string{keyProgram: "imsg rpc"}, "no program"},
		{true, map[string]string{keyProgram: "./imsg"}, "no program"},
		{false, map[string]string{keyProgram: "imsg"}, "needs a Mac"},
		{true, map[string]string{keyProgram: "imsg", keyRemote: "-oProxyCommand=x"}, "remoteHost"},
		{true, map[string]string{keyProgram: "imsg", keyRemote: "ada@mac; rm x"}, "remoteHost"},
		{true, map[string]string{keyProgram: "imsg"}, ""},
		{false, map[string]string{keyProgram: "/home/ada/imsg-ssh", keyRemote: "ada@mac-mini.local"}, ""},
	} {
		err := check(channel.Account{Texts: c.texts}, c.mac)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.texts, err)
		}
	}
}

// TestInbound: who wrote, where, and what of it is for us.
func TestInbound(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, nil)
	got, _ := clienttest.Connected(t, c)
	group := imessagetest.Message{"chat_id": 42, "chat_name": "Town", "is_group": true, "participants": []string{ada, "bob@example.com"}}
	with := func(base imessagetest.Message, more imessagetest.Message) imessagetest.Message {
		out := imessagetest.Message{}
		for _, m := range []imessagetest.Message{base, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	// none of these comes
	w.Say("ours", ada, "from our phone", imessagetest.Message{"is_from_me": true})
	w.Say("self", "bot@icloud.com", "to ourselves", imessagetest.Message{"destination_caller_id": "Bot@icloud.com"})
	w.Say("tap", ada, "Liked “x”", imessagetest.Message{"is_reaction": true, "reaction_emoji": "👍"})
	w.Say("", ada, "no name", nil)
	w.Say("nobody", "", "x", nil)
	w.Say("forged", "chat_id:42", "x", nil)
	w.Say("empty", ada, "\ufffc", nil)
	w.Raw("Last login: yesterday")
	w.Raw(`{"jsonrpc":"2.0","method":"message","params":{"message":"x"}}`)
	w.Raw(`{"jsonrpc":"2.0","id":"99","result":{}}`)
	// all of these do
	w.Say("a", "Ada@Example.com", "hello", nil)
	w.Say("b", ada, "not for us", group)
	w.Say("c", "bob@example.com", "Hearth, what is the time?", group)
	w.Say("d", ada, "and you?", with(group, imessagetest.Message{"reply_to_guid": "p:0/ours"}))
	w.Say("e", ada, "to all", imessagetest.Message{"chat_id": 9, "participants": []string{ada, "x@example.com"}})
	w.Say("f", ada, "", imessagetest.Message{"attachments": []any{
		w.Attach(imessagetest.File{Name: "Audio Message.caf", Data: []byte("caff")})}})
	for _, want := range []struct {
		id, conversation, sender, text, command, reply string
		chat                                           channel.ChatType
		mentioned                                      bool
	}{
		{"a", "ada@example.com", "ada@example.com", "hello", "", "", channel.Direct, false},
		{"b", "chat_id:42", ada, "not for us", "", "", channel.Group, false},
		{"c", "chat_id:42", "bob@example.com", "Hearth, what is the time?", "what is the time?", "", channel.Group, true},
		{"d", "chat_id:42", ada, "and you?", "", "from our phone", channel.Group, true},
		{"e", "chat_id:9", ada, "to all", "", "", channel.Group, false},
		{"f", ada, ada, "", "", "", channel.Direct, false},
	} {
		in := clienttest.Next(t, got)
		if in.MessageID != want.id || in.Conversation != want.conversation || in.SenderID != want.sender || in.Text != want.text ||
			in.Command != want.command || in.ReplyToText != want.reply || in.Chat != want.chat || in.Mentioned != want.mentioned {
			t.Errorf("%+v, want %+v", in, want)
		}
		if want.id == "f" && (len(in.Media) != 1 || !in.Media[0].Voice || in.Media[0].MIME != "audio/x-caf") {
			t.Errorf("%+v", in.Media)
		}
	}
}

// TestSend: to whom, by what, and what is refused before it leaves.
func TestSend(t *testing.T) {
	w := newWorld(t)
	w.Old()
	c := w.open(t, map[string]string{keyDatabase: "/Users/bot/Library/Messages/chat.db", keyService: "imessage", keyRegion: "at"})
	if _, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: ada}, Text: "x"}); err == nil ||
		errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
		t.Errorf("without imsg: %v", err)
	}
	_, _ = clienttest.Connected(t, c)
	ids := map[string]bool{}
	for _, to := range []string{ada, "Ada@example.com", "chat_id:42"} {
		r, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: "**bold** words"})
		if err != nil || r.MessageID == "" || ids[r.MessageID] {
			t.Errorf("%s: %v %v", to, r, err)
		}
		ids[r.MessageID] = true
	}
	if s := w.Sent(); len(s) != 3 || s[1].To != "ada@example.com" || s[2].To != "chat_id:42" || s[0].Text != "bold words" {
		t.Errorf("%+v", s)
	}
	if s := w.Starts(); len(s) != 1 || strings.Join(s[0][1:], " ") != "rpc --db /Users/bot/Library/Messages/chat.db" {
		t.Errorf("%q", s)
	}
	for _, to := range []string{"", "chat_id:x", "chat_id:-1", "chat_id:43", "-x@y", "Bob", "a b@c"} {
		if _, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: "x"}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	for words, want := range map[string]error{
		"AppleEvent timed out. (-1712)":                            channel.ErrUncertain,
		"Messages got an error: Can’t get buddy id \"x\". (-1728)": channel.ErrRefused,
	} {
		w.Fail(imessagetest.Fault{Code: -32603, Words: words})
		if _, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: ada}, Text: "x"}); !errors.Is(err, want) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// A Mac that does not let anybody read Messages says what to do, and imsg that ends is
// started again: nothing is lost.
func TestFault_F_CH_IMsgEnds(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, nil)
	got, _ := clienttest.Connected(t, c)
	w.Say("a", ada, "one", nil)
	if in := clienttest.Next(t, got); in.MessageID != "a" {
		t.Errorf("%+v", in)
	}
	w.Block(true)
	w.End()
	clienttest.Until(t, "what is wrong", func() bool {
		s := c.Status()
		return s.State == channel.Waiting && strings.Contains(s.Problem, "Full Disk Access")
	})
	w.Say("b", ada, "two", nil)
	w.Block(false)
	if in := clienttest.Next(t, got); in.MessageID != "b" {
		t.Errorf("%+v", in)
	}
	w.Raw(`{"jsonrpc":"2.0","method":"error","params":{"subscription":1,"error":{"message":"disk I/O error"}}}`)
	w.Say("c", ada, "three", nil)
	if in := clienttest.Next(t, got); in.MessageID != "c" {
		t.Errorf("%+v", in)
	}
}

// Only files of Messages are opened, whatever a message calls its own.
func TestSec_A_FILE_OnlyFilesOfMessages(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, nil)
	good := w.Attach(imessagetest.File{Name: "a.txt", Data: []byte("hello")})["original_path"].(string)
	r, err := c.Fetch(t.Context(), channel.Media{URL: good})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(r)
	if _ = r.Close(); string(data) != "hello" {
		t.Errorf("%q", data)
	}
	large := w.Attach(imessagetest.File{Name: "b.bin", Data: make([]byte, 2<<20)})["original_path"].(string)
	for _, bad := range []string{"", "/etc/passwd", "a.txt", "/x/Library/Messages/Attachments/../../../../etc/passwd", good + "x", large,
		"/x/Library/Messages/Attachments/a\nb"} {
		if _, err := c.Fetch(t.Context(), channel.Media{URL: bad}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	far := w.open(t, map[string]string{keyRemote: "ada@mac"})
	var argv []string
	far.launch = func(_ context.Context, _, _ string, a []string) (channel.Process, error) {
		argv = a
		return nil, errors.New("no")
	}
	if _, err := far.Fetch(t.Context(), channel.Media{URL: "~/Library/Messages/Attachments/it's; rm -rf x"}); err == nil {
		t.Error("it came")
	}
	if want := `cat "$HOME"/'Library/Messages/Attachments/it'\''s; rm -rf x'`; len(argv) == 0 || argv[len(argv)-1] != want ||
		argv[len(argv)-2] != "ada@mac" {
		t.Errorf("%q", argv)
	}
	if far.Limits().Files != 0 {
		t.Error("files are sent to another computer")
	}
}

// FuzzLine: whatever imsg says, nothing breaks.
func FuzzLine(f *testing.F) {
	f.Add(`{"method":"message","params":{"message":{"id":1,"guid":"a","sender":"b@c","text":"x","participants":["a"],"chat_id":-1}}}`)
	f.Add(`{"id":"1","result":null}`)
	f.Add(`{"method":"error"}`)
	c, err := New(channel.Account{ID: "x", Texts: map[string]string{keyProgram: "/imsg", keyFiles: "true"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, line string) {
		l := &link{waiting: map[string]chan reply{}, notify: func(m string, p json.RawMessage) { _ = c.told(m, p) }}
		l.line([]byte(line))
	})
}
