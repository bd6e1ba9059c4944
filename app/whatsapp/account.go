package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
	"github.com/hearth-assistant/hearth/internal/sleep"
	"github.com/hearth-assistant/hearth/internal/text"
)

// account is a device that is linked to a phone. It implements channel.Channel, all
// optional abilities, and channel.Asker.
type account struct {
	name     string
	number   string // of the phone
	byCode   bool
	receipts bool
	durable  channel.Durable
	openFile func(path string) (fs.File, error)
	maxFile  int64
	now      func() time.Time
	log      *slog.Logger
	queue    *intake.Queue
	open     func(*kept, *slog.Logger) (network, error)

	mu      sync.Mutex
	status  channel.Status
	ask     channel.Ask
	net     network     // nil: there is no connection that messages go by
	conn    *connection // with it
	groups  map[types.JID]string
	waiting map[string]chan struct{} // messages that are not taken yet
	said    *said
}

// newAccount makes an account without connecting it.
func newAccount(a channel.Account, open func(*kept, *slog.Logger) (network, error)) (*account, error) {
	if err := whatsapp.Check(a); err != nil {
		return nil, err
	}
	c := &account{
		name: a.ID, number: a.Texts[whatsapp.KeyNumber], byCode: a.Texts[whatsapp.KeyByCode] == "true",
		receipts: a.Texts[whatsapp.KeyReceipts] != "false", durable: a.Durable, openFile: a.OpenFile, maxFile: a.MaxFile, now: a.Now,
		log: a.Logger, open: open, groups: map[types.JID]string{}, waiting: map[string]chan struct{}{},
		said: newSaid(), status: channel.Status{State: channel.Stopped},
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

func (c *account) ID() string      { return whatsapp.ID }
func (c *account) Account() string { return c.name }

// Limits of a message.
func (c *account) Limits() channel.Limits {
	l := whatsapp.Limits
	if c.maxFile > 0 {
		l.Files = min(l.Files, c.maxFile)
	}
	return l
}

// Status implements channel.Reporter.
func (c *account) Status() channel.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Asking implements channel.Asker.
func (c *account) Asking() channel.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask.At(c.now())
}

func (c *account) asks(a channel.Ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask = a
}

func (c *account) note(state channel.State, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Become(state, problem, c.now())
	if state == channel.Receiving {
		c.status.Bot = c.number
	}
}

// How long WhatsApp is left alone after a connection that ended, twice as long each
// time.
const (
	leastRest = 2 * time.Second
	mostRest  = 5 * time.Minute
	lived     = 2 * time.Minute
)

// Run receives until ctx ends. It links the account where it is not, and connects
// again by itself.
func (c *account) Run(ctx context.Context, inbox channel.Inbox) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	c.note(channel.Starting, "")
	defer c.note(channel.Stopped, "")
	if err := c.queue.Remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	k, err := openKept(ctx, c.durable)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	work.Go(func() { c.queue.Hand(ctx, inbox) })
	for rest := leastRest; ; {
		began := c.now()
		err := c.live(ctx, k)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, channel.ErrAuth) {
			return err
		}
		if c.now().Sub(began) > lived {
			rest = leastRest
		}
		state := channel.Waiting
		if errors.Is(err, errReplaced) {
			state = channel.Conflict
		}
		c.note(state, fmt.Sprintf("%v. It is tried again in %v.", err, rest))
		if sleep.For(ctx, rest) != nil {
			return nil
		}
		rest = min(2*rest, mostRest)
	}
}

// connection is one, and why it ended.
type connection struct {
	net  network
	over chan error // gets one
}

func (cn *connection) end(err error) {
	select {
	case cn.over <- err:
	default:
	}
}

var (
	errReplaced  = errors.New("another program connected as the same linked device")
	errLoggedOut = fmt.Errorf("%w: WhatsApp was logged out here. `hearth channels start whatsapp` and `hearth channels login whatsapp` link "+
		"it again", channel.ErrAuth)
	errUnlinked = errors.New("WhatsApp has removed this linked device: somebody took it off on the phone, or it was away for 14 days. " +
		"Link it again: `hearth channels login whatsapp` shows the code")
)

// live is one connection. Its error says why it ended.
func (c *account) live(ctx context.Context, k *kept) error {
	net, err := c.open(k, c.log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	cn := &connection{net: net, over: make(chan error, 1)}
	var codes <-chan whatsmeow.QRChannelItem
	self, _ := net.Self()
	if self.IsEmpty() {
		if codes, err = net.Codes(ctx); err != nil {
			return fmt.Errorf("link WhatsApp: %w", err)
		}
	}
	if err := net.Connect(ctx, func(e any) bool { return c.happened(ctx, cn, e) }); err != nil {
		return fmt.Errorf("WhatsApp could not be reached: %w", err)
	}
	defer net.Disconnect()
	defer func() {
		c.mu.Lock()
		c.net, c.conn, c.ask = nil, nil, channel.Ask{}
		c.mu.Unlock()
	}()
	if codes != nil {
		work.Go(func() { c.link(ctx, cn, codes) })
	}
	select {
	case err := <-cn.over:
		return err
	case <-ctx.Done():
		return nil
	}
}

// codeTime is how long a code that is typed into the phone holds.
const codeTime = 150 * time.Second

// link shows what links the account until it is.
func (c *account) link(ctx context.Context, cn *connection, codes <-chan whatsmeow.QRChannelItem) {
	where := "On the phone that has " + c.number + ", open WhatsApp, Settings, Linked devices, Link a device, and "
	typed := false
	for item := range codes {
		switch item.Event {
		case whatsmeow.QRChannelEventCode:
			c.note(channel.Waiting, "WhatsApp is not linked: `hearth channels login whatsapp` shows the code.")
			if !c.byCode {
				until := c.now().Add(min(max(item.Timeout, time.Second), channel.LongestAsk))
				c.asks(channel.Ask{Kind: channel.AskQR, Value: item.Code, Words: where + "scan this.", Until: until})
				continue
			}
			if typed {
				continue
			}
			typed = true
			code, err := cn.net.Code(ctx, c.number)
			if err != nil {
				cn.end(fmt.Errorf("WhatsApp gave no code to type: %w", err))
				return
			}
			c.asks(channel.Ask{Kind: channel.AskCode, Value: code, Words: where + "choose “Link with phone number instead”, then type this.",
				Until: c.now().Add(codeTime)})
		case whatsmeow.QRChannelSuccess.Event:
			c.asks(channel.Ask{})
			return // it connects again by itself
		case whatsmeow.QRChannelTimeout.Event:
			cn.end(errors.New("nobody linked WhatsApp in time: `hearth channels login whatsapp` shows new codes"))
			return
		case whatsmeow.QRChannelEventError:
			cn.end(fmt.Errorf("WhatsApp refused to be linked: %w", item.Error))
			return
		default:
			cn.end(fmt.Errorf("WhatsApp could not be linked (%s): update hearth-whatsapp and the phone, and try again",
				text.Ellipsis(item.Event, 60)))
			return
		}
	}
}

// happened takes an event; false: it is to be brought again.
func (c *account) happened(ctx context.Context, cn *connection, e any) bool {
	switch e := e.(type) {
	case *events.Message:
		return c.came(ctx, cn.net, e)
	case *events.Connected:
		self, _ := cn.net.Self()
		if "+"+self.User != c.number {
			cn.end(fmt.Errorf("%w: +%s was linked, and channels.whatsapp.number is %s. Correct it, or unlink the device on that phone",
				channel.ErrAuth, self.User, c.number))
			return true
		}
		c.mu.Lock()
		c.net, c.conn = cn.net, cn
		c.mu.Unlock()
		c.note(channel.Receiving, "")
	case *events.Disconnected, *events.StreamError, *events.KeepAliveTimeout:
		c.mu.Lock()
		linked := c.net != nil
		c.net = nil
		c.mu.Unlock()
		if linked {
			c.note(channel.Waiting, "The connection to WhatsApp has ended; it is made again.")
		}
	case *events.LoggedOut:
		cn.end(errUnlinked)
	case *events.StreamReplaced:
		cn.end(errReplaced)
	case *events.TemporaryBan:
		cn.end(fmt.Errorf("%w: WhatsApp has banned the number for %v (%v). Let it rest; more messages make it worse", channel.ErrAuth,
			e.Expire, e.Code))
	case *events.ClientOutdated:
		cn.end(fmt.Errorf("%w: WhatsApp does not speak to this hearth-whatsapp any more: get a newer one", channel.ErrAuth))
	case *events.ConnectFailure:
		cn.end(fmt.Errorf("WhatsApp refused the connection: %v %s", e.Reason, text.Ellipsis(e.Message, 200)))
	}
	return true
}

// LogOut implements channel.LogOuter: the phone shows this device no more.
func (c *account) LogOut(ctx context.Context) error {
	c.mu.Lock()
	net, cn, asks := c.net, c.conn, c.ask.At(c.now()).Kind != ""
	c.mu.Unlock()
	switch {
	case net == nil && asks:
		return fmt.Errorf("%w: no phone is linked", channel.ErrAuth)
	case net == nil:
		return errors.New("WhatsApp is not connected")
	}
	if err := net.Logout(ctx); err != nil {
		return fmt.Errorf("take this device off the phone: %w", err)
	}
	cn.end(errLoggedOut)
	return nil
}

// connected is the network while there is one.
func (c *account) connected() (network, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.net == nil {
		return nil, errors.New("WhatsApp is not connected")
	}
	return c.net, nil
}
