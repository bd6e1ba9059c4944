// Package client is an account on an IRC server. It owns the connection and what
// lines mean; settings and limits are package irc's. A message counts as sent when
// the server answered a PING that followed it, and refused when a numeric said so:
// IRC itself confirms nothing. What comes while nobody takes it waits in order, but
// is lost with the program: no server keeps it.
package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ergochat/irc-go/ircevent"
	"github.com/ergochat/irc-go/ircmsg"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Client is an account. It implements channel.Channel and channel.Reporter.
type Client struct {
	account  string
	channels []string
	conn     *ircevent.Connection
	now      func() time.Time
	log      *slog.Logger

	ascii  atomic.Bool // the server tells "[" from "{" in names
	silent atomic.Bool // nothing came by the last connection that was dialled

	sending sync.Mutex // one message after the other, so that numerics are its own

	mu      sync.Mutex
	status  channel.Status
	inbox   []channel.Inbound
	arrived chan struct{} // holds one when inbox got something
	wait    *receipt      // of the message that is being sent; nil: none
	pings   int
	taken   int
	fatal   error         // why another connection would be no better
	parting string        // what the server said last before it ended a connection
	broken  chan struct{} // closed when the connection ends, replaced at the next
}

// receipt is what becomes of a message.
type receipt struct {
	target string
	token  string
	done   chan struct{}
	err    error
}

// The most messages that wait to be taken: more are not read from the server.
const mostWaiting = 1000

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := irc.Check(a); err != nil {
		return nil, err
	}
	secure := a.Texts[irc.KeyTLS] != "false"
	port := a.Texts[irc.KeyPort]
	if port == "" {
		port = "6667"
		if secure {
			port = "6697"
		}
	}
	nick := cmp.Or(a.Texts[irc.KeyNick], "hearth")
	c := &Client{
		account: a.ID, now: a.Now, log: a.Logger, arrived: make(chan struct{}, 1), broken: make(chan struct{}),
		status: channel.Status{State: channel.Stopped},
	}
	if list := a.Texts[irc.KeyChannels]; list != "" {
		c.channels = strings.Split(list, "\n")
	}
	c.conn = &ircevent.Connection{
		Server: net.JoinHostPort(a.Texts[irc.KeyHost], port), UseTLS: secure, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		Nick: nick, User: cmp.Or(a.Texts[irc.KeyUser], nick), RealName: cmp.Or(a.Texts[irc.KeyReal], "Hearth"),
		Password: a.Secrets[irc.KeyPassword], RequestCaps: []string{"message-tags", "account-tag", "server-time"},
		UseSASL: a.Texts[irc.KeyLogin] != "", SASLLogin: a.Texts[irc.KeyLogin], SASLPassword: a.Secrets[irc.KeyLoginPW],
		Timeout: 30 * time.Second, KeepAlive: time.Minute, ReconnectFreq: 10 * time.Second, QuitMessage: "good-bye",
		DialContext: c.dial,
		AllowPanic:  true, // ours are bugs, and the gateway starts the program again
		Log:         log.New(io.Discard, "", 0),
	}
	c.listen()
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return irc.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return irc.Limits }

// Status implements channel.Reporter.
func (c *Client) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Client) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.State != state {
		c.status.Since = c.now()
	}
	c.status.State, c.status.Problem = state, problem
}

// Run connects, joins, and hands over what is written to us until ctx ends. It
// connects again by itself.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { c.hand(ctx, inbox) })
	defer cancel() // before the wait
	c.note(channel.Starting, "")
	if err := c.connect(ctx); err != nil {
		return err
	}
	work.Go(func() {
		<-ctx.Done()
		c.conn.Quit()
	})
	c.conn.Loop()
	c.note(channel.Stopped, "")
	if ctx.Err() != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.fatal, errors.New("the connection to the IRC server has ended"))
}

// connect makes the first connection; later ones are the library's.
func (c *Client) connect(ctx context.Context) error {
	pause := 2 * time.Second
	for {
		err := c.conn.Connect()
		if err == nil || ctx.Err() != nil {
			return nil
		}
		c.mu.Lock()
		fatal, parting := c.fatal, c.parting
		c.parting = ""
		c.mu.Unlock()
		if errors.Is(err, ircevent.SASLFailed) || strings.Contains(err.Error(), "SASL") {
			fatal = fmt.Errorf("%w: the login as %s failed; check account and accountPassword", channel.ErrAuth, c.conn.SASLLogin)
		}
		if fatal == nil && strings.Contains(strings.ToLower(parting), "password") {
			fatal = c.unlet(parting) // ngircd says it in words alone
		}
		if fatal != nil {
			return fatal
		}
		why := fmt.Sprintf("IRC cannot reach %s: %v.", c.conn.Server, err)
		var noTLS tls.RecordHeaderError
		if c.conn.UseTLS && (errors.As(err, &noTLS) || c.silent.Load()) {
			why = fmt.Sprintf("%s does not speak TLS. Use the server's TLS port, or set channels.irc.tls to false.", c.conn.Server)
		}
		if parting != "" {
			why = fmt.Sprintf("%s ended the connection and says %q.", c.conn.Server, parting)
		}
		c.note(channel.Waiting, fmt.Sprintf("%s It tries again in %v.", why, pause))
		if sleep.For(ctx, pause) != nil {
			return nil
		}
		pause = min(2*pause, 5*time.Minute)
	}
}

// hand gives what came to inbox, each again until it was taken.
func (c *Client) hand(ctx context.Context, inbox channel.Inbox) {
	pause := time.Duration(0)
	for {
		c.mu.Lock()
		var in channel.Inbound
		some := len(c.inbox) > 0
		if some {
			in = c.inbox[0]
		}
		c.mu.Unlock()
		if !some {
			select {
			case <-c.arrived:
			case <-ctx.Done():
				return
			}
			continue
		}
		if err := inbox(ctx, in); err != nil {
			if ctx.Err() != nil {
				return
			}
			pause = min(max(2*pause, 50*time.Millisecond), 30*time.Second)
			c.log.Warn("a message was not taken; it is offered again", "err", err, "after", pause)
			if sleep.For(ctx, pause) != nil {
				return
			}
			continue
		}
		pause = 0
		c.mu.Lock()
		c.inbox = c.inbox[1:]
		c.taken++
		c.mu.Unlock()
	}
}

// listen says what the lines of the server mean.
func (c *Client) listen() {
	c.conn.AddConnectCallback(func(m ircmsg.Message) {
		c.mu.Lock()
		if len(m.Params) > 0 { // the library's own lock may be held for as long as it connects
			c.status.Bot = m.Params[0]
		}
		c.mu.Unlock()
		for _, name := range c.channels {
			_ = c.conn.Join(name)
		}
		c.note(channel.Receiving, "")
	})
	c.conn.AddDisconnectCallback(func(ircmsg.Message) {
		c.note(channel.Waiting, "The connection to "+c.conn.Server+" broke. It is made again.")
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.broken)
		c.broken = make(chan struct{})
	})
	c.conn.AddCallback("PRIVMSG", c.said)
	c.conn.AddCallback("PONG", c.ponged)
	c.conn.AddCallback("005", c.supports) // RPL_ISUPPORT
	c.conn.AddCallback("ERROR", func(m ircmsg.Message) {
		if len(m.Params) > 0 {
			c.mu.Lock()
			c.parting = m.Params[len(m.Params)-1]
			c.mu.Unlock()
		}
	})
	for _, numeric := range strings.Fields("401 402 403 404 407 411 412 413 414 415 416 417 437 477 482 489") { // ERR_NOSUCHNICK and its like
		c.conn.AddCallback(numeric, c.refused)
	}
	c.conn.AddCallback("464", c.rejected(c.unlet))  // ERR_PASSWDMISMATCH
	c.conn.AddCallback("465", c.rejected(c.banned)) // ERR_YOUREBANNEDCREEP
	for _, numeric := range []string{"471", "473", "474", "475"} {
		c.conn.AddCallback(numeric, func(m ircmsg.Message) { // a channel that does not let us in
			if len(m.Params) > 1 {
				c.note(channel.Receiving, fmt.Sprintf("The IRC channel %s does not let it in: %s.", m.Params[1], m.Params[len(m.Params)-1]))
			}
		})
	}
}

// rejected: the server will never take us like this; why makes an error of its words.
func (c *Client) rejected(why func(words string) error) func(ircmsg.Message) {
	return func(m ircmsg.Message) {
		c.mu.Lock()
		c.fatal = why(m.Params[len(m.Params)-1])
		c.mu.Unlock()
		go c.conn.Quit() // it waits for the goroutine that we are on
	}
}

// unlet is for a server with a password, which is another one or is missing.
func (c *Client) unlet(words string) error {
	return fmt.Errorf("%w: %s says %q. Check password, which is that of the server; the one of an account is accountPassword",
		channel.ErrAuth, c.conn.Server, words)
}

func (c *Client) banned(words string) error {
	return fmt.Errorf("%w: %s says %q. Ask who runs it, or choose another server", channel.ErrAuth, c.conn.Server, words)
}
