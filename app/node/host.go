// Package node makes this machine one that a gateway elsewhere can ask to do
// things: run a command that was approved, show a notification, take a picture
// of its screen. It owns the connection as a node, the calls that come over it
// and what the machine's owner lets them do, which is kept here and never
// widened from outside.
//
// It decides no approval: a command runs when the gateway says that a person
// agreed to exactly the plan that was made here, or when the owner of this
// machine put its programs on the list. How the gateway is found and what a
// person reads is the caller's business.
package node

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Options of a Host. Dial, Device and Folder are needed.
type Options struct {
	// Dial connects to the gateway: it adds where that is and what lets this
	// machine in. failures is how often it failed since it last worked.
	Dial   func(ctx context.Context, o client.Options, failures int) (*client.Client, error)
	Device *client.Identity
	Folder Folder
	// Version and Name are told to the gateway.
	Version, Name string
	// Environ is this process's environment; Home the person's folder.
	Environ []string
	Home    string
	// Work is where commands run that name no folder. It is made.
	Work string
	// Guardian is what watches over a command, see process.Options.Helper.
	Guardian []string
	// Window is the program that shows pages; "" = there is none.
	Window string
	// Report is told what became of the connection. It must be quick.
	Report func(State)
	Logger *slog.Logger
	Now    func() time.Time
	// Wait pauses between attempts; tests replace it.
	Wait func(context.Context, time.Duration) error
}

// Phase is how the connection is.
type Phase string

// The phases.
const (
	Connected Phase = "connected"
	Waiting   Phase = "waiting" // for somebody to let this machine in
	Lost      Phase = "lost"
	Ended     Phase = "ended"
)

// State is what a person wants to know of the connection.
type State struct {
	Phase   Phase  `json:"phase"`
	Words   string `json:"words,omitempty"`
	Request string `json:"requestId,omitempty"` // of the pairing that waits
}

// ErrRemoved means that the gateway does not want this machine any more.
var ErrRemoved = errors.New("this machine was removed at the gateway, or its token was replaced there")

// errFresh ends a connection that is made anew at once.
var errFresh = errors.New("a new connection")

// GaveUpError ends a host: Dial says that trying again does not help.
type GaveUpError struct{ Err error }

func (e *GaveUpError) Error() string { return e.Err.Error() }
func (e *GaveUpError) Unwrap() error { return e.Err }

// Host answers calls of a gateway.
type Host struct {
	o        Options
	id       string
	keeper   *process.Keeper
	resolver *plan.Resolver
	confined sandbox.Report
	plans    plans
	canvas   canvas
	commands map[string]command
	last     State // of Report; only Run's goroutine uses it
}

// New returns a Host; Run makes it work.
func New(o Options) *Host {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	if o.Report == nil {
		o.Report = func(State) {}
	}
	h := &Host{o: o, id: o.Device.ID(), confined: sandbox.Probe()}
	h.keeper = process.New(process.Options{Helper: o.Guardian, Now: o.Now, Max: 2 * maxCalls})
	h.resolver = plan.New(plan.Options{Home: o.Home, Confined: h.confined.Confined, Now: o.Now})
	h.plans.now = o.Now
	h.canvas.program = o.Window
	h.commands = h.table()
	return h
}

// How long to wait before trying again: a second while the gateway was there a
// moment ago, so that a restart is not noticed.
const (
	firstPause    = 50 * time.Millisecond
	longestPause  = time.Second
	patience      = 2 * time.Minute
	idlePause     = 5 * time.Second
	approvalPause = 2 * time.Second
	strangerPause = 30 * time.Second
	closeTimeout  = 10 * time.Second
	// freshAfter is when a connection is made anew, if nothing goes over it just
	// then: what changes at the gateway, such as its key, is told at the beginning.
	freshAfter = 24 * time.Hour
)

// Run keeps the connection until ctx ends, then it returns nil, or until the
// gateway refuses this machine for good.
func (h *Host) Run(ctx context.Context) error {
	if err := os.MkdirAll(h.o.Work, 0o700); err != nil {
		return err
	}
	defer h.close(context.WithoutCancel(ctx))
	failures, since := 0, time.Time{} // since the first failure in a row
	for {
		err := h.once(ctx, failures, func() { failures = 0 })
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errFresh) {
			continue
		}
		v := judge(err)
		if v.final {
			err = removed(err)
			h.tell(State{Phase: Ended, Words: err.Error()})
			return err
		}
		h.tell(v.state)
		if failures == 0 {
			since = h.o.Now()
		}
		delay := v.delay
		if delay == 0 {
			delay = min(firstPause<<min(failures, 8), longestPause)
			if h.o.Now().Sub(since) > patience {
				delay = idlePause
			}
			delay = jitter(delay)
		}
		failures++
		if h.o.Wait(ctx, delay) != nil {
			return nil
		}
	}
}

func (h *Host) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	h.canvas.close()
	if err := h.keeper.Close(ctx); err != nil {
		h.o.Logger.Warn("commands are still running", "err", err)
	}
}

// once is one connection, from its beginning to its end.
func (h *Host) once(ctx context.Context, failures int, connected func()) error {
	s, err := h.o.Folder.Settings()
	if err != nil {
		return err
	}
	cn := newConn(ctx, h)
	defer cn.end()
	o := Introduce(s, h.o.Version, h.o.Name)
	o.Device, o.OnEvent, o.Logger, o.PathEnv = h.o.Device, cn.event, h.o.Logger, h.resolver.SearchPath()
	c, err := h.o.Dial(ctx, o, failures)
	if err != nil {
		return err
	}
	defer c.Close()
	cn.begin(c)
	connected()
	h.tell(State{Phase: Connected})
	fresh := time.NewTicker(freshAfter)
	defer fresh.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Done():
			return c.Err()
		case <-fresh.C:
			if cn.idle() {
				return errFresh
			}
		}
	}
}

// Introduce is what this machine tells a gateway when it comes as a node. name
// is used where its owner gave it none.
func Introduce(s Settings, version, name string) client.Options {
	if s.Name != "" {
		name = s.Name
	}
	return client.Options{
		Role: protocol.RoleNode, Scopes: []protocol.Scope{}, Client: clientInfo(version, name),
		Caps: s.caps(), Commands: s.commands(), Permissions: s.permissions(),
	}
}

// tell reports a state that is news.
func (h *Host) tell(s State) {
	if s != h.last {
		h.last = s
		h.o.Report(s)
	}
}

// verdict is what an end means.
type verdict struct {
	final bool
	state State
	delay time.Duration // 0: the usual
}

func judge(err error) verdict {
	var refusal *protocol.Error
	var stranger *identity.MismatchError
	var given *GaveUpError
	if errors.As(err, &given) {
		return verdict{final: true}
	}
	lost := verdict{state: State{Phase: Lost, Words: err.Error()}}
	switch {
	case errors.As(err, &stranger):
		lost.delay = strangerPause
		return lost
	case !errors.As(err, &refusal):
		var network net.Error
		passing := errors.Is(err, client.ErrLost) || errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrSlow) ||
			errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) || errors.Is(err, statedir.ErrNotRunning)
		return verdict{final: !passing, state: lost.state}
	}
	code, _ := refusal.Details["code"].(string)
	reason, _ := refusal.Details["reason"].(string)
	switch {
	case code == "PAIRING_REQUIRED" && reason != "revoked":
		id, _ := refusal.Details["requestId"].(string)
		return verdict{state: State{Phase: Waiting, Words: refusal.Message, Request: id}, delay: approvalPause}
	case refusal.Retryable || refusal.RetryAfterMs > 0 || code == "AUTH_RATE_LIMITED":
		lost.delay = max(time.Duration(refusal.RetryAfterMs)*time.Millisecond, longestPause)
		return lost
	}
	return verdict{final: true}
}

// removed wraps a refusal for good.
func removed(err error) error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) {
		return err
	}
	code, _ := refusal.Details["code"].(string)
	reason, _ := refusal.Details["reason"].(string)
	if code == "AUTH_DEVICE_TOKEN_MISMATCH" || reason == "revoked" {
		return errors.Join(ErrRemoved, err)
	}
	return err
}

// jitter spreads the returns of many machines.
func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)/4+1))
	if err != nil {
		return d
	}
	return d - time.Duration(n.Int64())
}

// conn is one connection and the calls that came over it. They end with it.
type conn struct {
	h     *Host
	life  context.Context
	stop  context.CancelFunc
	ready chan struct{} // closed when c is set
	c     *client.Client
	wg    sync.WaitGroup

	mu    sync.Mutex
	calls map[string]context.CancelFunc
}

func newConn(ctx context.Context, h *Host) *conn {
	cn := &conn{h: h, ready: make(chan struct{}), calls: map[string]context.CancelFunc{}}
	cn.life, cn.stop = context.WithCancel(ctx)
	return cn
}

func (cn *conn) begin(c *client.Client) {
	cn.c = c
	close(cn.ready)
}

// idle reports whether no call is under way.
func (cn *conn) idle() bool {
	cn.mu.Lock()
	defer cn.mu.Unlock()
	return len(cn.calls) == 0
}

// end waits until nothing of it runs any more.
func (cn *conn) end() {
	cn.stop()
	cn.wg.Wait()
}
