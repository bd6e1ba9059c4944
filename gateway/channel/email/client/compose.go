package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"path/filepath"
	"strings"
	"time"

	"github.com/emersion/go-message/mail"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
)

// compose writes a message as a mail: below the one that it answers, in plain text
// and in HTML. Its id is the same at every attempt.
func (c *Client) compose(m channel.Message) (raw []byte, id string, err error) {
	text := markup.Plain(m.Text)
	if strings.TrimSpace(text) == "" && len(m.Media) == 0 {
		return nil, "", fmt.Errorf("%w: the message is empty", channel.ErrRefused)
	}
	var h mail.Header
	h.SetDate(c.now().Truncate(time.Second))
	h.SetAddressList("From", []*mail.Address{{Name: c.name, Address: c.address}})
	h.SetAddressList("To", []*mail.Address{{Address: m.To.Conversation}})
	id = c.messageID(m)
	h.SetMessageID(id)
	h.Set("Auto-Submitted", "auto-generated")
	subject := line(text, 70)
	if a, ok := c.answered(strings.ToLower(m.To.Conversation), m.To.ReplyTo); ok {
		h.Set("Auto-Submitted", "auto-replied")
		if subject = a.Subject; !strings.HasPrefix(strings.ToLower(subject), "re:") {
			subject = strings.TrimSpace("Re: " + subject)
		}
		if n := len(a.References); n > 0 {
			h.SetMsgIDList("In-Reply-To", a.References[n-1:])
			h.SetMsgIDList("References", a.References)
		}
	}
	h.SetSubject(subject)
	var b bytes.Buffer
	if len(m.Media) == 0 {
		w, err := mail.CreateInlineWriter(&b, h)
		if err == nil {
			err = alternatives(w, text, m.Text)
		}
		return b.Bytes(), id, err
	}
	w, err := mail.CreateWriter(&b, h)
	if err != nil {
		return nil, "", err
	}
	if strings.TrimSpace(text) != "" {
		in, err := w.CreateInline()
		if err == nil {
			err = alternatives(in, text, m.Text)
		}
		if err != nil {
			return nil, "", err
		}
	}
	for _, f := range m.Media {
		if err := c.attach(w, f); err != nil {
			return nil, "", err
		}
	}
	return b.Bytes(), id, w.Close()
}

// messageID is made of the key of the message, so that a second copy is known for one.
func (c *Client) messageID(m channel.Message) string {
	domain := c.address[strings.LastIndexByte(c.address, '@')+1:]
	key := m.Key
	if key == "" {
		key = rand.Text()
	}
	sum := sha256.Sum256([]byte(c.address + "\x00" + m.To.Conversation + "\x00" + key))
	return "hearth-" + hex.EncodeToString(sum[:16]) + "@" + domain
}

// alternatives writes a text in the two ways that mail programs show.
func alternatives(w *mail.InlineWriter, text, markdown string) error {
	var page bytes.Buffer
	// Without raw HTML, and without addresses that run something: goldmark leaves both out.
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	if err := md.Convert([]byte(strings.ToValidUTF8(markdown, "\uFFFD")), &page); err != nil {
		return fmt.Errorf("write the message as HTML: %w", err)
	}
	for _, part := range []struct{ kind, body string }{{"text/plain", text}, {"text/html", page.String()}} {
		var h mail.InlineHeader
		h.SetContentType(part.kind, map[string]string{"charset": "utf-8"})
		h.Set("Content-Transfer-Encoding", "quoted-printable")
		p, err := w.CreatePart(h)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(p, part.body); err != nil {
			return err
		}
		if err := p.Close(); err != nil {
			return err
		}
	}
	return w.Close()
}

// attach adds a file.
func (c *Client) attach(w *mail.Writer, f channel.Media) error {
	if c.openFile == nil {
		return fmt.Errorf("%w: files cannot be sent", channel.ErrRefused)
	}
	from, err := c.openFile(f.URL)
	if err != nil {
		return fmt.Errorf("%w: open the file: %w", channel.ErrRefused, err)
	}
	defer func() { _ = from.Close() }()
	data, err := channel.ReadFile(from, email.Limits.Files)
	if err != nil {
		return fmt.Errorf("%w: read the file: %w", channel.ErrRefused, err)
	}
	if int64(len(data)) > email.Limits.Files {
		return fmt.Errorf("%w: the file has more than %d MB", channel.ErrRefused, email.Limits.Files>>20)
	}
	name := f.Name
	if name == "" {
		name = filepath.Base(f.URL)
	}
	var h mail.AttachmentHeader
	kind, _, err := mime.ParseMediaType(f.MIME)
	if err != nil || strings.HasPrefix(kind, "multipart/") || strings.HasPrefix(kind, "message/") {
		kind = "application/octet-stream"
	}
	h.SetContentType(kind, nil)
	h.SetFilename(line(name, 200))
	h.Set("Content-Transfer-Encoding", "base64")
	p, err := w.CreateAttachment(h)
	if err != nil {
		return err
	}
	if _, err := p.Write(data); err != nil {
		return err
	}
	return p.Close()
}
