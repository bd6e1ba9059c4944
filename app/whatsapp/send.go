package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
	"github.com/hearth-assistant/hearth/internal/text"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

func cut(s string) string { return text.Ellipsis(s, 60) }

// newID is what a message of ours is called: as phones call theirs.
func newID() string {
	b := make([]byte, 9)
	_, _ = rand.Read(b) // it does not fail
	return "3EB0" + strings.ToUpper(hex.EncodeToString(b))
}

// Send sends a text, and each file as a message of its own, the text with the first.
func (c *account) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	to, err := jidOf(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	words := dressed(m.Text)
	if utf8.RuneCountInString(words) > 2*whatsapp.Limits.Text {
		return channel.Receipt{}, refused("the message has %d characters, and at most %d are sent", utf8.RuneCountInString(words),
			whatsapp.Limits.Text)
	}
	net, err := c.connected()
	if err != nil {
		return channel.Receipt{}, err
	}
	about := c.quote(m.To.ReplyTo)
	var parts []*waE2E.Message
	for i, f := range m.Media {
		caption := ""
		if i == 0 && utf8.RuneCountInString(words) <= 2*whatsapp.Limits.Caption {
			caption, words = words, ""
		}
		part, err := c.file(ctx, net, f, m.Manner, caption, about)
		if err != nil {
			return channel.Receipt{}, err
		}
		parts, about = append(parts, part), nil
	}
	if strings.TrimSpace(words) != "" {
		parts = append([]*waE2E.Message{textMessage(words, about)}, parts...)
	}
	if len(parts) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	first := newID()
	for i, part := range parts {
		id := first
		if i > 0 {
			id = newID()
		}
		if err := c.judge(ctx, net.Send(ctx, to, part, id)); err != nil {
			if i > 0 {
				err = fmt.Errorf("%w: a part of it has arrived (%v)", channel.ErrUncertain, err)
			}
			return channel.Receipt{}, err
		}
	}
	c.said.keep(first, dressed(m.Text))
	return channel.Receipt{MessageID: first}, nil
}

// textMessage is a text, which quotes what about says.
func textMessage(words string, about *waE2E.ContextInfo) *waE2E.Message {
	if about == nil {
		return &waE2E.Message{Conversation: proto.String(words)}
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String(words), ContextInfo: about}}
}

// quote is the message that is answered, when it is known.
func (c *account) quote(id string) *waE2E.ContextInfo {
	name, sender, ok := strings.Cut(id, "/")
	words, known, _ := c.said.get(id)
	if !ok || !known || words == "" {
		return nil
	}
	from, err := jidOf(sender)
	if err != nil {
		return nil
	}
	return &waE2E.ContextInfo{StanzaID: proto.String(name), Participant: proto.String(from.String()),
		QuotedMessage: &waE2E.Message{Conversation: proto.String(words)}}
}

// judge says what an error of a request that must not be done twice means.
func (c *account) judge(ctx context.Context, err error) error {
	var limit *whatsmeow.IQError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, whatsmeow.ErrNotConnected), errors.Is(err, whatsmeow.ErrNotLoggedIn):
		return fmt.Errorf("WhatsApp is not connected: %w", err)
	case errors.As(err, &limit) && limit.Code == 429:
		return &channel.RateLimit{After: time.Minute} // it names no time
	case errors.Is(err, whatsmeow.ErrServerReturnedError), errors.Is(err, whatsmeow.ErrUnknownServer), errors.Is(err, whatsmeow.ErrNotInGroup),
		errors.Is(err, whatsmeow.ErrGroupNotFound), errors.Is(err, whatsmeow.ErrRecipientADJID):
		return fmt.Errorf("%w: %w", channel.ErrRefused, err)
	case errors.Is(err, whatsmeow.ErrMessageTimedOut), errors.Is(err, whatsmeow.ErrIQDisconnected), isDisconnected(err), ctx.Err() != nil:
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err // it was not encrypted, so nothing left
}

func isDisconnected(err error) bool {
	var d *whatsmeow.DisconnectedError
	return errors.As(err, &d)
}

// file is a message with a file, which is encrypted and brought to WhatsApp before.
func (c *account) file(
	ctx context.Context, net network, m channel.Media, how channel.Manner, caption string, about *waE2E.ContextInfo,
) (*waE2E.Message, error) {
	if c.openFile == nil {
		return nil, refused("no file may leave here")
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return nil, fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	most := c.Limits().Files
	b, err := channel.ReadFile(f, most)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the file that is to be sent: %w", err)
	case int64(len(b)) > most:
		return nil, refused("the file has more than the %d bytes that are sent", most)
	case len(b) == 0:
		return nil, refused("the file is empty")
	}
	name := cmp.Or(path.Base(strings.ToValidUTF8(m.Name, "_")), "file")
	kind, _, err := mime.ParseMediaType(cmp.Or(m.MIME, mime.TypeByExtension(path.Ext(name))))
	if err != nil {
		kind = "application/octet-stream"
	}
	media := map[string]whatsmeow.MediaType{"image/jpeg": whatsmeow.MediaImage, "image/png": whatsmeow.MediaImage,
		"video/mp4": whatsmeow.MediaVideo, "audio/ogg": whatsmeow.MediaAudio, "audio/mpeg": whatsmeow.MediaAudio}[kind]
	if how.Document {
		media = ""
	}
	up, err := net.Upload(ctx, b, cmp.Or(media, whatsmeow.MediaDocument))
	if err != nil {
		return nil, fmt.Errorf("bring a file to WhatsApp: %w", err)
	}
	out := fileMessage(media, up, kind, name, caption, about)
	if v := out.GetVideoMessage(); v != nil && how.Animation {
		v.GifPlayback = proto.Bool(true)
	}
	return out, nil
}

func fileMessage(
	media whatsmeow.MediaType, up whatsmeow.UploadResponse, kind, name, caption string, about *waE2E.ContextInfo,
) *waE2E.Message {
	url, at, size := proto.String(up.URL), proto.String(up.DirectPath), proto.Uint64(up.FileLength)
	var words *string
	if caption != "" {
		words = proto.String(caption)
	}
	switch media {
	case whatsmeow.MediaImage:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{URL: url, DirectPath: at, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256,
			FileSHA256: up.FileSHA256, FileLength: size, Mimetype: proto.String(kind), Caption: words, ContextInfo: about}}
	case whatsmeow.MediaVideo:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{URL: url, DirectPath: at, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256,
			FileSHA256: up.FileSHA256, FileLength: size, Mimetype: proto.String(kind), Caption: words, ContextInfo: about}}
	case whatsmeow.MediaAudio:
		if words == nil { // a voice note has no caption
			voice := kind == "audio/ogg"
			if voice {
				kind = "audio/ogg; codecs=opus"
			}
			return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{URL: url, DirectPath: at, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256,
				FileEncSHA256: up.FileEncSHA256, FileLength: size, Mimetype: proto.String(kind), PTT: proto.Bool(voice), ContextInfo: about}}
		}
	}
	return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{URL: url, DirectPath: at, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256,
		FileEncSHA256: up.FileEncSHA256, FileLength: size, Mimetype: proto.String(kind), FileName: proto.String(name),
		Title: proto.String(name), Caption: words, ContextInfo: about}}
}

// key names a message: ours, or somebody's.
func key(to types.JID, id string) *waCommon.MessageKey {
	name, sender, others := strings.Cut(id, "/")
	k := &waCommon.MessageKey{RemoteJID: proto.String(to.String()), FromMe: proto.Bool(!others), ID: proto.String(name)}
	if from, err := jidOf(sender); others && err == nil && to.Server == types.GroupServer {
		k.Participant = proto.String(from.String())
	}
	return k
}

// change sends what changes a message.
func (c *account) change(ctx context.Context, conversation string, message func(types.JID) *waE2E.Message) error {
	to, err := jidOf(conversation)
	if err != nil {
		return err
	}
	net, err := c.connected()
	if err != nil {
		return err
	}
	return c.judge(ctx, net.Send(ctx, to, message(to), newID()))
}

// own refuses what is no message of ours that is known: WhatsApp tells nobody that an
// edit or a deletion was in vain.
func (c *account) own(id string) (words string, err error) {
	words, known, gone := c.said.get(id)
	switch {
	case strings.Contains(id, "/") || !known:
		return "", refused("%q is no message of ours since the last start", cut(id))
	case gone:
		return "", refused("the message was deleted")
	}
	return words, nil
}

// Edit gives a message another text.
func (c *account) Edit(ctx context.Context, to channel.Target, messageID, markdown string) error {
	was, err := c.own(messageID)
	if err != nil {
		return err
	}
	words := dressed(markdown)
	switch {
	case strings.TrimSpace(words) == "":
		return refused("there is nothing to show")
	case words == was:
		return nil
	}
	err = c.change(ctx, to.Conversation, func(at types.JID) *waE2E.Message {
		return &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Key: key(at, messageID), Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), EditedMessage: textMessage(words, nil),
			TimestampMS: proto.Int64(c.now().UnixMilli()),
		}}}}
	})
	if err == nil {
		c.said.keep(messageID, words)
	}
	return err
}

// Delete removes a message for everybody.
func (c *account) Delete(ctx context.Context, to channel.Target, messageID string) error {
	if _, err := c.own(messageID); err != nil {
		return err
	}
	err := c.change(ctx, to.Conversation, func(at types.JID) *waE2E.Message {
		return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: key(at, messageID)}}
	})
	if err == nil {
		c.said.remove(messageID)
	}
	return err
}

// React puts an emoji on a message; "" takes it away.
func (c *account) React(ctx context.Context, to channel.Target, messageID, emoji string) error {
	return c.change(ctx, to.Conversation, func(at types.JID) *waE2E.Message {
		return &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: key(at, messageID), Text: proto.String(emoji),
			SenderTimestampMS: proto.Int64(c.now().UnixMilli())}}
	})
}

// Typing shows “is typing” for a few seconds.
func (c *account) Typing(ctx context.Context, to channel.Target) error {
	at, err := jidOf(to.Conversation)
	if err != nil {
		return err
	}
	net, err := c.connected()
	if err != nil {
		return err
	}
	return net.Composing(ctx, at)
}

// Fetch brings a file of a message, which is decrypted here.
func (c *account) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	d, err := downloadable(m.URL)
	if err != nil {
		return nil, err
	}
	most := c.Limits().Files
	if sized, ok := d.(interface{ GetFileLength() uint64 }); ok && sized.GetFileLength() > uint64(most) || m.Size > most {
		return nil, refused("the file has more than the %d bytes that are allowed", most)
	}
	net, err := c.connected()
	if err != nil {
		return nil, err
	}
	b, err := net.Download(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("fetch a file from WhatsApp: %w", err)
	}
	if int64(len(b)) > most {
		return nil, refused("the file has more than the %d bytes that are allowed", most)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}
