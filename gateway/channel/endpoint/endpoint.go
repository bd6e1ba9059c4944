// Package endpoint is what networks that call the gateway have in common: an account is
// tried and open while it runs, each message that was proven is handed over once and
// in order, and the network hears that it was taken after it was. It owns neither
// proofs nor what a message says: those are the network's client's business.
package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Options of a Receiver. Now and Logger are the account's, and may be nil.
type Options struct {
	Durable channel.Durable
	Now     func() time.Time
	Logger  *slog.Logger
}

// Receiver is where an account's messages come in.
type Receiver struct {
	Now    func() time.Time
	Logger *slog.Logger
	queue  *intake.Queue

	mu      sync.Mutex
	status  channel.Status
	shut    chan struct{}            // closed when Run ends; nil: it does not run
	waiting map[string]chan struct{} // closed when the message of an id was taken
}

// New makes one that is shut.
func New(o Options) *Receiver {
	d := &Receiver{Now: o.Now, Logger: o.Logger, status: channel.Status{State: channel.Stopped}, waiting: map[string]chan struct{}{}}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.queue = intake.New(intake.Options{Durable: o.Durable, Logger: d.Logger})
	return d
}

// Status implements channel.Reporter for clients.
func (d *Receiver) Status() channel.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status
}

// Called is how the account is called on its network.
func (d *Receiver) Called(bot string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.Bot = bot
}

func (d *Receiver) note(state channel.State, problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.Become(state, problem, d.Now())
}

// How often an account is tried: soon after it failed, twice as late each time, and
// now and then while it is well.
const (
	leastRest = time.Second
	mostRest  = 2 * time.Minute
	lookAgain = 10 * time.Minute
)

// Run is open until ctx ends. try asks the network whether it accepts the account's
// credential, and what people should know; its error is final when it is
// channel.ErrAuth. Messages are taken also while the network cannot be asked.
func (d *Receiver) Run(ctx context.Context, inbox channel.Inbox, try func(context.Context) (problem string, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	d.note(channel.Starting, "")
	defer d.note(channel.Stopped, "")
	if err := d.queue.Remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	work.Go(func() { d.queue.Hand(ctx, inbox) })
	defer d.opened()()
	for rest := leastRest; ; {
		problem, err := try(ctx)
		wait := lookAgain
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, channel.ErrAuth):
			return err
		case err != nil:
			wait = rest
			var limit *channel.RateLimit
			if errors.As(err, &limit) {
				wait = max(wait, limit.After)
			}
			d.note(channel.Waiting, fmt.Sprintf("%v. It is tried again in %v.", err, wait.Round(time.Second)))
			rest = min(2*rest, mostRest)
		default:
			rest = leastRest
			d.note(channel.Receiving, problem)
		}
		if sleep.For(ctx, wait) != nil {
			return nil
		}
	}
}

// opened lets messages in until its result is called.
func (d *Receiver) opened() (end func()) {
	shut := make(chan struct{})
	d.mu.Lock()
	d.shut = shut
	d.mu.Unlock()
	return func() {
		d.mu.Lock()
		d.shut = nil
		d.mu.Unlock()
		close(shut)
	}
}

// errShut: nobody would take a message.
var errShut = errors.New("this account is not running")

// acceptTime is how long a network waits at most for the word that a message was taken.
// Most give up after some seconds more.
const acceptTime = 8 * time.Second

// Take hands a message over, unless one with its id came before, and returns when it
// was taken. After an error the network has to come again; what was not taken waits
// here too, and is the same message then.
func (d *Receiver) Take(ctx context.Context, id string, in channel.Inbound) error {
	taken, shut, err := d.add(id, in)
	if err != nil || taken == nil {
		return err
	}
	late := time.NewTimer(acceptTime)
	defer late.Stop()
	select {
	case <-taken:
		return nil
	case <-shut:
		return errShut
	case <-late.C:
		return fmt.Errorf("a message was not taken within %v", acceptTime)
	case <-ctx.Done():
		return fmt.Errorf("a message was not taken in time: %w", ctx.Err())
	}
}

// add puts a message into the line; taken is nil for one that was taken before.
func (d *Receiver) add(id string, in channel.Inbound) (taken, shut chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut == nil {
		return nil, nil, errShut
	}
	if taken = d.waiting[id]; taken != nil {
		return taken, d.shut, nil
	}
	if d.queue.Seen(id) {
		return nil, nil, nil
	}
	taken = make(chan struct{})
	err = d.queue.Add(intake.Item{ID: id, Mark: in.At.UnixMilli(), In: in, Taken: func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting, id)
		close(taken)
	}})
	if err != nil {
		return nil, nil, err
	}
	d.waiting[id] = taken
	return taken, d.shut, nil
}

// Say is an answer without more than its status.
func Say(status int) channel.CallAnswer { return channel.CallAnswer{Status: status} }

// JSON is an answer with a value that can be written.
func JSON(status int, value any) channel.CallAnswer {
	body, err := json.Marshal(value)
	if err != nil {
		return Say(http.StatusInternalServerError)
	}
	return channel.CallAnswer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// Later asks the network to come again.
func (d *Receiver) Later(err error) channel.CallAnswer {
	d.Logger.Warn("a message was not taken; its network is asked to come again", "err", err)
	a := JSON(http.StatusServiceUnavailable, map[string]any{"ok": false, "error": "not now"})
	a.Header.Set("Retry-After", "5")
	return a
}

// One is the value of a header that stands once: two have two readings.
func One(h http.Header, key string) (string, bool) {
	v := h.Values(key)
	if len(v) != 1 || v[0] == "" {
		return "", false
	}
	return v[0], true
}
