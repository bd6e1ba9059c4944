package client

import (
	"context"
	"encoding/base64"
	"fmt"
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

// Send says a text, with buttons, with a picture, or with a file: in a chat with one person
// they are asked whether they want it, elsewhere it lies in SharePoint. Microsoft takes a
// message as often as it comes, so one without an answer is uncertain.
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
		data, err := c.local(m.To, file)
		if err != nil {
			return channel.Receipt{}, err
		}
		kind := http.DetectContentType(data)
		switch {
		case isShown(kind) && len(data) <= msteams.MostPicture:
			inside := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
			a.Attachments = append(a.Attachments, attachment{Type: kind, Name: text.Ellipsis(file.Name, 100), URL: inside})
		case len(m.Media) > 1:
			return channel.Receipt{}, refused("a message has one file, and this one has %d", len(m.Media))
		case alone(m.To):
			return c.offer(ctx, m, a, file.Name, data)
		default:
			if a, err = c.withShared(ctx, m, a, file.Name, data); err != nil {
				return channel.Receipt{}, err
			}
		}
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
	if card := c.waiting.under(ctx, to.Conversation, messageID, words); card != nil {
		a.Attachments = append(a.Attachments, *card) // the file waits on
	}
	return c.change(ctx, http.MethodPut, "an edit", to, messageID, a)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	c.waiting.withdraw(ctx, to.Conversation, messageID)
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

// onlyPictures is what a person is told of any other file for a group.
const onlyPictures = "Teams lets a bot send pictures in a message (PNG, JPEG or GIF, of up to 1 MB). Other files go into group chats and " +
	"channels by way of SharePoint: set channels.msteams.sharePointSiteId, and let an administrator grant the app Sites.ReadWrite.All"

func isShown(kind string) bool {
	return kind == "image/png" || kind == "image/jpeg" || kind == "image/gif"
}

// alone: the target is a chat with one person.
func alone(to channel.Target) bool { return strings.HasPrefix(to.Conversation, msteams.PersonSign) }

// local reads a file that is to be sent.
func (c *Client) local(to channel.Target, file channel.Media) ([]byte, error) {
	name, most, why := text.Ellipsis(file.Name, 60), int64(msteams.MostFile), ""
	switch {
	case !alone(to) && c.site == "":
		most, why = msteams.MostPicture, ". "+onlyPictures
	case c.maxFile > 0:
		most = min(c.maxFile, most)
	}
	if file.Size > most {
		return nil, refused("%s has %d bytes, and at most %d are sent here%s", name, file.Size, most, why)
	}
	if c.openFile == nil {
		return nil, refused("no file may be sent from here")
	}
	f, err := c.openFile(file.URL)
	if err != nil {
		return nil, refused("the file %s cannot be opened: %v", name, err)
	}
	defer func() { _ = f.Close() }()
	b, err := channel.ReadFile(f, most)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the file %s: %w", name, err)
	case int64(len(b)) > most:
		return nil, refused("%s has more than the %d bytes that are sent here%s", name, most, why)
	case len(b) == 0:
		return nil, refused("%s is empty, and Teams takes no empty files", name)
	}
	return b, nil
}
