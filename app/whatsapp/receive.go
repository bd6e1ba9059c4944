package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
)

// person is what somebody is called: by the phone number, and by WhatsApp's own number
// where it hides that.
func person(one, other types.JID) string {
	for _, j := range []types.JID{one, other} {
		if j.Server == types.DefaultUserServer && j.User != "" {
			return "+" + j.User
		}
	}
	if one.Server == types.HiddenUserServer {
		return whatsapp.HiddenSign + one.User
	}
	return ""
}

// jidOf is where a conversation is.
func jidOf(conversation string) (types.JID, error) {
	digits := func(s string) bool { return s != "" && len(s) < 25 && strings.Trim(s, "0123456789-") == "" }
	if n, ok := strings.CutPrefix(conversation, "+"); ok && digits(n) {
		return types.NewJID(n, types.DefaultUserServer), nil
	}
	if n, ok := strings.CutPrefix(conversation, whatsapp.HiddenSign); ok && digits(n) {
		return types.NewJID(n, types.HiddenUserServer), nil
	}
	if n, ok := strings.CutSuffix(conversation, whatsapp.GroupSign); ok && digits(n) {
		return types.NewJID(n, types.GroupServer), nil
	}
	return types.JID{}, refused("%q is no conversation: a person is called by the phone number, a group by its id, which ends in %s",
		cut(conversation), whatsapp.GroupSign)
}

// came takes a message: when it is durably accepted, WhatsApp may forget it.
func (c *account) came(ctx context.Context, net network, e *events.Message) bool {
	in, id, ok := c.inbound(ctx, net, e)
	if !ok {
		return true
	}
	taken, err := c.waits(id, e.Info.Timestamp.UnixMilli(), in)
	if err != nil {
		c.log.Warn("a message waits at WhatsApp", "err", err)
		return false
	}
	select {
	case <-taken:
	case <-ctx.Done():
		return false
	}
	c.mu.Lock()
	c.status.LastTake = c.now()
	c.mu.Unlock()
	if c.receipts && !in.Edited {
		if err := net.Read(ctx, e.Info.ID, e.Info.Chat, e.Info.Sender); err != nil && ctx.Err() == nil {
			c.log.Warn("that a message was read could not be told", "err", err)
		}
	}
	return true
}

// waits puts a message into the line, unless it is there already or was taken; the
// channel is closed when it is taken.
func (c *account) waits(id string, mark int64, in channel.Inbound) (<-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if taken := c.waiting[id]; taken != nil {
		return taken, nil
	}
	taken := make(chan struct{})
	if c.queue.Seen(id) { // before
		close(taken)
		return taken, nil
	}
	c.waiting[id] = taken
	err := c.queue.Add(intake.Item{ID: id, Mark: mark, In: in, Taken: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
		close(taken)
	}})
	if err != nil {
		delete(c.waiting, id)
	}
	return taken, err
}

// inbound makes a message for the gateway; ok is false when it is none for us: our own,
// a status, what goes to many, a reaction, a poll, or what can be looked at once.
func (c *account) inbound(ctx context.Context, net network, e *events.Message) (in channel.Inbound, id string, ok bool) {
	i := e.Info
	group := i.Chat.Server == types.GroupServer
	direct := i.Chat.Server == types.DefaultUserServer || i.Chat.Server == types.HiddenUserServer
	if i.IsFromMe || !group && !direct || e.IsViewOnce || e.SourceWebMsg != nil || i.ID == "" {
		return in, "", false
	}
	m, messageID, edited := e.Message, i.ID, false
	if p := m.GetProtocolMessage(); p != nil {
		if p.GetType() != waE2E.ProtocolMessage_MESSAGE_EDIT || p.GetEditedMessage() == nil || p.GetKey().GetID() == "" {
			return in, "", false
		}
		m, messageID, edited = p.GetEditedMessage(), p.GetKey().GetID(), true
	}
	sender := person(i.Sender.ToNonAD(), i.SenderAlt.ToNonAD())
	if sender == "" {
		return in, "", false
	}
	in = channel.Inbound{
		Channel: whatsapp.ID, Account: c.name, Chat: channel.Direct, Conversation: sender, SenderID: sender,
		SenderName: cmp.Or(i.PushName, sender), MessageID: messageID + "/" + sender, At: i.Timestamp, Edited: edited,
	}
	in.Label = in.SenderName
	if group {
		in.Chat, in.Conversation, in.Label = channel.Group, i.Chat.String(), c.groupName(ctx, net, i.Chat)
	}
	words, about, file := c.content(m)
	in.Text = words
	if file != nil {
		in.Media = []channel.Media{*file}
	}
	c.addressed(net, &in, about)
	c.said.keep(in.MessageID, in.Text)
	return in, sender + "/" + i.ID, in.Text != "" || in.Forwarded.Text != "" || len(in.Media) > 0
}

// content is what a message says, what it is about, and its file.
func (c *account) content(m *waE2E.Message) (words string, about *waE2E.ContextInfo, file *channel.Media) {
	switch {
	case m.GetExtendedTextMessage() != nil:
		return m.GetExtendedTextMessage().GetText(), m.GetExtendedTextMessage().GetContextInfo(), nil
	case m.GetImageMessage() != nil:
		x := proto.CloneOf(m.GetImageMessage())
		x.JPEGThumbnail = nil
		return x.GetCaption(), x.GetContextInfo(), fileOf("image", x, x.GetMimetype(), "", x.GetFileLength())
	case m.GetVideoMessage() != nil:
		x := proto.CloneOf(m.GetVideoMessage())
		x.JPEGThumbnail = nil
		return x.GetCaption(), x.GetContextInfo(), fileOf("video", x, x.GetMimetype(), "", x.GetFileLength())
	case m.GetAudioMessage() != nil:
		x := m.GetAudioMessage()
		if file = fileOf("audio", x, x.GetMimetype(), "", x.GetFileLength()); file != nil {
			file.Voice = x.GetPTT()
		}
		return "", x.GetContextInfo(), file
	case m.GetStickerMessage() != nil:
		x := m.GetStickerMessage()
		return "", x.GetContextInfo(), fileOf("sticker", x, x.GetMimetype(), "", x.GetFileLength())
	case m.GetDocumentMessage() != nil:
		x := proto.CloneOf(m.GetDocumentMessage())
		x.JPEGThumbnail = nil
		return x.GetCaption(), x.GetContextInfo(), fileOf("document", x, x.GetMimetype(), x.GetFileName(), x.GetFileLength())
	case m.GetLocationMessage() != nil:
		x := m.GetLocationMessage()
		return strings.TrimSpace(x.GetName() + " " + format("https://maps.google.com/?q=%.6f,%.6f",
			[]any{x.GetDegreesLatitude(), x.GetDegreesLongitude()})), x.GetContextInfo(), nil
	}
	return m.GetConversation(), nil, nil
}

// longestFileURL is how long what is needed to fetch a file may be.
const longestFileURL = 8 << 10

// fileOf is a file as it is told: its URL has all that is needed to fetch it.
func fileOf(kind string, m proto.Message, mime, name string, size uint64) *channel.Media {
	b, err := proto.Marshal(m)
	if err != nil || len(b) > longestFileURL {
		return nil
	}
	mime, _, _ = strings.Cut(mime, ";")
	if name == "" {
		_, end, _ := strings.Cut(mime, "/")
		name = kind + "." + cmp.Or(strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, end), "bin")
	}
	return &channel.Media{MIME: mime, Name: name, Size: int64(min(size, 1<<40)), URL: kind + ":" + base64.RawURLEncoding.EncodeToString(b)}
}

// downloadable reads what fileOf wrote.
func downloadable(url string) (whatsmeow.DownloadableMessage, error) {
	kind, rest, _ := strings.Cut(url, ":")
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || len(b) > longestFileURL {
		return nil, refused("%q is no file of a message", cut(url))
	}
	read := func(m interface {
		proto.Message
		whatsmeow.DownloadableMessage
	}) (whatsmeow.DownloadableMessage, error) {
		if proto.Unmarshal(b, m) != nil || m.GetDirectPath() == "" || len(m.GetMediaKey()) == 0 {
			return nil, refused("%q is no file of a message", cut(url))
		}
		return m, nil
	}
	switch kind {
	case "image":
		return read(&waE2E.ImageMessage{})
	case "video":
		return read(&waE2E.VideoMessage{})
	case "audio":
		return read(&waE2E.AudioMessage{})
	case "sticker":
		return read(&waE2E.StickerMessage{})
	case "document":
		return read(&waE2E.DocumentMessage{})
	}
	return nil, refused("%q is no file of a message", cut(url))
}

// addressed says whether a message is for us, what it quotes, and whose words it passes
// on.
func (c *account) addressed(net network, in *channel.Inbound, about *waE2E.ContextInfo) {
	if about == nil {
		return
	}
	number, hidden := net.Self()
	ours := func(s string) bool {
		j, err := types.ParseJID(s)
		return err == nil && j.User != "" && (j.ToNonAD() == number || j.ToNonAD() == hidden)
	}
	for _, m := range about.GetMentionedJID()[:min(len(about.GetMentionedJID()), 100)] {
		if !ours(m) {
			continue
		}
		in.Mentioned = true
		bare := in.Text
		for _, user := range []string{number.User, hidden.User} {
			if user != "" {
				bare = strings.ReplaceAll(bare, "@"+user, "")
			}
		}
		in.Command = strings.TrimLeft(strings.TrimSpace(bare), ":, ")
	}
	if q := about.GetQuotedMessage(); q != nil {
		in.ReplyToText, _, _ = c.content(q)
		in.Mentioned = in.Mentioned || ours(about.GetParticipant())
	}
	if about.GetIsForwarded() {
		in.Forwarded = channel.Forwarded{From: "somebody", Text: in.Text}
		in.Text, in.Command = "", ""
		if in.Forwarded.Text == "" {
			in.Forwarded = channel.Forwarded{}
		}
	}
}

// groupName is what a group is called, asked for once.
func (c *account) groupName(ctx context.Context, net network, id types.JID) string {
	c.mu.Lock()
	name, ok := c.groups[id]
	c.mu.Unlock()
	if ok {
		return name
	}
	name, err := net.Group(ctx, id)
	if err != nil || name == "" {
		return id.String()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.groups) > mostSaid {
		clear(c.groups)
	}
	c.groups[id] = name
	return name
}
