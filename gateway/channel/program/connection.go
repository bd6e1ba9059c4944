package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// Limits of time.
const (
	startTime = 30 * time.Second // for the answer to initialize, and to start
	silence   = time.Minute      // after which a program is asked whether it lives
	pingTime  = 30 * time.Second // to answer that
	goodbye   = 5 * time.Second  // to end after stop
)

// Requests that may be on their way to a program at a time, and from it.
const atOnce = 64

// connection is a started program.
type connection struct {
	c     *Bridge
	inbox channel.Inbox
	proc  channel.Process
	lines *wire.Lines
	rpc   *jsonrpc2.Conn
	ready chan struct{} // closed when rpc is set
	life  context.Context
	slots chan struct{} // of requests from the program
	sends chan struct{} // of requests to it
	stop  sync.Once

	mu      sync.Mutex
	heard   time.Time
	stopped error // why it cannot go on; nil: it can
	halted  chan struct{}
}

// input is the program's standard input.
type input struct{ channel.Process }

func (i input) Write(b []byte) (int, error) {
	if err := i.Process.Write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (i input) Close() error { return i.CloseInput() }

// hearing is the program's standard output; each piece is a sign of life.
type hearing struct{ cn *connection }

func (h hearing) Read(b []byte) (int, error) {
	n, err := h.cn.proc.Output().Read(b)
	if n > 0 {
		h.cn.mu.Lock()
		h.cn.heard = h.cn.c.o.Now()
		h.cn.mu.Unlock()
	}
	return n, err
}

func (c *Bridge) connect(ctx context.Context, inbox channel.Inbox) (*connection, error) {
	p, err := c.o.Launch(ctx, c.o.Network, c.o.Account.ID, c.o.Argv)
	if err != nil {
		return nil, fmt.Errorf("start it: %w", err)
	}
	cn := &connection{
		c: c, inbox: inbox, proc: p, ready: make(chan struct{}), life: ctx, slots: make(chan struct{}, atOnce),
		sends: make(chan struct{}, atOnce), heard: c.o.Now(), halted: make(chan struct{}),
	}
	cn.lines = wire.NewLines(hearing{cn}, input{p}, c.o.Now)
	cn.rpc = jsonrpc2.NewConn(ctx, cn.lines, cn, jsonrpc2.SetLogger(quiet{c}))
	close(cn.ready)
	return cn, nil
}

type quiet struct{ c *Bridge }

func (q quiet) Printf(format string, v ...any) {
	q.c.o.Logger.Debug("the connection to the program of a channel", "channel", q.c.o.Network, "says", fmt.Sprintf(format, v...))
}

func (cn *connection) initialize(ctx context.Context) (r wire.InitializeResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	o := cn.c.o
	err = wire.Error(cn.rpc.Call(ctx, wire.Initialize, wire.InitializeParams{
		Protocol: wire.Version, Channel: o.Network, Account: o.Account.ID, Settings: all(o.Texts), Secrets: all(o.Secrets),
		MaxFile: o.MaxFile,
		Folder:  cn.proc.Folder(), Test: o.Test,
	}, &r))
	switch {
	case errors.Is(err, channel.ErrAuth) || errors.Is(err, channel.ErrRefused):
		return r, fmt.Errorf("%w: %w", errGivenUp, err)
	case errors.Is(err, context.DeadlineExceeded):
		return r, fmt.Errorf("it did not say what it is within %v", startTime)
	case err == nil && o.Test && !r.Test:
		return r, fmt.Errorf("%w: it offers no test network", errGivenUp)
	case err == nil && r.Protocol != wire.Version:
		return r, fmt.Errorf("%w: it speaks version %d of the protocol, and this gateway %d. Install the program and Hearth of one release",
			errGivenUp, r.Protocol, wire.Version)
	}
	return r, err
}

// all is a table that is never null, which programs in other languages trip over.
func all(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func (cn *connection) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return wire.Error(cn.rpc.Call(ctx, wire.Start, struct{}{}, nil))
}

// watch waits for the end of the program, and asks it whether it lives when it says
// nothing. The error says why it ended.
func (cn *connection) watch(ctx context.Context) error {
	tick := time.NewTicker(silence / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-cn.halted:
			return cn.stopped
		case <-cn.rpc.DisconnectNotify():
			return cn.explain(errors.New("its output has ended"))
		case <-tick.C:
		}
		cn.mu.Lock()
		quiet := cn.c.o.Now().Sub(cn.heard)
		cn.mu.Unlock()
		if quiet < silence {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, pingTime)
		err := cn.rpc.Call(ask, wire.Ping, struct{}{}, nil)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return fmt.Errorf("it did not answer for %v", pingTime)
		}
	}
}

// end says goodbye, waits for a moment, and ends the program with all it started. It
// does not close the connection: jsonrpc2 panics when an answer arrives while Close
// runs. What reads the program's output does, when that has ended.
func (cn *connection) end() {
	cn.stop.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cn.life), goodbye)
		defer cancel()
		if cn.rpc.Call(ctx, wire.Stop, struct{}{}, nil) == nil {
			_ = cn.lines.Close()
			select {
			case <-cn.proc.Done():
			case <-ctx.Done():
			}
		}
		cn.proc.Stop()
		<-cn.proc.Done()
		_ = cn.proc.Output().Close()
		<-cn.rpc.DisconnectNotify()
	})
}

// explain adds what the program said itself to its end.
func (cn *connection) explain(err error) error {
	cn.mu.Lock()
	stopped := cn.stopped
	cn.mu.Unlock()
	if stopped != nil {
		return stopped
	}
	if cause := cn.lines.Cause(); cause != nil {
		err = cause
	}
	select { // one that ended by itself says how
	case <-cn.proc.Done():
	case <-time.After(time.Second):
	}
	cn.end()
	if words := cn.proc.Words(); words != "" {
		err = fmt.Errorf("%w. It said: %s", err, words)
	}
	return err
}

// Handle implements jsonrpc2.Handler: it takes requests in their order and answers
// each when it is done. A program that asks for more than atOnce things waits.
func (cn *connection) Handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	<-cn.ready
	if r.Notif {
		cn.told(r)
		return
	}
	select {
	case cn.slots <- struct{}{}:
	case <-cn.life.Done():
		return
	}
	go func() { // ends with the answer; the inbox ends with the life of the gateway
		defer func() { <-cn.slots }()
		result, err := cn.answer(ctx, r)
		if err != nil {
			var own *jsonrpc2.Error
			if !errors.As(err, &own) {
				own = wire.ErrorOf(err)
			}
			_ = cn.rpc.ReplyWithError(ctx, r.ID, own)
			return
		}
		_ = cn.rpc.Reply(ctx, r.ID, result)
	}()
}

// told takes a note of the program.
func (cn *connection) told(r *jsonrpc2.Request) {
	switch r.Method {
	case wire.Status:
		p, err := read[wire.StatusParams](r)
		if err != nil {
			return
		}
		switch p.State {
		case channel.Starting, channel.Receiving, channel.Waiting, channel.Conflict:
		default:
			return
		}
		cn.c.note(func(s *channel.Status) {
			s.State, s.Bot, s.Problem = p.State, p.Bot, p.Problem
			if p.State == channel.Receiving {
				s.LastPoll = cn.c.o.Now()
			}
		})
	case wire.Ask:
		p, err := read[wire.AskParams](r)
		if err != nil {
			return
		}
		a, err := p.Channel(cn.c.o.Now())
		if err != nil {
			cn.c.o.Logger.Warn("what a program asks cannot be shown", "channel", cn.c.o.Network, "account", cn.c.o.Account.ID, "err", err)
		}
		cn.c.asked(a) // of one that cannot be shown nothing is left, nor of that before it
	case wire.Stopped:
		p, _ := read[wire.StoppedParams](r)
		cn.mu.Lock()
		defer cn.mu.Unlock()
		if cn.stopped == nil {
			cn.stopped = fmt.Errorf("%w: %s", errGivenUp, p.Problem)
			close(cn.halted)
		}
	}
}

func (cn *connection) answer(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case wire.Inbound:
		p, err := read[wire.InboundParams](r)
		if err != nil {
			return nil, err
		}
		in := p.Channel(cn.c.o.Network, cn.c.o.Account.ID)
		if err := judge(in, cn.c.o.IsGroup); err != nil {
			return nil, err
		}
		if err := cn.inbox(ctx, in); err != nil {
			return nil, err
		}
		cn.c.note(func(s *channel.Status) { s.LastTake = cn.c.o.Now() })
		return struct{}{}, nil
	case wire.StateGet:
		p, err := read[wire.StateKey](r)
		if err != nil {
			return nil, err
		}
		blob, err := cn.kept(ctx, p.Key)
		return wire.StateValue{Key: p.Key, Blob: blob}, err
	case wire.StatePut:
		p, err := read[wire.StateValue](r)
		if err != nil {
			return nil, err
		}
		return struct{}{}, cn.keep(ctx, p)
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "the gateway has no " + r.Method}
}

// judge refuses a message that could not be kept, or that would be kept as another
// kind of conversation than its id says.
func judge(in channel.Inbound, isGroup func(string) bool) error {
	switch {
	case in.Conversation == "" || in.SenderID == "" || in.MessageID == "":
		return fmt.Errorf("%w: a message needs conversation, senderId and messageId", channel.ErrRefused)
	case isGroup != nil && isGroup(in.Conversation) != (in.Chat != channel.Direct):
		return fmt.Errorf("%w: chat is %q, but the id %q says otherwise", channel.ErrRefused, in.Chat, in.Conversation)
	}
	return nil
}

func read[P any](r *jsonrpc2.Request) (p P, err error) {
	if r.Params == nil {
		return p, nil
	}
	if err := json.Unmarshal(*r.Params, &p); err != nil {
		return p, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: r.Method + ": " + err.Error()}
	}
	return p, nil
}

// The most that a program keeps here: what is larger has a file.
const (
	longestKey   = 128
	largestValue = 1 << 20
)

func (cn *connection) kept(ctx context.Context, key string) ([]byte, error) {
	if cn.c.o.Durable == nil {
		return nil, nil
	}
	return cn.c.o.Durable.Get(ctx, key)
}

func (cn *connection) keep(ctx context.Context, v wire.StateValue) error {
	if v.Key == "" || len(v.Key) > longestKey || len(v.Blob) > largestValue {
		return fmt.Errorf("%w: a key has 1 to %d bytes, a value at most %d", channel.ErrRefused, longestKey, largestValue)
	}
	if cn.c.o.Durable == nil {
		return fmt.Errorf("%w: this gateway keeps nothing for programs", channel.ErrRefused)
	}
	return cn.c.o.Durable.Put(ctx, v.Key, v.Blob)
}
