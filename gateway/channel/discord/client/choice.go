package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/internal/text"
)

// component is a row of buttons, or one of them.
type component struct {
	Kind  int         `json:"type"`
	Parts []component `json:"components,omitempty"`
	Style int         `json:"style,omitempty"`
	Label string      `json:"label,omitempty"`
	Data  string      `json:"custom_id,omitempty"`
}

// Kinds and styles of components, and how many stand in a row.
const (
	kindRow, kindButton                    = 1, 2
	styleGrey, styleGreen, styleRed        = 2, 3, 4
	inRow                                  = 5
	longestLabel                           = 80
	interactionCommand, interactionPressed = 2, 3
)

// buttons are the choices of a message.
func buttons(all []channel.Choice) (rows []component, err error) {
	if len(all) > discord.Limits.Choices {
		return nil, refused("there are %d buttons, at most %d stand below a message", len(all), discord.Limits.Choices)
	}
	for i, c := range all {
		if c.Label == "" || c.Data == "" || len(c.Data) > channel.MaxChoiceData {
			return nil, refused("the button %q has no label, or its data is empty or too long", text.Ellipsis(c.Label, 40))
		}
		b := component{Kind: kindButton, Style: styleGrey, Label: text.Ellipsis(c.Label, longestLabel-1), Data: c.Data}
		switch c.Tone {
		case channel.Good:
			b.Style = styleGreen
		case channel.Danger:
			b.Style = styleRed
		}
		if i%inRow == 0 {
			rows = append(rows, component{Kind: kindRow})
		}
		rows[len(rows)-1].Parts = append(rows[len(rows)-1].Parts, b)
	}
	return rows, nil
}

// settled is a message whose buttons go.
type settled struct {
	Content    string      `json:"content"`
	Mentions   nobody      `json:"allowed_mentions"`
	Components []component `json:"components"` // must be there, and empty
}

// Settle takes the buttons of a message away.
func (c *Client) Settle(ctx context.Context, to channel.Target, messageID, words string) error {
	q, err := c.about(ctx, http.MethodPatch, to, messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, q, settled{Content: text.Ellipsis(strings.ToValidUTF8(words, "\uFFFD"), discord.Limits.Text/2),
		Mentions: noMentions(), Components: []component{}}, nil)
}

// interaction is somebody using what we showed: a button, or a command of the menu.
type interaction struct {
	ID          string `json:"id"`
	Kind        int    `json:"type"`
	Application string `json:"application_id"`
	Token       string `json:"token"`
	Channel     string `json:"channel_id"`
	Server      string `json:"guild_id"`
	Member      *struct {
		User user `json:"user"`
	} `json:"member"` // in a server
	User *user `json:"user"` // elsewhere
	Data struct {
		CustomID string   `json:"custom_id"`
		Name     string   `json:"name"`
		Options  []option `json:"options"`
	} `json:"data"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message"`
}

type option struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func (i interaction) who() user {
	switch {
	case i.Member != nil:
		return i.Member.User
	case i.User != nil:
		return *i.User
	}
	return user{}
}

// spoken is how an interaction can be answered, for as long as Discord lets it.
type spoken struct {
	application, token string
	at                 time.Time
	begun              chan struct{} // closed when it was acknowledged
}

// Bounds of what is remembered of interactions.
const (
	interactionLife = 14 * time.Minute
	mostSpoken      = 1000
	ackTime         = 3 * time.Second
)

// spokens are the interactions that can be answered, by their id.
type spokens struct {
	mu sync.Mutex
	m  map[string]*spoken
}

func (s *spokens) add(i interaction, now time.Time) *spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[string]*spoken{}
	}
	for id, old := range s.m {
		if now.Sub(old.at) > interactionLife || len(s.m) >= mostSpoken {
			delete(s.m, id)
		}
	}
	p := &spoken{application: i.Application, token: i.Token, at: now, begun: make(chan struct{})}
	s.m[i.ID] = p
	return p
}

func (s *spokens) get(id string) *spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[id]
}

// Answers to an interaction.
const (
	answerWords  = 4
	answerLater  = 5 // words follow
	answerNoted  = 6 // nothing is shown
	onlyForThem  = 1 << 6
	mostEphemera = 1900
)

type response struct {
	Kind int            `json:"type"`
	Data *ephemeralData `json:"data,omitempty"`
}

type ephemeralData struct {
	Content  string `json:"content,omitempty"`
	Flags    int    `json:"flags"`
	Mentions nobody `json:"allowed_mentions"`
}

func onlyFor(words string) *ephemeralData {
	return &ephemeralData{Content: text.Ellipsis(words, mostEphemera), Flags: onlyForThem, Mentions: noMentions()}
}

// respond is the first answer to an interaction. Its address holds a credential, so
// that errors name the route.
func (c *Client) respond(ctx context.Context, i interaction, r response) error {
	ctx, cancel := context.WithTimeout(ctx, ackTime)
	defer cancel()
	q := call{method: http.MethodPost, path: "/interactions/" + i.ID + "/" + i.Token + "/callback", route: "/interactions/callback",
		major: i.ID, secret: true}
	return c.ask(ctx, q, r, nil)
}

// Answer says words to who pressed a button, that nobody else sees.
func (c *Client) Answer(ctx context.Context, _ channel.Target, _ string, p channel.Press, words string) error {
	s := c.spokens.get(p.ID)
	if s == nil || c.now().Sub(s.at) > interactionLife {
		return nil // it is too old, or another process of ours heard it
	}
	select { // Discord knows of nothing to follow before it was acknowledged
	case <-s.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	q := call{method: http.MethodPost, path: "/webhooks/" + s.application + "/" + s.token, route: "/webhooks/interaction", major: p.ID,
		secret: true, once: true}
	return c.ask(ctx, q, onlyFor(words), nil)
}

// aside is what happened beside messages: it waits for no message, and is not missed
// when nobody was there.
type aside struct {
	in    channel.Inbound
	about *interaction // nil: a reaction
}

// mostAside is how many may wait.
const mostAside = 256

// put lines something up; what is too much is left out, and who pressed is told.
func (c *Client) put(ctx context.Context, a aside) {
	select {
	case c.asides <- a:
	default:
		c.log.Warn("too much happens at once, so something is left out", "channel", discord.ID)
		if a.about != nil {
			_ = c.respond(ctx, *a.about, response{answerWords, onlyFor(tooMuch)})
		}
	}
}

// Words for who pressed a button that came to nothing.
const (
	tooMuch    = "Too much is going on. Press it again in a moment."
	notArrived = "It could not be noted. Press it again in a moment."
)

// hand gives what happened beside messages to the inbox.
func (c *Client) hand(ctx context.Context, inbox channel.Inbox) {
	for {
		select {
		case a := <-c.asides:
			c.handOne(ctx, a, inbox)
		case <-ctx.Done():
			return
		}
	}
}

func (c *Client) handOne(ctx context.Context, a aside, inbox channel.Inbox) {
	if a.about == nil {
		if err := inbox(ctx, a.in); err != nil && ctx.Err() == nil {
			c.log.Warn("a reaction was not taken", "err", err)
		}
		return
	}
	s := c.spokens.add(*a.about, c.now())
	defer close(s.begun)
	r := response{Kind: answerNoted}
	if a.about.Kind == interactionCommand {
		r = response{answerWords, onlyFor("✓ " + text.Ellipsis(a.in.Text, 100))}
	}
	if err := inbox(ctx, a.in); err != nil {
		c.log.Warn("a press was not taken", "err", err)
		r = response{answerWords, onlyFor(notArrived)}
	}
	if err := c.respond(ctx, *a.about, r); err != nil && ctx.Err() == nil {
		c.log.Warn("Discord was not told that a press was taken", "err", err)
	}
}

// interacted takes a press of a button, or a command of the menu.
func (c *Client) interacted(ctx context.Context, i interaction) error {
	who := i.who()
	if !discord.IsID(i.ID) || i.Token == "" || !discord.IsID(i.Channel) || !discord.IsID(who.ID) || !discord.IsID(i.Application) {
		return nil
	}
	in, err := c.beside(ctx, i.Channel, who)
	if err != nil {
		return err
	}
	in.MessageID, in.Mentioned = i.ID, true
	switch {
	case i.Kind == interactionPressed && i.Message != nil && i.Data.CustomID != "":
		in.Press = channel.Press{ID: i.ID, Data: i.Data.CustomID, MessageID: i.Message.ID}
	case i.Kind == interactionCommand && i.Data.Name != "":
		in.Text = "/" + i.Data.Name
		for _, o := range i.Data.Options {
			var value string
			if json.Unmarshal(o.Value, &value) == nil {
				in.Text += " " + value
			}
		}
	default:
		return nil
	}
	c.put(ctx, aside{in: in, about: &i})
	return nil
}

// beside is what everything begins with that somebody does in a channel.
func (c *Client) beside(ctx context.Context, at string, who user) (channel.Inbound, error) {
	in := channel.Inbound{
		Channel: discord.ID, Account: c.account, Chat: channel.Group, Conversation: at, SenderID: who.ID,
		SenderName: cmp.Or(who.Full, who.Name), SenderHandle: who.Name, SenderIsBot: who.Bot, At: c.now(),
	}
	where, err := c.place(ctx, at)
	if err != nil {
		return in, err
	}
	switch {
	case where.Kind == kindDirect:
		in.Chat, in.Conversation, in.Label = channel.Direct, discord.PersonSign+who.ID, in.SenderName
	case where.thread() && where.Parent != "":
		in.Conversation, in.Thread, in.Label = where.Parent, at, c.known.label(where)
	default:
		in.Label = c.known.label(where)
	}
	in.Room, in.Space = where.room()
	return in, nil
}

// reaction is an emoji that somebody put on a message or took away.
type reaction struct {
	User    string `json:"user_id"`
	Channel string `json:"channel_id"`
	Message string `json:"message_id"`
	Author  string `json:"message_author_id"`
	Member  *struct {
		User user `json:"user"`
	} `json:"member"`
	Emoji struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"emoji"`
}

func (c *Client) reacted(ctx context.Context, r reaction, removed bool) error {
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	if r.User == self.ID || !discord.IsID(r.User) || !discord.IsID(r.Channel) || !discord.IsID(r.Message) || r.Emoji.Name == "" {
		return nil
	}
	who := user{ID: r.User, Name: r.User}
	if r.Member != nil {
		who = r.Member.User
	}
	in, err := c.beside(ctx, r.Channel, who)
	if err != nil {
		return err
	}
	sign := r.Emoji.Name
	if r.Emoji.ID != "" {
		sign = ":" + sign + ":"
	}
	in.MessageID = "reaction-" + r.Message + "-" + r.User + "-" + in.At.Format("150405.000000000")
	in.Reaction = channel.Reaction{MessageID: r.Message, Emoji: text.Ellipsis(sign, 64), Removed: removed, Ours: r.Author == self.ID}
	c.put(ctx, aside{in: in})
	return nil
}
