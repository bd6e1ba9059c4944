// Package client is a bot's account on a Mattermost server. It owns the requests to
// the server's API and the socket that events come by; settings and limits are package
// mattermost's. What was posted while the socket was down is read from the channels'
// history: everything behind the newest post that was taken.
package client

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel and all optional abilities.
type Client struct {
	account  string
	base     string // without a slash at its end
	token    func() string
	http     *http.Client
	maxFile  int64
	openFile func(path string) (fs.File, error)
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue
	known    known

	mu     sync.Mutex
	status channel.Status
	self   user // zero until the server told it
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := mattermost.Check(a); err != nil {
		return nil, err
	}
	token := a.Secrets[mattermost.KeyToken]
	c := &Client{
		account: a.ID, base: strings.TrimRight(a.Texts[mattermost.KeyBase], "/"), token: func() string { return token }, http: webcall.Client(),
		maxFile: a.MaxFile, openFile: a.OpenFile, now: a.Now, log: a.Logger, known: newKnown(), status: channel.Status{State: channel.Stopped},
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
func (c *Client) ID() string { return mattermost.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	l := mattermost.Limits
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

// How long the server is left alone after a connection that failed, twice as long
// each time, and from the beginning after one that lived.
const (
	leastRest = time.Second
	mostRest  = 2 * time.Minute
	lived     = time.Minute
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
	return reconnect.Loop{
		Least: leastRest, Most: mostRest, Lived: lived, Now: c.now, Connect: c.live,
		Waiting: func(err error, wait time.Duration) {
			c.note(channel.Waiting, fmt.Sprintf("The connection to %s has ended: %v. It is made again in %v.", c.base, err,
				wait.Round(time.Second/10)))
		},
	}.Run(ctx)
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

// login asks the server who we are, which is also how a token is tried.
func (c *Client) login(ctx context.Context) (user, error) {
	var self user
	if err := c.ask(ctx, http.MethodGet, "/users/me", nil, &self); err != nil {
		return self, err
	}
	if !mattermost.IsID(self.ID) || self.Name == "" {
		return self, fmt.Errorf("%s does not answer as a Mattermost server: check channels.mattermost.baseUrl", c.base)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self, c.status.Bot = self, "@"+self.Name
	return self, nil
}
