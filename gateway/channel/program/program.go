// Package program is a messaging network whose channel is a program of its own: the
// gateway starts it, talks to it in the words of package wire, and starts it again
// when it dies. It owns the life of that program and what its answers mean for the
// contract of package channel. It knows no network, starts no process itself
// (channel.Launch does), and package serve is the other end.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Options of a Bridge. The account's ID, Launch, Now and Logger are needed, and
// Network, Argv and Limits. Its Texts and Secrets are what the program gets.
type Options struct {
	channel.Account
	Network string // its Kind's ID
	Argv    []string
	// Limits and Can hold until the program has told its own; it may have less.
	Limits  channel.Limits
	Can     []channel.Ability
	IsGroup func(conversation string) bool // as its Kind's; nil: a message says itself
	// Test asks the program for a network in its memory, which Ask plays with.
	Test bool
}

// Bridge is an account behind a program. It implements channel.Channel and all
// optional abilities; Can says which the program has.
type Bridge struct {
	o Options

	mu     sync.Mutex
	live   *connection // nil: there is none
	limits channel.Limits
	can    []channel.Ability
	status channel.Status
	ask    channel.Ask
}

// New makes the channel of an account without starting its program; Run does.
func New(o Options) (*Bridge, error) {
	if o.Launch == nil {
		return nil, errors.New("programs cannot be started here, so this network cannot be used")
	}
	if len(o.Argv) == 0 {
		return nil, errors.New("no program is named")
	}
	return &Bridge{o: o, limits: o.Limits, can: o.Can, status: channel.Status{State: channel.Stopped, Since: o.Now()}}, nil
}

// ID is the network's.
func (c *Bridge) ID() string { return c.o.Network }

// Account is the account's name.
func (c *Bridge) Account() string { return c.o.Account.ID }

// Limits are the program's, and before it has told them those of its kind.
func (c *Bridge) Limits() channel.Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits
}

// Can implements channel.Standing.
func (c *Bridge) Can(a channel.Ability) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.can, a)
}

// Status implements channel.Reporter.
func (c *Bridge) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Asking implements channel.Asker.
func (c *Bridge) Asking() channel.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask.At(c.o.Now())
}

func (c *Bridge) asked(a channel.Ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask = a
}

func (c *Bridge) note(change func(*channel.Status)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.status.State
	change(&c.status)
	if c.status.State != old {
		c.status.Since = c.o.Now()
	}
}

// How long a program that died waits for its next start: twice as long each time,
// and from the beginning when it lived for steady, or so many times longer than it
// waited before: then the pauses cost hardly any of its time.
const (
	firstPause, longestPause = time.Second, 5 * time.Minute
	steady, longer           = 10 * time.Minute, 20
)

// errGivenUp is an end after which a new start would be no better.
var errGivenUp = errors.New("it cannot go on")

// Run keeps the program running and hands over what it receives.
func (c *Bridge) Run(ctx context.Context, inbox channel.Inbox) error {
	defer c.note(func(s *channel.Status) { s.State = channel.Stopped })
	pause, waited := firstPause, time.Duration(0)
	for {
		begun := c.o.Now()
		err := c.oneLife(ctx, inbox)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errGivenUp) {
			return err
		}
		if c.o.Now().Sub(begun) > min(longer*waited, steady) {
			pause = firstPause
		}
		c.o.Logger.Warn("the program of a channel has ended", "channel", c.o.Network, "account", c.o.Account.ID, "err", err, "again", pause)
		c.note(func(s *channel.Status) {
			s.State = channel.Waiting
			s.Problem = fmt.Sprintf("The program that connects %s has ended: %v. It is started again in %v.", c.o.Network, err, pause)
		})
		if sleep.For(ctx, pause) != nil {
			return nil
		}
		pause, waited = min(2*pause, longestPause), pause
	}
}

// oneLife is one life of the program. Its error says why it ended.
func (c *Bridge) oneLife(ctx context.Context, inbox channel.Inbox) error {
	c.note(func(s *channel.Status) { s.State = channel.Starting })
	cn, err := c.connect(ctx, inbox)
	if err != nil {
		return err
	}
	defer cn.end()
	result, err := cn.initialize(ctx)
	if err != nil {
		return cn.explain(err)
	}
	c.mu.Lock()
	c.live, c.limits, c.can = cn, within(result.Limits.Channel(), c.o.MaxFile), result.Can
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.live, c.ask = nil, channel.Ask{} // what it asked is worth nothing without it
		c.mu.Unlock()
	}()
	c.o.Logger.Info("the program of a channel runs", "channel", c.o.Network, "account", c.o.Account.ID, "name", result.Name,
		"version", result.Version)
	if err := cn.start(ctx); err != nil {
		return cn.explain(err)
	}
	return cn.watch(ctx)
}

// within makes limits of a program safe: nothing is negative, a text can say
// something, and a file is no larger than is allowed here.
func within(l channel.Limits, maxFile int64) channel.Limits {
	l.Text, l.Lines, l.Caption, l.Edits = max(l.Text, 0), max(l.Lines, 0), max(l.Caption, 0), max(l.Edits, 0)
	l.Together = min(max(l.Together, 0), 100)
	l.Choices = max(l.Choices, 0)
	if l.Text > 0 {
		l.Text = max(l.Text, 64)
	}
	l.EditPace, l.EditWindow, l.Typing, l.Files = max(l.EditPace, 0), max(l.EditWindow, 0), max(l.Typing, 0), max(l.Files, 0)
	if maxFile > 0 {
		l.Files = min(l.Files, maxFile)
	}
	switch l.Unit {
	case channel.UTF16, channel.Bytes:
	default:
		l.Unit = channel.Characters
	}
	switch l.Dialect {
	case channel.Markdown, channel.HTML:
	default:
		l.Dialect = channel.PlainText
	}
	return l
}

// connection returns the live one, or says why there is none. Then nothing was
// sent, and a later attempt may succeed.
func (c *Bridge) connection() (*connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		return nil, fmt.Errorf("the program that connects %s is not ready: %s", c.o.Network, cmp.Or(c.status.Problem, "it is starting"))
	}
	return c.live, nil
}
