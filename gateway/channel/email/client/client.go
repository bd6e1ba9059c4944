// Package client is an account on a mail server: what comes is read by IMAP, what
// goes is sent by SMTP. It owns both connections, what a message says and whether its
// sender is proven; settings and limits are package email's. A message is marked as
// read when it was taken. What is not for the assistant stays unread where it is.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Client is an account. It implements channel.Channel, channel.Fetcher and
// channel.Reporter.
type Client struct {
	account        string
	address, name  string
	user, password string
	imap, smtp     server
	folder         string
	results        string // who may say that a sender is proven; "": nobody
	maxFile        int64
	openFile       func(path string) (fs.File, error)
	durable        channel.Durable
	now            func() time.Time
	log            *slog.Logger
	texts          func(ctx context.Context, name string) ([]string, error) // of the name service
	sends          chan struct{}                                            // one for each message on its way

	mu       sync.Mutex
	status   channel.Status
	kept     kept
	entered  bool // the mailbox let us in once
	unproven int
}

// server is where to connect, and how.
type server struct {
	host, port string
	security   security
}

// security is how a connection is encrypted.
type security int

const (
	fromTheStart security = iota
	startTLS
	plain // to this computer, in tests
)

// mostSends is how many messages are sent at the same time.
const mostSends = 2

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := email.Check(a); err != nil {
		return nil, err
	}
	address := strings.ToLower(a.Texts[email.KeyAddress])
	c := &Client{
		account: a.ID, address: address, name: cmp.Or(a.Texts[email.KeyDisplay], "Hearth"), user: cmp.Or(a.Texts[email.KeyUser], address),
		password: a.Secrets[email.KeyPassword], folder: cmp.Or(a.Texts[email.KeyFolder], "INBOX"), results: a.Texts[email.KeyResults],
		maxFile: a.MaxFile, openFile: a.OpenFile, durable: a.Durable, now: a.Now, log: a.Logger, texts: net.DefaultResolver.LookupTXT,
		sends:  make(chan struct{}, mostSends),
		status: channel.Status{State: channel.Stopped, Bot: address},
		imap:   server{a.Texts[email.KeyIMAPHost], cmp.Or(a.Texts[email.KeyIMAPPort], "993"), fromTheStart},
		smtp:   server{a.Texts[email.KeySMTPHost], cmp.Or(a.Texts[email.KeySMTPPort], "465"), fromTheStart},
	}
	if c.imap.port == "143" {
		c.imap.security = startTLS
	}
	if c.smtp.port == "587" || c.smtp.port == "25" {
		c.smtp.security = startTLS
	}
	if a.Texts[email.KeyTLS] == "false" {
		c.imap.security, c.smtp.security = plain, plain
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return email.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return email.Limits }

// Status implements channel.Reporter.
func (c *Client) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Client) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == channel.Receiving && problem == "" && c.unproven > 0 {
		problem = fmt.Sprintf("%d messages were left unread in %s, because nobody proves who sent them; see docs/channels/email.md.",
			c.unproven, c.folder)
		if c.unproven == 1 {
			problem = fmt.Sprintf("1 message was left unread in %s, because nobody proves who sent it; see docs/channels/email.md.", c.folder)
		}
	}
	c.status.Become(state, problem, c.now())
}

// How long a server is left alone after a connection that failed.
const (
	leastRest = 2 * time.Second
	mostRest  = 5 * time.Minute
)

// Run reads the mailbox until ctx ends. It connects again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	for rest := leastRest; ; {
		began := c.now()
		err := c.receive(ctx, inbox)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, channel.ErrAuth) {
			return err
		}
		if c.now().Sub(began) > time.Minute {
			rest = leastRest
		}
		c.note(channel.Waiting, fmt.Sprintf("Mail cannot be read from %s: %v. It tries again in %v.", c.imap.host, err, rest))
		if sleep.For(ctx, rest) != nil {
			return nil
		}
		rest = min(2*rest, mostRest)
	}
}
