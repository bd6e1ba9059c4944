// Package client is a bot's account in a Slack workspace, in Socket Mode. It owns the
// requests to Slack's API and the socket that events come by: an event is acknowledged
// when its message was taken, and not before. Settings and limits of messages are
// package slack's. What was written while no socket was there is read from the
// channels' history: everything behind the newest message that was taken.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel and the optional abilities.
type Client struct {
	account  string
	root     string   // of the API
	hosts    []string // of files
	bot, app func() string
	http     *http.Client
	maxFile  int64
	openFile func(path string) (fs.File, error)
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue
	known    *known
	streams  *streams
	asides   chan aside
	refresh  bool // the last connection ended in good order: Run's alone

	mu     sync.Mutex
	status channel.Status
	menu   map[string]bool       // names of commands
	self   identity              // zero until Slack told it
	lacks  string                // scopes, for people; "": none
	envs   map[string][]envelope // that wait until their message was taken, by its id
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := slack.Check(a); err != nil {
		return nil, err
	}
	root := strings.TrimRight(cmp.Or(a.Texts[slack.KeyRoot], slack.Root), "/")
	bot, app := a.Secrets[slack.KeyBot], a.Secrets[slack.KeyApp]
	c := &Client{
		account: a.ID, root: root, hosts: []string{"files.slack.com"}, bot: func() string { return bot }, app: func() string { return app },
		http: webcall.Client(), maxFile: a.MaxFile, openFile: a.OpenFile, now: a.Now, log: a.Logger, known: newKnown(), streams: newStreams(),
		status: channel.Status{State: channel.Stopped}, envs: map[string][]envelope{},
		asides: make(chan aside, mostAside),
	}
	if u, err := url.Parse(root); err == nil && root != slack.Root {
		c.hosts = append(c.hosts, u.Host)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.queue = intake.New(intake.Options{Durable: a.Durable, Logger: c.log})
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return slack.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	l := slack.Limits
	if c.maxFile > 0 {
		l.Files = min(l.Files, c.maxFile)
	}
	return l
}

// Status implements channel.Reporter.
func (c *Client) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Client) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == channel.Receiving && problem == "" && c.lacks != "" {
		problem = "The bot's token lacks the scopes " + c.lacks + ": add them at https://api.slack.com/apps, your app, OAuth & Permissions, " +
			"and install the app again."
	}
	c.status.Become(state, problem, c.now())
}

// How long Slack is left alone after a connection that failed: twice as long each
// time. After one that received only the more than mostShort short ones in a row count,
// and after one that lived it is as at the beginning.
const (
	leastRest = time.Second
	mostRest  = 2 * time.Minute
	lived     = time.Minute
	mostShort = 8
)

// Run hands over what is posted until ctx ends. It connects again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.queue.Remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	work.Go(func() { c.queue.Hand(ctx, inbox) })
	work.Go(func() { c.hand(ctx, inbox) })
	return reconnect.Loop{
		Least: leastRest, Most: mostRest, Lived: lived, Now: c.now, AtOnce: errRefresh,
		Connect: func(ctx context.Context) error {
			err := c.live(ctx)
			c.refresh = errors.Is(err, errRefresh)
			return err
		},
		Received: func() bool { return c.Status().State == channel.Receiving }, MayEnd: mostShort,
		Waiting: func(err error, wait time.Duration) {
			c.note(channel.Waiting, fmt.Sprintf("The connection to Slack has ended: %v. It is made again in %v.", err,
				wait.Round(time.Second/10)))
		},
	}.Run(ctx, channel.ErrRefused)
}

// identity is who we are.
type identity struct {
	User string `json:"user_id"`
	Bot  string `json:"bot_id"`
	Name string `json:"user"`
	Team string `json:"team"`

	TeamID string `json:"team_id"`
}

// me is our own account, asked for once.
func (c *Client) me(ctx context.Context) (identity, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self.User != "" {
		return self, nil
	}
	return c.login(ctx)
}

// login asks Slack who we are, which is also how a token is tried and its scopes are
// known.
func (c *Client) login(ctx context.Context) (identity, error) {
	var self identity
	h, err := c.ask(ctx, call{method: "auth.test"}, nil, &self)
	if err != nil {
		return self, err
	}
	if !slack.IsID(self.User) {
		return self, errors.New("Slack did not say who the bot is")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self, c.status.Bot = self, "@"+self.Name
	c.lacks = missing(h.Get("X-Oauth-Scopes"))
	return self, nil
}

// missing are the scopes that a token does not have; "" also when nobody says which it
// has.
func missing(has string) string {
	if has == "" {
		return ""
	}
	var out []string
	all := strings.FieldsFunc(has, func(r rune) bool { return r == ',' || r == ' ' })
	for _, scope := range slack.Scopes() {
		if !slices.Contains(all, scope) {
			out = append(out, scope)
		}
	}
	return strings.Join(out, ", ")
}
