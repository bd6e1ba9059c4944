package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Discord's limits of a poll.
const (
	maxQuestion = 300
	maxOption   = 55
	maxOptions  = 10
	usualOpen   = 24 * time.Hour
	longestOpen = 32 * 24 * time.Hour
)

type pollText struct {
	Text string `json:"text"`
}

type pollAnswer struct {
	Media pollText `json:"poll_media"`
}

type newPoll struct {
	Question pollText     `json:"question"`
	Answers  []pollAnswer `json:"answers"`
	Hours    int          `json:"duration"`
	Multiple bool         `json:"allow_multiselect"`
}

type pollMessage struct {
	newMessage
	Poll newPoll `json:"poll"`
}

// Poll makes a poll, which Discord closes after a day where nothing else is said.
func (c *Client) Poll(ctx context.Context, to channel.Target, p channel.Poll) (channel.Receipt, error) {
	open := cmp.Or(p.Open, usualOpen)
	switch n := len([]rune(p.Question)); {
	case n == 0 || n > maxQuestion:
		return channel.Receipt{}, refused("the question of a poll has 1 to %d characters", maxQuestion)
	case len(p.Options) < 2 || len(p.Options) > maxOptions:
		return channel.Receipt{}, refused("a poll on Discord has 2 to %d answers", maxOptions)
	case open < time.Hour || open > longestOpen:
		return channel.Receipt{}, refused("a poll on Discord is open for an hour to 32 days")
	}
	out := pollMessage{newMessage: newMessage{Mentions: noMentions(), Flags: flags(p.Manner)}, Poll: newPoll{Question: pollText{p.Question},
		Hours: int(open / time.Hour), Multiple: p.Multiple}}
	for _, o := range p.Options {
		if n := len([]rune(o)); n == 0 || n > maxOption {
			return channel.Receipt{}, refused("an answer of a poll has 1 to %d characters", maxOption)
		}
		out.Poll.Answers = append(out.Poll.Answers, pollAnswer{pollText{o}})
	}
	at, err := c.channelOf(ctx, to)
	if err != nil {
		return channel.Receipt{}, err
	}
	c.once(&out.newMessage, p.Key)
	var made message
	q := call{method: http.MethodPost, path: "/channels/" + at + "/messages", route: "/channels/messages", major: at, once: true}
	if err := c.ask(ctx, q, out, &made); err != nil {
		return channel.Receipt{}, err
	}
	if made.ID == "" {
		return channel.Receipt{}, fmt.Errorf("%w: Discord's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.ID}, nil
}

// Pin keeps a message among the pinned ones of its channel, or lets it go.
func (c *Client) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	method := http.MethodDelete
	if on {
		method = http.MethodPut
	}
	q, err := c.about(ctx, method, to, messageID)
	if err != nil {
		return err
	}
	q.path, q.route = "/channels/"+q.major+"/messages/pins/"+messageID, "/channels/messages/pins"
	return c.ask(ctx, q, nil, nil)
}

// Read reads what was written in a channel before.
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) (out []channel.Past, err error) {
	at, err := c.channelOf(ctx, to)
	if err != nil {
		return nil, err
	}
	args := url.Values{"limit": {strconv.Itoa(min(max(limit, 1), pageSize))}}
	if before != "" {
		if !discord.IsID(before) {
			return nil, refused("%q is no message", text.Ellipsis(before, 40))
		}
		args.Set("before", before)
	}
	var page []message
	q := call{method: http.MethodGet, path: "/channels/" + at + "/messages?" + args.Encode(), route: "/channels/messages", major: at}
	if err := c.ask(ctx, q, nil, &page); err != nil {
		return nil, err
	}
	slices.Reverse(page) // the newest came first
	for _, m := range page {
		said, _, _ := words(m, user{})
		for _, f := range m.Files {
			said = strings.TrimSpace(said + "\n[file: " + f.Name + "]")
		}
		out = append(out, channel.Past{MessageID: m.ID, SenderID: m.Author.ID, SenderName: cmp.Or(m.Author.Full, m.Author.Name), Text: said,
			At: m.At})
	}
	return out, nil
}

// Discord's limits of a menu.
const (
	maxCommands    = 100
	maxDescription = 100
)

type newCommand struct {
	Kind        int               `json:"type"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Local       map[string]string `json:"description_localizations,omitempty"`
	Options     []newOption       `json:"options,omitempty"`
}

type newOption struct {
	Kind        int    `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// locale is how Discord calls a language.
func locale(language string) string {
	if language == "zh" {
		return "zh-CN"
	}
	return language
}

// Menu sets the commands that Discord offers behind a slash.
func (c *Client) Menu(ctx context.Context, commands []channel.Command) error {
	var app struct {
		ID string `json:"id"`
	}
	if err := c.ask(ctx, call{method: http.MethodGet, path: "/applications/@me"}, nil, &app); err != nil {
		return err
	}
	if !discord.IsID(app.ID) {
		return errors.New("Discord did not say which application the bot is")
	}
	list := []newCommand{}
	for _, cmd := range commands {
		n := newCommand{Kind: 1, Name: cmd.Name, Description: text.Ellipsis(text.Line(cmd.Description), maxDescription-1)}
		if !menuName(n.Name) || n.Description == "" || len(list) == maxCommands {
			continue
		}
		for l, words := range cmd.Local {
			if n.Local == nil {
				n.Local = map[string]string{}
			}
			n.Local[locale(l)] = text.Ellipsis(text.Line(words), maxDescription-1)
		}
		if cmd.Args != "" {
			n.Options = []newOption{{Kind: 3, Name: "args", Description: text.Ellipsis(text.Line(cmd.Args), maxDescription-1)}}
		}
		list = append(list, n)
	}
	q := call{method: http.MethodPut, path: "/applications/" + app.ID + "/commands", route: "/applications/commands", major: app.ID}
	return c.ask(ctx, q, list, nil)
}

func menuName(s string) bool {
	return len(s) >= 1 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
