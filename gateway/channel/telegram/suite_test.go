package telegram

import (
	"maps"
	"strconv"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

// network lets the suite play with the Bot API server.
type network struct {
	*telegramtest.Server
	said int
}

func (n *network) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		method := map[loopback.Op]string{loopback.OpSend: "sendMessage", loopback.OpEdit: "editMessageText"}[f.On]
		n.Fail(method, map[loopback.Kind]telegramtest.Fault{
			loopback.Passing: {Status: 500, Description: "Internal Server Error"},
			loopback.Limited: {Status: 429, Description: "Too Many Requests", RetryAfter: int(f.After.Seconds())},
			loopback.Refused: {Status: 400, Description: "Bad Request: message can't be edited"},
			loopback.Auth:    {Status: 401, Description: "Unauthorized"},
			loopback.Lost:    {CutAfter: true},
		}[f.Kind])
	}
}

func (n *network) Receive(in channel.Inbound) { n.receive(in, nil) }

// ReceiveFile implements conformance.FileNetwork.
func (n *network) ReceiveFile(in channel.Inbound, f loopback.File) {
	id := "file-" + in.MessageID
	n.AddFile(id, telegramtest.File{Name: f.Name, MIME: f.MIME, Path: "documents/" + in.MessageID, Data: f.Content})
	caption := in.Text
	in.Text = ""
	n.receive(in, map[string]any{"caption": caption,
		"document": map[string]any{"file_id": id, "file_name": f.Name, "mime_type": f.MIME, "file_size": len(f.Content)}})
}

func (n *network) receive(in channel.Inbound, extra map[string]any) {
	chat, _ := strconv.ParseInt(in.Conversation, 10, 64)
	switch {
	case in.Press.Pressed():
		message, _ := strconv.ParseInt(in.Press.MessageID, 10, 64)
		n.said++
		n.Press(chat, ann(), message, in.Press.Data)
		return
	case in.Reaction.Reacted():
		message, _ := strconv.ParseInt(in.Reaction.MessageID, 10, 64)
		emoji := []string{in.Reaction.Emoji}
		if in.Reaction.Removed {
			emoji = nil
		}
		n.said++
		n.React(chat, ann(), message, emoji...)
		return
	}
	id, _ := strconv.ParseInt(in.MessageID, 10, 64)
	fields := map[string]any{"message_id": id}
	if in.Thread != "" {
		thread, _ := strconv.ParseInt(in.Thread, 10, 64)
		fields["message_thread_id"], fields["is_topic_message"] = thread, true
	}
	maps.Copy(fields, extra)
	n.said++
	n.Say(chat, ann(), in.Text, fields)
}

func (n *network) Taken(messageID string) bool {
	id, _ := strconv.Atoi(messageID)
	return n.said-n.Pending() >= id
}

func (n *network) Messages() (out []loopback.Message) {
	for _, chat := range []int64{dm, forum} {
		for _, m := range n.Sent(chat) {
			seen := loopback.Message{ID: strconv.FormatInt(m.ID, 10), To: target(chat), Text: m.Text, Reactions: m.Reactions, Edits: m.Edits,
				Words: m.Words, Options: m.Options, Pinned: m.Pinned, Silent: m.Quiet}
			for _, b := range m.Buttons {
				seen.Choices = append(seen.Choices, channel.Choice{Data: b.Data, Label: b.Label})
			}
			if m.Thread != 0 {
				seen.To.Thread = strconv.FormatInt(m.Thread, 10)
			}
			if m.File != nil {
				seen.Files = []loopback.File{{Name: m.File.Name, MIME: m.File.MIME, Content: m.File.Data}}
			}
			out = append(out, seen)
		}
	}
	return out
}

func suite(t *testing.T) *channeltest.Setup {
	t.Helper()
	net, files := &network{Server: telegramtest.New(testToken)}, &channeltest.Files{}
	t.Cleanup(net.Close)
	net.AddChat(telegramtest.Chat{ID: dm, Type: "private", Title: "Ann"})
	net.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Forum", Forum: true, Topics: []int64{5}})
	bot := func() channel.Channel {
		ch, err := New(Options{Token: testToken, BaseURL: net.URL(), HTTP: net.Client(), OpenFile: files.Open, MaxFile: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	return &channeltest.Setup{
		Channel: bot(), Net: net, Target: target(dm), Thread: channel.Target{Conversation: number(forum), Thread: "5"},
		Inbound: channel.Inbound{Conversation: number(dm)},
		NextID:  strconv.Itoa, Files: files, Again: bot,
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, suite) }

// TestChannelAsProgram: the gateway has Telegram within it; the contract holds over
// the protocol all the same.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, suite) }

func TestKind(t *testing.T) {
	channeltest.Kind(t, Kind(), channel.Account{ID: "work", Secrets: map[string]string{"botToken": testToken}},
		[]string{number(group), number(forum)}, []string{number(dm)})
}

// Menu implements conformance.MenuNetwork.
func (n *network) Menu(language string) (out [][2]string) {
	for _, c := range n.Server.Menu(language) {
		out = append(out, [2]string{c.Name, c.Description})
	}
	return out
}
