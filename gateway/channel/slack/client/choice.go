package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Slack's limits of the parts of a message with buttons.
const (
	sectionText  = 3000
	longestLabel = 75
	mostWords    = 3000 // of those that only one person sees
)

type words struct {
	Kind     string `json:"type"` // mrkdwn, plain_text
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim,omitempty"` // names and links in it are not made any
}

type block struct {
	Kind     string   `json:"type"`
	Text     *words   `json:"text,omitempty"`
	Elements []button `json:"elements,omitempty"`
}

type button struct {
	Kind   string `json:"type"`
	Text   words  `json:"text"`
	Action string `json:"action_id"`
	Value  string `json:"value"`
	Style  string `json:"style,omitempty"`
}

// blocks are a text with buttons below it, as JSON; "" without any.
func blocks(said string, all []channel.Choice) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	if len(all) > slack.Limits.Choices {
		return "", refused("there are %d buttons, at most %d stand below a message", len(all), slack.Limits.Choices)
	}
	var out []block
	for rest := []rune(said); len(rest) > 0; {
		n := min(len(rest), sectionText)
		out = append(out, block{Kind: "section", Text: &words{Kind: "mrkdwn", Text: string(rest[:n]), Verbatim: true}})
		rest = rest[n:]
	}
	row := block{Kind: "actions"}
	for _, c := range all {
		if c.Label == "" || c.Data == "" || len(c.Data) > channel.MaxChoiceData {
			return "", refused("the button %q has no label, or its data is empty or too long", text.Ellipsis(c.Label, 40))
		}
		b := button{Kind: "button", Text: words{Kind: "plain_text", Text: text.Ellipsis(c.Label, longestLabel-1)}, Action: c.Data, Value: c.Data}
		switch c.Tone {
		case channel.Good:
			b.Style = "primary"
		case channel.Danger:
			b.Style = "danger"
		}
		row.Elements = append(row.Elements, b)
	}
	raw, err := json.Marshal(append(out, row))
	return string(raw), err
}

// Settle takes the buttons of a message away.
func (c *Client) Settle(ctx context.Context, to channel.Target, messageID, said string) error {
	args, err := c.about(ctx, to, messageID, "ts")
	if err != nil {
		return err
	}
	args.Set("text", markup.Mrkdwn(said))
	args.Set("blocks", "[]") // without it they stay
	args.Set("link_names", "false")
	args.Set("parse", "none")
	_, err = c.ask(ctx, call{method: "chat.update"}, args, nil)
	return err
}

// Answer says words to who pressed a button, that nobody else sees.
func (c *Client) Answer(ctx context.Context, to channel.Target, senderID string, _ channel.Press, said string) error {
	if !slack.IsID(senderID) {
		return refused("%q is nobody on Slack", text.Ellipsis(senderID, 40))
	}
	at, err := c.place(ctx, to)
	if err != nil {
		return err
	}
	args := url.Values{"channel": {at}, "user": {senderID}, "text": {markup.Mrkdwn(text.Ellipsis(said, mostWords))}}
	if to.Thread != "" {
		args.Set("thread_ts", to.Thread)
	}
	_, err = c.ask(ctx, call{method: "chat.postEphemeral", once: true}, args, nil)
	return err
}

// used is what comes when somebody uses what we showed: a button, or a command.
type used struct {
	Kind string `json:"type"` // block_actions
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	At struct {
		ID string `json:"id"`
	} `json:"channel"`
	Box struct {
		TS     string `json:"message_ts"`
		Thread string `json:"thread_ts"`
	} `json:"container"`
	Actions []struct {
		Value string `json:"value"`
		TS    string `json:"action_ts"`
	} `json:"actions"`

	Command   string `json:"command"`
	Text      string `json:"text"`
	UserID    string `json:"user_id"`
	ChannelID string `json:"channel_id"`
	Trigger   string `json:"trigger_id"`
}

// aside is what happened beside messages.
type aside struct {
	in  channel.Inbound
	env envelope
}

// mostAside is how many may wait.
const mostAside = 256

// beside is what everything begins with that somebody does in a conversation.
func (c *Client) beside(ctx context.Context, at, person string) (in channel.Inbound, err error) {
	who, err := c.person(ctx, person)
	if err != nil {
		return in, err
	}
	in = channel.Inbound{
		Channel: slack.ID, Account: c.account, Chat: channel.Direct, Conversation: at, Label: who.shown(), SenderID: person,
		SenderName: who.shown(), SenderHandle: who.Name, SenderIsBot: who.Bot, At: c.now(),
	}
	if slack.Kind().Group(at) {
		in.Chat = channel.Group
		in.Label, err = c.label(ctx, at)
	}
	return in, err
}

// pressed takes a press of a button.
func (c *Client) pressed(ctx context.Context, u used, env envelope) error {
	if u.Kind != "block_actions" || len(u.Actions) != 1 || u.Actions[0].Value == "" || micros(u.Box.TS) == 0 || !slack.IsID(u.User.ID) ||
		!slack.IsID(u.At.ID) {
		env.s.ack(env.id)
		return nil
	}
	in, err := c.beside(ctx, u.At.ID, u.User.ID)
	if err != nil {
		return err
	}
	if u.Box.Thread != u.Box.TS {
		in.Thread = u.Box.Thread
	}
	a := u.Actions[0]
	in.MessageID = u.Box.TS + "/" + a.TS + "/" + u.User.ID
	in.Mentioned = true
	in.Press = channel.Press{ID: in.MessageID, Data: a.Value, MessageID: u.Box.TS}
	c.line(aside{in, env})
	return nil
}

// commanded takes a command that Slack knows of: its text is what is said to us.
func (c *Client) commanded(ctx context.Context, u used, env envelope) error {
	if u.Command == "" || !slack.IsID(u.UserID) || !slack.IsID(u.ChannelID) || u.Trigger == "" {
		env.s.ack(env.id)
		return nil
	}
	in, err := c.beside(ctx, u.ChannelID, u.UserID)
	if err != nil {
		return err
	}
	in.MessageID, in.Mentioned = "command-"+u.Trigger, true
	if in.Text = strings.TrimSpace(u.Text); in.Text == "" {
		in.Text = "help"
	}
	if name, _, _ := strings.Cut(in.Text, " "); c.isCommand(name) {
		in.Text = "/" + in.Text
	}
	c.line(aside{in, env})
	return nil
}

// reacted takes an emoji that somebody put on a message or took away.
func (c *Client) reacted(ctx context.Context, ev event, env envelope) error {
	var item struct {
		Kind    string `json:"type"`
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	bad := json.Unmarshal(ev.Item, &item) != nil
	if bad || item.Kind != "message" || micros(item.TS) == 0 || !slack.IsID(item.Channel) || !slack.IsID(ev.User) || ev.User == self.User ||
		ev.Reaction == "" {
		env.s.ack(env.id)
		return nil
	}
	in, err := c.beside(ctx, item.Channel, ev.User)
	if err != nil {
		return err
	}
	in.MessageID = "reaction-" + ev.EventTS + "-" + ev.User
	in.Reaction = channel.Reaction{MessageID: item.TS, Emoji: text.Ellipsis(emoji.Sign(ev.Reaction), 64),
		Removed: ev.Type == "reaction_removed", Ours: ev.ItemUser == self.User}
	c.line(aside{in, env})
	return nil
}

// line puts something up. What is too much is not acknowledged: Slack tells of events
// again, and says to who pressed that it did not work.
func (c *Client) line(a aside) {
	select {
	case c.asides <- a:
	default:
		c.log.Warn("too much happens at once, so something is left out", "channel", slack.ID)
	}
}

// hand gives what happened beside messages to the inbox, and acknowledges it then.
func (c *Client) hand(ctx context.Context, inbox channel.Inbox) {
	for {
		select {
		case a := <-c.asides:
			err := inbox(ctx, a.in)
			if err == nil {
				a.env.s.ack(a.env.id)
				continue
			}
			if ctx.Err() != nil {
				return
			}
			c.log.Warn("a press or a reaction was not taken", "err", err)
			if a.in.Press.Pressed() {
				to := channel.Target{Account: c.account, Conversation: a.in.Conversation, Thread: a.in.Thread}
				_ = c.Answer(ctx, to, a.in.SenderID, a.in.Press, "It could not be noted. Press it again in a moment.")
			}
		case <-ctx.Done():
			return
		}
	}
}
