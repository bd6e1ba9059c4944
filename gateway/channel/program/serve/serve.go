// Package serve makes a program of a channel: it answers the requests of package
// wire on one side with a channel.Channel on the other. It owns nothing of a
// network; gateway/channel/program is the gateway's end.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// A change of the channel's status is looked for often after the last one, and at
// statusPace while nothing changes.
const soonest, statusPace = 5 * time.Millisecond, 500 * time.Millisecond

// Program says what is served.
type Program struct {
	Name, Version string
	// New makes the channel of the account that the gateway names, without
	// connecting it.
	New func(network string, a channel.Account) (channel.Channel, error)
	// Test makes a channel on a network in memory instead, for who tries the program;
	// nil: there is none.
	Test   func(a channel.Account) (channel.Channel, TestNetwork, error)
	Now    func() time.Time
	Logger *slog.Logger // on standard error; the gateway keeps its last words
}

// TestNetwork does what it is told. loopback.Net is one.
type TestNetwork interface {
	Script(faults ...loopback.Fault)
	Receive(in channel.Inbound)
	ReceiveFile(in channel.Inbound, f loopback.File)
	Taken(messageID string) bool
	Messages() []loopback.Message
}

// Serve answers the gateway until the connection or ctx ends, and then ends the
// channel. It closes in and out. Its error says why the connection broke; nil for an
// orderly end.
func (p Program) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := wire.NewLines(in, out, p.Now)
	s := &served{Program: p, life: ctx, ready: make(chan struct{})}
	s.conn = jsonrpc2.NewConn(ctx, lines, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(s.handle)), jsonrpc2.SetLogger(quiet{p.Logger}))
	close(s.ready)
	select {
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
		// The connection closes when there is nothing to read any more: jsonrpc2 panics
		// when an answer arrives while Close runs.
		_, _ = out.Close(), in.Close()
	}
	cancel()
	s.work.Wait()
	if s.root != nil {
		_ = s.root.Close()
	}
	return lines.Cause()
}

// quiet writes what the library says of the connection.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(format string, v ...any) { q.log.Debug(fmt.Sprintf(format, v...)) }

// served is one connection.
type served struct {
	Program
	conn  *jsonrpc2.Conn
	ready chan struct{} // closed when conn is set
	life  context.Context
	work  sync.WaitGroup

	mu      sync.Mutex
	channel channel.Channel
	test    TestNetwork // nil: it is the account's network
	root    *os.Root    // the common folder
	maxFile int64
	stop    context.CancelFunc // of receiving; nil: it is not
	fetched int
}

func (s *served) handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	<-s.ready
	result, err := s.answer(ctx, r)
	if err != nil {
		var own *jsonrpc2.Error
		if errors.As(err, &own) {
			return nil, own
		}
		return nil, wire.ErrorOf(err)
	}
	if result == nil {
		result = struct{}{}
	}
	return result, nil
}

func (s *served) answer(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case wire.Ping:
		return nil, nil
	case wire.Initialize:
		return with(r, func(p wire.InitializeParams) (any, error) { return s.initialize(p) })
	}
	s.mu.Lock()
	ch := s.channel
	s.mu.Unlock()
	if ch == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "initialize comes first"}
	}
	switch r.Method {
	case wire.Start:
		return nil, s.start(ch)
	case wire.Stop:
		s.end()
		return nil, nil
	case wire.Send:
		return with(r, func(p wire.SendParams) (any, error) { return s.send(ctx, ch, p) })
	case wire.Login:
		if asks, ok := ch.(channel.LoginAsker); ok {
			return s.login(ctx, ch, asks)
		}
	case wire.Confirm:
		if asks, ok := ch.(channel.Confirmer); ok {
			return with(r, func(p wire.ConfirmParams) (any, error) { return nil, asks.Confirm(ctx, p.Value, p.Yes) })
		}
	case wire.LogOut:
		if l, can := channel.AsLogOuter(ch); can {
			return nil, l.LogOut(ctx)
		}
	case wire.Fetch:
		return with(r, func(p wire.File) (any, error) { return s.fetch(ctx, ch, p) })
	}
	if s.test != nil && strings.HasPrefix(r.Method, "test.") {
		return s.play(r)
	}
	return s.change(ctx, ch, r)
}

// with reads the parameters of a request.
func with[P any](r *jsonrpc2.Request, do func(P) (any, error)) (any, error) {
	var p P
	if r.Params != nil {
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: r.Method + ": " + err.Error()}
		}
	}
	return do(p)
}

func (s *served) initialize(p wire.InitializeParams) (any, error) {
	if p.Protocol != wire.Version {
		words := fmt.Sprintf("this program speaks version %d of the protocol, the gateway %d: install those of one release",
			wire.Version, p.Protocol)
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: words}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channel != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "initialize came twice"}
	}
	root, err := os.OpenRoot(p.Folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	own := channel.Account{
		ID: p.Account, Secrets: p.Secrets, Texts: p.Settings, MaxFile: p.MaxFile, Durable: kept{s.conn}, Now: s.Now, Logger: s.Logger,
		OpenFile: func(path string) (fs.File, error) { return root.Open(path) },
	}
	var ch channel.Channel
	if p.Test && s.Test != nil {
		ch, s.test, err = s.Test(own)
	} else {
		ch, err = s.New(p.Channel, own)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	s.channel, s.root, s.maxFile = ch, root, p.MaxFile
	return wire.InitializeResult{
		Protocol: wire.Version, Name: s.Name, Version: s.Version, Limits: wire.LimitsOf(ch.Limits()), Can: channel.AbilitiesOf(ch),
		Test: s.test != nil,
	}, nil
}

// start begins to receive, once.
func (s *served) start(ch channel.Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "start came twice"}
	}
	ctx, stop := context.WithCancel(s.life)
	s.stop = stop
	s.work.Go(func() {
		if err := ch.Run(ctx, s.inbox); err != nil && ctx.Err() == nil {
			_ = s.conn.Notify(ctx, wire.Stopped, wire.StoppedParams{Problem: err.Error()})
		}
	})
	if r, ok := ch.(channel.Reporter); ok {
		asker, _ := ch.(channel.Asker)
		s.work.Go(func() { s.report(ctx, r, asker) })
	}
	return nil
}

// login tells the channel that a person wants to log it in, and the gateway what it asks
// then, before the person sees that nothing is asked.
func (s *served) login(ctx context.Context, ch channel.Channel, asks channel.LoginAsker) (any, error) {
	if err := asks.Login(ctx); err != nil {
		return nil, err
	}
	if asker, ok := ch.(channel.Asker); ok {
		return wire.AskOf(asker.Asking(), s.Now()), nil
	}
	return nil, nil
}

func (s *served) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

// inbox hands a message to the gateway; nil means that it has it.
func (s *served) inbox(ctx context.Context, in channel.Inbound) error {
	return wire.Error(s.conn.Call(ctx, wire.Inbound, wire.InboundOf(in), nil))
}

// report tells the gateway how the channel is, and what it asks of a person, when that
// changed. asker may be nil.
func (s *served) report(ctx context.Context, r channel.Reporter, asker channel.Asker) {
	var told wire.StatusParams
	var asked channel.Ask
	for pause := soonest; ; pause = min(2*pause, statusPace) {
		if asker != nil {
			if now := asker.Asking(); now != asked {
				if s.conn.Notify(ctx, wire.Ask, wire.AskOf(now, s.Now())) != nil {
					return
				}
				asked, pause = now, soonest
			}
		}
		st := r.Status()
		if now := (wire.StatusParams{State: st.State, Bot: st.Bot, Problem: st.Problem}); now != told {
			if s.conn.Notify(ctx, wire.Status, now) != nil {
				return
			}
			told, pause = now, soonest
		}
		if sleep.For(ctx, pause) != nil {
			return
		}
	}
}

// kept is the gateway's store.
type kept struct{ conn *jsonrpc2.Conn }

func (k kept) Get(ctx context.Context, key string) ([]byte, error) {
	var v wire.StateValue
	err := wire.Error(k.conn.Call(ctx, wire.StateGet, wire.StateKey{Key: key}, &v))
	return v.Blob, err
}

func (k kept) Put(ctx context.Context, key string, value []byte) error {
	return wire.Error(k.conn.Call(ctx, wire.StatePut, wire.StateValue{Key: key, Blob: value}, nil))
}
