// Package client is a bot's account on Discord. It owns the requests to Discord's API
// and the gateway connection that events come by: its sessions, heartbeats and limits.
// Settings and limits of messages are package discord's. What was written while no
// session was there is read from the channels' history: everything behind the newest
// message that was taken.
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
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel and all optional abilities.
type Client struct {
	account  string
	base     string   // of the API, with its version
	hosts    []string // of files
	token    func() string
	http     *http.Client
	maxFile  int64
	openFile func(path string) (fs.File, error)
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue
	durable  channel.Durable
	known    *known
	limits   *limits
	session  session // of Run alone
	asides   chan aside
	spokens  spokens

	mu     sync.Mutex
	status channel.Status
	self   user // zero until the server told it
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := discord.Check(a); err != nil {
		return nil, err
	}
	token := a.Secrets[discord.KeyToken]
	root := strings.TrimRight(cmp.Or(a.Texts[discord.KeyRoot], discord.Root), "/")
	c := &Client{
		account: a.ID, base: root + "/v10", hosts: []string{"cdn.discordapp.com", "media.discordapp.net"},
		token: func() string { return token },
		http:  webcall.Client(), maxFile: a.MaxFile, openFile: a.OpenFile, now: a.Now, log: a.Logger, durable: a.Durable, known: newKnown(),
		status: channel.Status{State: channel.Stopped}, asides: make(chan aside, mostAside),
	}
	if u, err := url.Parse(root); err == nil && root != discord.Root {
		c.hosts = append(c.hosts, u.Host)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.limits = newLimits(c.now)
	c.queue = intake.New(intake.Options{Durable: a.Durable, Logger: c.log})
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return discord.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	l := discord.Limits
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
	c.status.Become(state, problem, c.now())
}

// How long Discord is left alone after a connection that failed: twice as long each
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
	if err := c.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	work.Go(func() { c.queue.Hand(ctx, inbox) })
	work.Go(func() { c.hand(ctx, inbox) })
	return reconnect.Loop{
		Least: leastRest, Most: mostRest, Lived: lived, Now: c.now, Connect: c.live,
		Received: func() bool { return c.Status().State == channel.Receiving }, MayEnd: mostShort,
		Waiting: func(err error, wait time.Duration) {
			c.note(channel.Waiting, fmt.Sprintf("The connection to Discord has ended: %v. It is made again in %v.", err,
				wait.Round(time.Second/10)))
		},
	}.Run(ctx, channel.ErrRefused)
}

// me is our own account, asked for once.
func (c *Client) me(ctx context.Context) (user, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self.ID != "" {
		return self, nil
	}
	return c.login(ctx)
}

// login asks Discord who we are, which is also how a token is tried.
func (c *Client) login(ctx context.Context) (user, error) {
	var self user
	if err := c.ask(ctx, call{method: http.MethodGet, path: "/users/@me"}, nil, &self); err != nil {
		return self, err
	}
	if !discord.IsID(self.ID) {
		return self, errors.New("Discord did not say who the bot is")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self, c.status.Bot = self, "@"+self.Name
	return self, nil
}
