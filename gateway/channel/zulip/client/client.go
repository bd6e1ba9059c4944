// Package client is a bot's account in a Zulip organization. It owns the requests to
// the organization's API and the queue there that events come by; settings and limits
// are package zulip's. What was written while there was no queue is read from the
// history: everything behind the newest message that was taken.
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
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
)

// Client is an account. It implements channel.Channel and all optional abilities.
type Client struct {
	account  string
	base     string // without a slash at its end
	email    string
	key      func() string
	http     *http.Client
	maxFile  int64
	openFile func(path string) (fs.File, error)
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue

	mu     sync.Mutex
	status channel.Status
	self   user           // zero until the server told it
	people map[int64]user // that the server told of
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := zulip.Check(a); err != nil {
		return nil, err
	}
	key := a.Secrets[zulip.KeyAPIKey]
	c := &Client{
		account: a.ID, base: strings.TrimRight(a.Texts[zulip.KeySite], "/"), email: a.Texts[zulip.KeyEmail], key: func() string { return key },
		http: webcall.Client(), maxFile: a.MaxFile, openFile: a.OpenFile, now: a.Now, log: a.Logger, people: map[int64]user{},
		status: channel.Status{State: channel.Stopped},
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
func (c *Client) ID() string { return zulip.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	l := zulip.Limits
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

// How long the server is left alone after a queue that ended, twice as long each
// time, and from the beginning after one that lived.
const (
	leastRest = time.Second
	mostRest  = 2 * time.Minute
	lived     = time.Minute
)

// Run hands over what is written until ctx ends. It connects again by itself.
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

// user is somebody in the organization.
type user struct {
	ID    int64  `json:"user_id"`
	Name  string `json:"full_name"`
	IsBot bool   `json:"is_bot"`
}

// me is our own account, asked for once.
func (c *Client) me(ctx context.Context) (user, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self.ID != 0 {
		return self, nil
	}
	return c.login(ctx)
}

// login asks the server who we are, which is also how a key is tried.
func (c *Client) login(ctx context.Context) (user, error) {
	var self user
	if err := c.ask(ctx, http.MethodGet, "/users/me", nil, &self); err != nil {
		return self, err
	}
	if self.ID <= 0 || self.Name == "" {
		return self, fmt.Errorf("%s does not answer as a Zulip server: check channels.zulip.site", c.base)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self, c.status.Bot = self, self.Name
	return self, nil
}

// mostPeople is how many are remembered.
const mostPeople = 5000

// person is somebody by number. Of one whom the server does not show to us nothing
// more is known.
func (c *Client) person(ctx context.Context, id int64) (user, error) {
	c.mu.Lock()
	known, ok := c.people[id]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	var said struct {
		User user `json:"user"`
	}
	if err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/users/%d", id), nil, &said); err != nil && !isNo(err) {
		return user{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.people) >= mostPeople {
		clear(c.people)
	}
	c.people[id] = said.User
	return said.User, nil
}
