package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
)

// Call takes what Google sends. It believes nothing before the token is proven.
func (c *Client) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	if in.Method != http.MethodPost {
		return endpoint.Say(http.StatusMethodNotAllowed), nil
	}
	switch known, err := c.proven(ctx, in.Header); {
	case err != nil:
		return c.Later(err), nil
	case !known:
		return endpoint.Say(http.StatusUnauthorized), nil
	}
	var ev event
	if json.Unmarshal(in.Body, &ev) != nil {
		return endpoint.Say(http.StatusBadRequest), nil
	}
	nothing := endpoint.JSON(http.StatusOK, struct{}{}) // the answer comes by the API
	m, ok := c.message(ev)
	if !ok {
		return nothing, nil
	}
	if err := c.Take(ctx, ev.Message.Name, m); err != nil {
		return c.Later(err), nil
	}
	c.expect(m)
	return nothing, nil
}

// proven reports whether Google's Chat signed the token of a call, for us. The error
// means that nobody knows.
func (c *Client) proven(ctx context.Context, h http.Header) (bool, error) {
	token, err := bearer.Token(h)
	if err != nil {
		return false, nil //nolint:nilerr // it is not proven
	}
	want := bearer.Expect{Issuers: []string{chatAccount}, Audience: c.audience}
	if c.byURL {
		want.Issuers = []string{"https://accounts.google.com", "accounts.google.com"}
	}
	claims, _, err := c.keys.Verify(ctx, token, want)
	for _, no := range []error{bearer.ErrNone, bearer.ErrForged, bearer.ErrOld, bearer.ErrOther} {
		if errors.Is(err, no) {
			c.Logger.Info("a call was refused", "why", err)
			return false, nil
		}
	}
	if err != nil || !c.byURL {
		return err == nil, err
	}
	// Google signs tokens with these keys for everybody: this one is Chat's.
	var who struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if json.Unmarshal(claims.Body, &who) != nil || who.Email != chatAccount || !who.Verified {
		c.Logger.Info("a call was refused", "why", "its token is not of Google Chat")
		return false, nil
	}
	return true, nil
}

// event is what Google tells of.
type event struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
	Space   space   `json:"space"`
	User    user    `json:"user"`
}

type user struct {
	Name    string `json:"name"`
	Display string `json:"displayName"`
	Email   string `json:"email"`
	Type    string `json:"type"`
}

type space struct {
	Name    string `json:"name"`
	Type    string `json:"type"`      // DM, ROOM
	Kind    string `json:"spaceType"` // DIRECT_MESSAGE, GROUP_CHAT, SPACE
	Display string `json:"displayName"`
	OneBot  bool   `json:"singleUserBotDm"`
}

type message struct {
	Name     string `json:"name"`
	Sender   user   `json:"sender"`
	Created  string `json:"createTime"`
	Text     string `json:"text"`
	Argument string `json:"argumentText"` // without the mention of us
	Thread   struct {
		Name string `json:"name"`
	} `json:"thread"`
	Space       space `json:"space"`
	Annotations []struct {
		Type    string `json:"type"`
		Mention struct {
			User user   `json:"user"`
			Type string `json:"type"`
		} `json:"userMention"`
	} `json:"annotations"`
	Attachments []attachment `json:"attachment"`
	Slash       *struct{}    `json:"slashCommand"`
}

type attachment struct {
	Name   string `json:"contentName"`
	MIME   string `json:"contentType"`
	Source string `json:"source"`
	Data   struct {
		Resource string `json:"resourceName"`
	} `json:"attachmentDataRef"`
}

// mostFiles of a message are told of.
const mostFiles = 20

// message is what somebody said; ok is false for everything else.
func (c *Client) message(ev event) (in channel.Inbound, ok bool) {
	m := ev.Message
	where := m.Space
	if where.Name == "" {
		where = ev.Space
	}
	spaceName, okSpace := under("spaces/", where.Name)
	_, okUser := under("users/", m.Sender.Name)
	rest, inSpace := strings.CutPrefix(m.Name, where.Name+"/messages/")
	if ev.Type != "MESSAGE" || !okSpace || !okUser || !inSpace || !googlechat.IsName(rest) {
		return in, false
	}
	in = channel.Inbound{
		Channel: googlechat.ID, Account: c.account, Chat: channel.Group, Conversation: where.Name, Label: where.Display, SenderID: m.Sender.Name,
		SenderName: m.Sender.Display, SenderHandle: m.Sender.Email, SenderIsBot: m.Sender.Type == "BOT", MessageID: m.Name, Text: m.Text,
		At: c.Now(),
	}
	if at, err := time.Parse(time.RFC3339Nano, m.Created); err == nil {
		in.At = at
	}
	if where.Kind == "DIRECT_MESSAGE" || where.Type == "DM" {
		in.Chat, in.Conversation, in.Label = channel.Direct, googlechat.PersonSign+spaceName, ""
	} else if thread, found := strings.CutPrefix(m.Thread.Name, where.Name+"/threads/"); found && googlechat.IsName(thread) {
		in.Thread = thread
	}
	in.Mentioned = m.Slash != nil
	for _, a := range m.Annotations {
		u := a.Mention.User
		if a.Type == "USER_MENTION" && u.Type == "BOT" && (c.bot == "" || u.Name == c.bot) {
			in.Mentioned = true
		}
	}
	if arg := strings.TrimSpace(m.Argument); in.Mentioned && arg != "" && arg != m.Text {
		in.Command = arg
	}
	for _, a := range m.Attachments[:min(len(m.Attachments), mostFiles)] {
		if a.Source == "UPLOADED_CONTENT" && a.Data.Resource != "" {
			in.Media = append(in.Media, channel.Media{MIME: a.MIME, Name: a.Name, URL: a.Data.Resource})
		} else {
			in.Text = strings.TrimSpace(in.Text + "\n[file in Google Drive: " + a.Name + "]")
		}
	}
	return in, in.Text != "" || len(in.Media) > 0
}

// under is the rest of a name of a kind, when it has the form of one.
func under(kind, name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, kind)
	return rest, ok && googlechat.IsName(rest)
}

// pending is a place where somebody waits for an answer.
type pending struct {
	message string // shown meanwhile; "": none yet
	making  bool
	until   time.Time // when it is taken away
}

func placeKey(conversation, thread string) string { return conversation + " " + thread }

// expect: an answer may be shown to be made, until one was sent.
func (c *Client) expect(in channel.Inbound) {
	if !c.shows {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) >= mostPending {
		clear(c.pending)
	}
	if key := placeKey(in.Conversation, in.Thread); c.pending[key] == nil {
		c.pending[key] = &pending{}
	}
}

const mostPending = 2000
