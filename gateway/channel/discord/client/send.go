package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/text"
)

// newMessage is a message that is sent.
type newMessage struct {
	Content   string      `json:"content,omitempty"`
	Mentions  nobody      `json:"allowed_mentions"`
	Reference *reference  `json:"message_reference,omitempty"`
	Files     []fileEntry `json:"attachments,omitempty"`
	Buttons   []component `json:"components,omitempty"`
	// Nonce makes Discord take a message once for some minutes.
	Nonce   string `json:"nonce,omitempty"`
	Enforce bool   `json:"enforce_nonce,omitempty"`
	Flags   int    `json:"flags,omitempty"`
}

// silently is the flag of a message for which no device makes a sound.
const silently = 1 << 12

func flags(how channel.Manner) int {
	if how.Silent {
		return silently
	}
	return 0
}

// nobody is who is called by a message of ours, whatever its text says.
type nobody struct {
	Parse   []string `json:"parse"` // must be there, and empty
	Replied bool     `json:"replied_user"`
}

func noMentions() nobody { return nobody{Parse: []string{}} }

type reference struct {
	ID        string `json:"message_id"`
	MustExist bool   `json:"fail_if_not_exists"`
}

type fileEntry struct {
	ID   int    `json:"id"`
	Name string `json:"filename"`
}

// Send writes a message, with a file at most.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	if m.To.ReplyTo != "" && !discord.IsID(m.To.ReplyTo) {
		return channel.Receipt{}, refused("%q is no message", text.Ellipsis(m.To.ReplyTo, 40))
	}
	at, err := c.channelOf(ctx, m.To)
	if err != nil {
		return channel.Receipt{}, err
	}
	out := newMessage{Content: strings.ToValidUTF8(m.Text, "\uFFFD"), Mentions: noMentions(), Flags: flags(m.Manner)}
	if strings.TrimSpace(out.Content) == "" && len(m.Media) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	if m.To.ReplyTo != "" {
		out.Reference = &reference{ID: m.To.ReplyTo}
	}
	if out.Buttons, err = buttons(m.Choices); err != nil {
		return channel.Receipt{}, err
	}
	c.once(&out, m.Key)
	q := call{method: http.MethodPost, path: "/channels/" + at + "/messages", route: "/channels/messages", major: at, once: true}
	var body any = out
	if len(m.Media) > 0 {
		f, err := c.withFiles(out, m.Media)
		if err != nil {
			return channel.Receipt{}, err
		}
		body, q.within = f, fileTime
	}
	var made message
	if err := c.ask(ctx, q, body, &made); err != nil {
		return channel.Receipt{}, err
	}
	if made.ID == "" {
		return channel.Receipt{}, fmt.Errorf("%w: Discord's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.ID}, nil
}

// once makes Discord take a message of a key once, for some minutes.
func (c *Client) once(m *newMessage, key string) {
	if key != "" {
		sum := sha256.Sum256([]byte(c.account + "\x00" + key))
		m.Nonce, m.Enforce = hex.EncodeToString(sum[:12]), true
	}
}

// form is a body of several parts.
type form struct {
	kind string
	b    bytes.Buffer
}

func (f *form) reader() io.Reader { return bytes.NewReader(f.b.Bytes()) }
func (f *form) size() int64       { return int64(f.b.Len()) }

// withFiles is a message with files, in the form that Discord takes.
func (c *Client) withFiles(out newMessage, all []channel.Media) (*form, error) {
	if c.openFile == nil {
		return nil, refused("no file may leave here")
	}
	f := new(form)
	w := multipart.NewWriter(&f.b)
	f.kind = w.FormDataContentType()
	for i, m := range all {
		name := m.Name
		if name == "" {
			name = "file"
		}
		out.Files = append(out.Files, fileEntry{ID: i, Name: name})
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	head := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="payload_json"`}, "Content-Type": {"application/json"}}
	part, err := w.CreatePart(head)
	if err != nil {
		return nil, err
	}
	_, _ = part.Write(raw) // into memory
	for i, m := range all {
		part, err := w.CreateFormFile(fmt.Sprintf("files[%d]", i), out.Files[i].Name)
		if err != nil {
			return nil, err
		}
		if err := c.copied(part, m); err != nil {
			return nil, err
		}
	}
	return f, w.Close()
}

// copied writes a file of ours.
func (c *Client) copied(to io.Writer, m channel.Media) error {
	f, err := c.openFile(m.URL)
	if err != nil {
		return fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	most := c.Limits().Files
	n, err := io.Copy(to, io.LimitReader(f, most+1))
	if err != nil {
		return fmt.Errorf("read the file that is to be sent: %w", err)
	}
	if n > most {
		return refused("the file has more than the %d bytes that are sent", most)
	}
	return nil
}

// Fetch brings a file of a message from where Discord keeps files, without our
// credential. Its address is good for about a day.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	u, err := url.Parse(m.URL)
	if err != nil || !slices.Contains(c.hosts, u.Host) || u.Scheme != "https" && !strings.HasPrefix(c.base, "http://") {
		return nil, refused("%q is no file of Discord", text.Ellipsis(m.URL, 60))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	return webcall.Download{Network: "Discord", Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		if a.Status >= 500 || a.Status == http.StatusTooManyRequests {
			return fmt.Errorf("Discord answered with %d for a file", a.Status)
		}
		return refused("Discord does not give the file any more (%d %s)", a.Status, http.StatusText(a.Status))
	}}.Open(ctx, c.http, req)
}

// about is a call about a message.
func (c *Client) about(ctx context.Context, method string, to channel.Target, messageID string) (call, error) {
	if !discord.IsID(messageID) {
		return call{}, refused("%q is no message", text.Ellipsis(messageID, 40))
	}
	at, err := c.channelOf(ctx, to)
	return call{method: method, path: "/channels/" + at + "/messages/" + messageID, route: "/channels/messages/one", major: at}, err
}

// Edit gives a message another text.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, words string) error {
	q, err := c.about(ctx, http.MethodPatch, to, messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, q, newMessage{Content: strings.ToValidUTF8(words, "\uFFFD"), Mentions: noMentions()}, nil)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	q, err := c.about(ctx, http.MethodDelete, to, messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, q, nil, nil)
}

// Typing shows “is typing”.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	at, err := c.channelOf(ctx, to)
	if err != nil {
		return err
	}
	return c.ask(ctx, call{method: http.MethodPost, path: "/channels/" + at + "/typing", route: "/channels/typing", major: at}, nil, nil)
}

// React puts an emoji on a message, instead of those that we put there before.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, sign string) error {
	q, err := c.about(ctx, http.MethodGet, to, messageID)
	if err != nil {
		return err
	}
	var m struct {
		Reactions []struct {
			Me    bool `json:"me"`
			Emoji struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"emoji"`
		} `json:"reactions"`
	}
	if err := c.ask(ctx, q, nil, &m); err != nil {
		return err
	}
	put := func(method, emoji string) error {
		r := q
		r.method, r.path, r.route = method, q.path+"/reactions/"+url.PathEscape(emoji)+"/@me", "/channels/messages/reactions"
		return c.ask(ctx, r, nil, nil)
	}
	for _, r := range m.Reactions {
		name := r.Emoji.Name
		if r.Emoji.ID != "" {
			name += ":" + r.Emoji.ID
		}
		switch {
		case !r.Me:
		case name == sign:
			sign = ""
		default:
			if err := put(http.MethodDelete, name); err != nil {
				return err
			}
		}
	}
	if sign == "" {
		return nil
	}
	return put(http.MethodPut, sign)
}
