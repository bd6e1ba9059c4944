// Package client is an account at Signal, reached by signal-cli: a program that the
// person runs, which holds the keys and speaks to Signal's servers. This package owns
// the requests to its HTTP interface (JSON-RPC, and events as they come); settings and
// limits are package signal's. It starts no program and sees no key.
package client

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/reconnect"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel and all optional abilities.
type Client struct {
	account  string
	number   string // our own
	base     string // without a slash at its end
	receipts bool
	http     *http.Client
	maxFile  int64
	openFile func(path string) (fs.File, error)
	durable  channel.Durable
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue
	known    *memory

	mu     sync.Mutex
	status channel.Status
	self   string // our account's number at Signal; "" until it is known
	at     string // the newest event whose message was taken
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := signal.Check(a); err != nil {
		return nil, err
	}
	c := &Client{
		account: a.ID, number: a.Texts[signal.KeyAccount], base: signal.Address(a), receipts: a.Texts[signal.KeyReceipts] == "true",
		http: webcall.Client(), maxFile: a.MaxFile, openFile: a.OpenFile, durable: a.Durable, now: a.Now, log: a.Logger,
		known: newMemory(), status: channel.Status{State: channel.Stopped},
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
func (c *Client) ID() string { return signal.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	l := signal.Limits
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
	if state == channel.Receiving {
		c.status.Bot = c.number
	}
	c.status.Become(state, problem, c.now())
}

// How long signal-cli is left alone after a connection that ended, twice as long each
// time, and from the beginning after one that lived.
const (
	leastRest = time.Second
	mostRest  = time.Minute
	lived     = time.Minute
)

// eventKey is where the newest event whose message was taken is kept.
const eventKey = "event"

// Run hands over what is written until ctx ends. It connects again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	work.Go(func() { c.queue.Hand(ctx, inbox) })
	return reconnect.Loop{
		Least: leastRest, Most: mostRest, Lived: lived, Now: c.now, Connect: c.live,
		Waiting: func(err error, wait time.Duration) {
			c.note(channel.Waiting, fmt.Sprintf("%v. It is tried again in %v.", err, wait.Round(time.Second/10)))
		},
	}.Run(ctx)
}

// remember reads what was kept: which messages were taken, and up to which event.
func (c *Client) remember(ctx context.Context) error {
	if err := c.queue.Remember(ctx); err != nil || c.durable == nil {
		return err
	}
	b, err := c.durable.Get(ctx, eventKey)
	if err != nil {
		return fmt.Errorf("read which event was the last: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = string(b)
	return nil
}

// took keeps that the message of an event was taken.
func (c *Client) took(ctx context.Context, event string) {
	c.mu.Lock()
	c.status.LastTake = c.now()
	if event != "" {
		c.at = event
	}
	c.mu.Unlock()
	if event == "" || c.durable == nil {
		return
	}
	if err := c.durable.Put(ctx, eventKey, []byte(event)); err != nil && ctx.Err() == nil {
		c.log.Warn("which event was the last could not be kept", "err", err)
	}
}

// login tries whether signal-cli is there and knows the account, and who we are.
func (c *Client) login(ctx context.Context) error {
	c.mu.Lock()
	known := c.self != ""
	c.mu.Unlock()
	if known {
		return c.ask(ctx, "version", nil, nil)
	}
	var all []struct {
		Number string `json:"number"`
		Asked  string `json:"recipient"`
		UUID   string `json:"uuid"`
		Here   bool   `json:"isRegistered"`
	}
	if err := c.ask(ctx, "getUserStatus", map[string]any{"recipient": []string{c.number}}, &all); err != nil {
		return err
	}
	for _, u := range all {
		if (u.Number == c.number || u.Asked == c.number) && isUUID(u.UUID) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.self = u.UUID
			return nil
		}
	}
	return fmt.Errorf("%w: %s is not registered at Signal. Register it with signal-cli, or set channels.signal.account to the number that is",
		channel.ErrAuth, c.number)
}

// isUUID reports whether a text has the form of an account's number at Signal.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if r != '-' {
				return false
			}
		case (r < '0' || r > '9') && (r < 'a' || r > 'f'):
			return false
		}
	}
	return true
}
