package client

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/text"
)

// activity is what the bot says or does.
type activity struct {
	Type        string       `json:"type"`
	Text        string       `json:"text,omitempty"`
	Format      string       `json:"textFormat,omitempty"` // plain, xml
	Attachments []attachment `json:"attachments,omitempty"`
}

type attachment struct {
	Type    string `json:"contentType"`
	URL     string `json:"contentUrl,omitempty"`
	Name    string `json:"name,omitempty"`
	Content any    `json:"content,omitempty"`
}

// Bounds of a message in bytes of JSON, without the pictures in it. Microsoft takes
// 28 KB everywhere; a text whose markup does not fit is sent without.
const (
	mostMessage = 26_000
	mostMarkup  = 20_000
)

// said is a text as Teams shows it. It calls nobody: a mention is more than words in
// Teams, and the bot sends none.
func said(markdown string) (activity, error) {
	a := activity{Type: "message", Text: markup.HTML(markdown), Format: "xml"}
	if len(a.Text) > mostMarkup {
		a.Text, a.Format = markup.Plain(markdown), "plain"
	}
	b, err := plainJSON(a)
	switch {
	case err != nil:
		return a, refused("it cannot be written as JSON: %v", err)
	case len(b) > mostMessage:
		return a, refused("the message has %d bytes, and at most %d are sent: set channels.msteams.textChunkLimit lower", len(b), mostMessage)
	}
	return a, nil
}

// Send says a text, with buttons or with a picture. Microsoft takes a message as often
// as it comes, so one without an answer is uncertain.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	a, err := said(m.Text)
	if err != nil {
		return channel.Receipt{}, err
	}
	if len(m.Choices) > 0 {
		card, err := buttons(m.Choices)
		if err != nil {
			return channel.Receipt{}, err
		}
		a.Attachments = append(a.Attachments, card)
	}
	for _, file := range m.Media {
		picture, err := c.picture(file)
		if err != nil {
			return channel.Receipt{}, err
		}
		a.Attachments = append(a.Attachments, picture)
	}
	if strings.TrimSpace(a.Text) == "" && len(a.Attachments) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	return c.post(ctx, m.To, "", a)
}

// post makes a message, below another one where answered names it.
func (c *Client) post(ctx context.Context, to channel.Target, answered string, a activity) (channel.Receipt, error) {
	where, err := c.activities(to, answered)
	if err != nil {
		return channel.Receipt{}, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := c.ask(ctx, call{method: http.MethodPost, what: "a message", url: where, once: true}, a, &made); err != nil {
		return channel.Receipt{}, err
	}
	if !msteams.IsActivity(made.ID) {
		return channel.Receipt{}, fmt.Errorf("%w: Microsoft's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.ID}, nil
}

// Edit gives a message another text.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, words string) error {
	a, err := said(words)
	if err != nil {
		return err
	}
	if strings.TrimSpace(a.Text) == "" {
		return refused("there is nothing to show")
	}
	return c.change(ctx, http.MethodPut, "an edit", to, messageID, a)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	return c.change(ctx, http.MethodDelete, "a deletion", to, messageID, nil)
}

// change does something to a message. It can be done again without harm.
func (c *Client) change(ctx context.Context, method, what string, to channel.Target, messageID string, body any) error {
	if !msteams.IsActivity(messageID) {
		return refused("%q is no message", text.Ellipsis(messageID, 40))
	}
	where, err := c.activities(to, messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, call{method: method, what: what, url: where}, body, nil)
}

// Typing shows that somebody is typing.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	where, err := c.activities(to, "")
	if err != nil {
		return err
	}
	return c.ask(ctx, call{method: http.MethodPost, what: "typing", url: where}, activity{Type: "typing"}, nil)
}

// onlyPictures is what a person is told of any other file.
const onlyPictures = "Teams lets a bot send pictures in a message (PNG, JPEG or GIF, of up to 1 MB), and other files only by way of " +
	"SharePoint or OneDrive, for which Hearth asks no right"

// picture is a file inside a message.
func (c *Client) picture(file channel.Media) (attachment, error) {
	if file.Size > msteams.MostPicture {
		return attachment{}, refused("%s has %d bytes. %s", text.Ellipsis(file.Name, 60), file.Size, onlyPictures)
	}
	if c.openFile == nil {
		return attachment{}, refused("no file may be sent from here")
	}
	f, err := c.openFile(file.URL)
	if err != nil {
		return attachment{}, refused("the file %s cannot be opened: %v", text.Ellipsis(file.Name, 60), err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, msteams.MostPicture+1))
	if err != nil {
		return attachment{}, fmt.Errorf("read the file %s: %w", text.Ellipsis(file.Name, 60), err)
	}
	kind := http.DetectContentType(b)
	switch {
	case len(b) > msteams.MostPicture:
		return attachment{}, refused("%s has more than %d bytes. %s", text.Ellipsis(file.Name, 60), msteams.MostPicture, onlyPictures)
	case kind != "image/png" && kind != "image/jpeg" && kind != "image/gif":
		return attachment{}, refused("%s is no such picture. %s", text.Ellipsis(file.Name, 60), onlyPictures)
	}
	inside := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b)
	return attachment{Type: kind, Name: text.Ellipsis(file.Name, 100), URL: inside}, nil
}
