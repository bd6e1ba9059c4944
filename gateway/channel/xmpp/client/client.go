// Package client is an account on an XMPP server. It owns the connection, the rooms
// that it is in and what stanzas mean; settings and limits are package xmpp's, and the
// library negotiates the stream. A message counts as sent when the server has counted
// it (XEP-0198) or answered a ping that followed it, one for a room when the room has
// said it. What comes is acknowledged when it was taken, and what came meanwhile is
// read from the server's archive (XEP-0313).
package client

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Client is an account. It implements channel.Channel, channel.Reporter and the
// abilities to edit, delete, react, show typing, fetch and read what was said before.
type Client struct {
	account       string
	address       string // ours, without a resource
	domain        string
	host, port    string
	secure        bool
	password      string
	nick          string
	rooms         []string // addresses
	maxFile       int64
	openFile      func(path string) (fs.File, error)
	durable       channel.Durable
	now           func() time.Time
	log           *slog.Logger
	roots         *x509.CertPool // nil: the system's
	arrived       chan struct{}  // holds one when the inbox got something
	roomLeft      chan struct{}  // holds one when it has to enter a room again
	quietRetryFor time.Duration  // between two looks at the rooms
	leastRest     time.Duration  // after a connection that failed

	mu     sync.Mutex
	status channel.Status
	link   *link // nil: not connected
	inbox  []item
	space  chan struct{} // closed and replaced when the inbox got shorter
	kept   kept
	seen   recent[struct{}] // archive ids that came, by archive
	ours   recent[string]   // ids in rooms of what we said, and the id that we gave it
	said   recent[string]   // in rooms: who said what has an id
	ids    recent[string]   // in rooms: the id of a message by the one that its sender gave it
	stored recent[string]   // the place in its archive of a message that was read back
	typing map[string]*time.Timer
	limits channel.Limits
	// origins of web addresses where our own server keeps files, when it is in our
	// network.
	origins map[string]bool
}

// item is something that came, in its order.
type item struct {
	in       *channel.Inbound // nil: nothing for anybody, but it is done with
	link     *link
	counted  uint32 // its number on the link
	archive  string // where it is kept; "" is our own archive, where id is not ""
	id       string
	timed    bool // by its time, where the archive has no ids
	at       time.Time
	receipt  string // the id that its sender wants to hear of
	receiver string
}

const (
	mostWaiting = 200 // messages that wait to be taken: more are not read from the server
	mostRecent  = 4000
)

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := xmpp.Check(a); err != nil {
		return nil, err
	}
	address := strings.ToLower(a.Texts[xmpp.KeyAddress])
	local, domain, _ := strings.Cut(address, "@")
	c := &Client{
		account: a.ID, address: address, domain: domain, host: a.Texts[xmpp.KeyHost], port: a.Texts[xmpp.KeyPort],
		secure: a.Texts[xmpp.KeyTLS] != "false", password: a.Secrets[xmpp.KeyPassword], nick: cmp.Or(a.Texts[xmpp.KeyNick], local),
		maxFile: a.MaxFile, openFile: a.OpenFile, durable: a.Durable, now: a.Now, log: a.Logger,
		quietRetryFor: 5 * time.Minute, leastRest: leastRest,
		arrived: make(chan struct{}, 1), roomLeft: make(chan struct{}, 1), space: make(chan struct{}), typing: map[string]*time.Timer{},
		origins: map[string]bool{}, limits: xmpp.Limits, status: channel.Status{State: channel.Stopped, Bot: address},
	}
	if list := a.Texts[xmpp.KeyRooms]; list != "" {
		for room := range strings.SplitSeq(list, "\n") {
			c.rooms = append(c.rooms, strings.ToLower(strings.TrimPrefix(room, xmpp.RoomSign)))
		}
	}
	if c.maxFile > 0 {
		c.limits.Files = min(c.limits.Files, c.maxFile)
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
func (c *Client) ID() string { return xmpp.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits
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

// trouble is a problem that does not end the connection.
func (c *Client) trouble(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	c.log.Warn("xmpp", "problem", words)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Problem = words
}

// How long a server is left alone after a connection that failed.
const (
	leastRest = 2 * time.Second
	mostRest  = 5 * time.Minute
)

// Run connects, enters its rooms, and hands over what is written to us until ctx
// ends. It connects again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	defer c.untype()
	if err := c.remember(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	work.Go(func() { c.hand(ctx, inbox) })
	for rest := c.leastRest; ; {
		began := c.now()
		err := c.live(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, channel.ErrAuth) {
			return err
		}
		if c.now().Sub(began) > time.Minute {
			rest = c.leastRest
		}
		c.note(channel.Waiting, fmt.Sprintf("XMPP cannot be used as %s: %v. It tries again in %v.", c.address, err, rest))
		if sleep.For(ctx, rest) != nil {
			return nil
		}
		rest = min(2*rest, mostRest)
	}
}

// live is one connection. Its error says why it ended.
func (c *Client) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.link = l
	c.mu.Unlock()
	var work sync.WaitGroup
	work.Go(func() { l.end(l.read()); cancel() })
	work.Go(func() { <-ctx.Done(); l.end(ctx.Err()) })
	work.Go(func() { l.watch(ctx) })
	err = c.attend(ctx, l)
	if err != nil {
		l.end(err)
	}
	work.Wait()
	c.mu.Lock()
	c.link = nil
	c.mu.Unlock()
	return l.cause()
}

// attend reads what came meanwhile, says that we are there, and keeps our seats in
// the rooms until the connection ends.
func (c *Client) attend(ctx context.Context, l *link) error {
	last, known := c.mark("")
	if err := c.catchUp(ctx, l, "", last, known); err != nil {
		return err
	}
	full := true
	for first := true; full; first = false {
		l.keepBack("")
		if first {
			if err := l.write(presence{}); err != nil {
				return err
			}
			c.note(channel.Receiving, "")
		}
		last, known = c.mark("")
		if err := c.catchUp(ctx, l, "", last, known); err != nil { // between the archive's end and our presence
			return err
		}
		var err error
		if full, err = c.release(l, ""); err != nil {
			return err
		}
	}
	c.askUpload(ctx, l)
	for {
		for _, room := range c.rooms {
			if err := c.enter(ctx, l, room); err != nil {
				return err
			}
		}
		again := time.NewTimer(c.quietRetryFor)
		select {
		case <-again.C:
		case <-c.roomLeft:
			again.Stop()
			if err := sleep.For(ctx, leastRest); err != nil {
				return err
			}
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

// current is the connection, or why there is none. Then nothing was sent, and a later
// attempt may succeed.
func (c *Client) current() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil || c.status.State != channel.Receiving {
		return nil, fmt.Errorf("XMPP is not connected: %s", cmp.Or(c.status.Problem, "it is connecting"))
	}
	return c.link, nil
}

// recent is a table that forgets its oldest entries.
type recent[V any] struct {
	values map[string]V
	order  []string
}

func (r *recent[V]) put(key string, v V) {
	if r.values == nil {
		r.values = map[string]V{}
	}
	if _, ok := r.values[key]; !ok {
		r.order = append(r.order, key)
	}
	r.values[key] = v
	if len(r.order) > mostRecent {
		delete(r.values, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recent[V]) get(key string) (V, bool) { v, ok := r.values[key]; return v, ok }
