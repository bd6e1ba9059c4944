//go:build goolm

package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Client is an account. It implements channel.Channel, channel.Reporter, channel.Confirmer,
// channel.LoginAsker and the abilities to edit, delete, react, show typing, fetch, pin and
// read what was said before.
type Client struct {
	account  string
	server   string
	user     id.UserID
	password string
	token    string
	device   string // what it is called
	inviters map[id.UserID]bool
	maxFile  int64
	openFile func(path string) (fs.File, error)
	durable  channel.Durable
	now      func() time.Time
	log      *slog.Logger
	rest     time.Duration // after a connection that failed
	long     time.Duration // that a request for news stays open

	mu        sync.Mutex
	status    channel.Status
	limits    channel.Limits
	live      *session // nil: not logged in
	kept      kept
	confirmed int64 // the generation that the server has
	rooms     map[id.RoomID]*room
	reacts    map[string]id.EventID // our reactions, by room and message
	puts      map[id.EventID]put    // those of others
	ask       channel.Ask           // the emoji of a verification
	verdict   string                // how a verification is, or how it ended
	unsigned  string                // why our device is not signed

	recovery string // the recovery key, "": none

	verifying sync.Mutex    // one event of a verification at a time; it guards what follows
	compare   *verification // nil: there is none
	making    *ssss.Key     // the recovery key that is offered, nil: none
}

// session is a login.
type session struct {
	api  *mautrix.Client
	keys *keys
	mach *crypto.OlmMachine
	// fetched is when the devices of somebody were asked for; the client's lock guards it.
	fetched map[id.UserID]time.Time
	backup  *backedUp // nil: there is none, or it was not opened yet
	resting time.Time // until when the server's backup is left alone
	end     context.CancelCauseFunc
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := matrix.Check(a); err != nil {
		return nil, err
	}
	c := &Client{
		account: a.ID, server: a.Texts[matrix.KeyServer], user: id.UserID(a.Texts[matrix.KeyUser]), password: a.Secrets[matrix.KeyPassword],
		token: a.Secrets[matrix.KeyToken], recovery: a.Secrets[matrix.KeyRecovery],
		device: cmp.Or(a.Texts[matrix.KeyDevice], "Hearth"), inviters: map[id.UserID]bool{},
		maxFile: a.MaxFile, openFile: a.OpenFile, durable: a.Durable, now: a.Now, log: a.Logger, rest: leastRest, long: 30 * time.Second,
		limits: matrix.Limits, rooms: map[id.RoomID]*room{}, reacts: map[string]id.EventID{},
		puts:   map[id.EventID]put{},
		status: channel.Status{State: channel.Stopped, Bot: a.Texts[matrix.KeyUser]},
	}
	if list := a.Texts[matrix.KeyInviters]; list != "" {
		for who := range strings.SplitSeq(list, "\n") {
			c.inviters[id.UserID(who)] = true
		}
	}
	if c.maxFile > 0 {
		c.limits.Files = min(c.limits.Files, c.maxFile)
	}
	if c.durable == nil {
		c.durable = forgetful{}
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// forgetful keeps nothing: a new device is made at every start.
type forgetful struct{}

func (forgetful) Get(context.Context, string) ([]byte, error) { return nil, nil }
func (forgetful) Put(context.Context, string, []byte) error   { return nil }

// ID is the network's.
func (c *Client) ID() string { return matrix.ID }

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

// note says how it is. What else a person should know stays until it changes.
func (c *Client) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == channel.Receiving {
		problem = cmp.Or(problem, c.verdict, c.unsigned, c.kept.Trouble)
	}
	c.status.Become(state, problem, c.now())
}

// trouble is a problem that a person should know though all goes on.
func (c *Client) trouble(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	c.log.Warn("matrix", "problem", words)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Trouble, c.status.Problem = words, words
}

// How long a server is left alone after a request that failed.
const (
	leastRest = 2 * time.Second
	mostRest  = 5 * time.Minute
)

// Run logs in and hands over what is written to us until ctx ends. It connects again
// by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.remember(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	for rest := c.rest; ; {
		well, err := c.connected(ctx, inbox)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, channel.ErrAuth) {
			return err
		}
		if errors.Is(err, errAnew) {
			continue
		}
		if well {
			rest = c.rest
		}
		pause := rest
		var limit *channel.RateLimit
		if errors.As(err, &limit) {
			pause = max(pause, limit.After)
		}
		c.note(channel.Waiting, fmt.Sprintf("Matrix cannot be used at %s: %v. It tries again in %v.", c.server, err, pause))
		if sleep.For(ctx, pause) != nil {
			return nil
		}
		rest = min(2*rest, mostRest)
	}
}

// connected is one login and what comes of it. Its error says why it ended, and well
// whether the server told any news before.
func (c *Client) connected(ctx context.Context, inbox channel.Inbox) (well bool, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s, err := c.enter(ctx)
	if err != nil {
		return false, err
	}
	s.end = end
	c.mu.Lock()
	c.live = s
	c.rooms = map[id.RoomID]*room{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.live = nil
		c.mu.Unlock()
		s.mach.Destroy()
	}()
	c.askLimits(ctx, s)
	c.endLeft(ctx, s)
	if err := c.follow(ctx, s, nil); err != nil {
		return false, err
	}
	for {
		if err := c.news(ctx, s, inbox); err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, errAnew) || errors.Is(cause, errLoggedOut) {
				err = cause
			}
			return well, err
		}
		well = true
		c.note(channel.Receiving, "")
	}
}

// current is the login, or why there is none. Then nothing was sent, and a later
// attempt may succeed.
func (c *Client) current() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil || c.status.State != channel.Receiving {
		return nil, fmt.Errorf("Matrix is not connected: %s", cmp.Or(c.status.Problem, "it is connecting"))
	}
	return c.live, nil
}

// api talks to the server of the account.
func (c *Client) api(keys func() error) (*mautrix.Client, error) {
	api, err := mautrix.NewClient(c.server, c.user, "")
	if err != nil {
		return nil, fmt.Errorf("%w: %s is no homeserver: %w", channel.ErrAuth, c.server, err)
	}
	api.Client = &http.Client{Timeout: 3 * time.Minute, Transport: guard{egress.Operator(), keys}, CheckRedirect: egress.SameOrigin}
	api.ExternalClient = api.Client
	api.IgnoreRateLimit = true // the gateway waits
	api.ResponseSizeLimit = mostAnswer
	return api, nil
}

// mostAnswer is how much of an answer is read, in bytes; files are larger.
const mostAnswer = 64 << 20

// guard sends no keys to others while our own cannot be kept: they would be used twice.
type guard struct {
	http.RoundTripper
	keys func() error
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.keys != nil && (strings.Contains(r.URL.Path, "/sendToDevice/") || strings.Contains(r.URL.Path, "/keys/upload")) {
		if err := g.keys(); err != nil {
			return nil, fmt.Errorf("keep our keys: %w", err)
		}
	}
	return g.RoundTripper.RoundTrip(r)
}
