package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Handler answers one request. What it returns is encoded as the payload; an
// error is turned into the protocol's form by protocol.AsError. ctx ends with
// the connection.
type Handler func(ctx context.Context, c *Caller, params json.RawMessage) (any, error)

// Later lets a method answer twice: First is sent at once, what Final returns
// follows under the same id.
type Later struct {
	First any
	Final func(ctx context.Context) (any, error)
}

// Authenticator decides who may connect; *pairing.Registry is the real one.
type Authenticator interface {
	Authenticate(ctx context.Context, a pairing.Attempt) (*pairing.Grant, *protocol.Error)
}

// Leaving is what clients are told at the end. RestartExpectedMs is set when it
// comes back by itself.
type Leaving struct {
	Reason            string `json:"reason"`
	RestartExpectedMs int    `json:"restartExpectedMs,omitempty"`
}

// Options of a Server.
type Options struct {
	// Handlers has exactly the methods of protocol.Methods; nil: Handle says them.
	Handlers map[string]Handler
	Auth     Authenticator
	// Pages is the web app, index.html at its root. nil serves no page.
	Pages fs.FS
	// Snapshot is the state for hello; the server fills presence and versions. nil:
	// Greet says it.
	Snapshot func(ctx context.Context) protocol.Snapshot
	Version  string
	BootID   string
	// Ready says whether the gateway works and, if not, what fails. nil is ready.
	Ready  func() (bool, []string)
	Logger *slog.Logger
	Now    func() time.Time
	Limits Limits
	// Hosts are further names (host or host:port) that may stand in the Host
	// header. The loopback names are always allowed.
	Hosts []string
	// Origins are pages of others that may open a socket, exactly as browsers name
	// them; nil: only our own page. It is asked at every attempt.
	Origins func() []string
	// Mounts are further paths, such as "/v1/". Each handler checks for itself who
	// comes and how much it reads; all of them are behind the gate.
	Mounts map[string]http.Handler
	// Leaving says why the server stops, when it does; nil: it is not known.
	Leaving func() Leaving
	// Broken hears of a method that panicked, where that happened. nil: nobody.
	Broken func(method string, panicked any)
	// Remote is where other machines come in. nil: nowhere.
	Remote *Remote
	// Front reports whether a host is the name under which a proxy on this machine,
	// which speaks TLS with browsers, hands on to our port. nil: there is none.
	Front func(ctx context.Context, host string) bool
}

// Limits bound what clients can cost. Zero fields have defaults.
type Limits struct {
	Handshake       time.Duration // from the first byte to hello; 15 s
	PendingPerPeer  int           // handshakes of one source at a time; 512
	Pending         int           // handshakes at a time; 1024
	RawConns        int           // TCP connections without a socket yet; 1024
	QueueBytes      int           // unsent events of one client; 4 MiB
	WriteTimeout    time.Duration // a client that takes nothing for so long is cut; 10 s
	InFlight        int           // requests of one client at a time; 64
	RequestRate     float64       // requests a second of one client; 1000
	RequestBurst    int           // above that rate; 1000
	Ping            time.Duration // keep-alive and its deadline; 25 s
	Tick            time.Duration // 30 s
	SlimInterval    time.Duration // between deltas of a run for our own clients; 20 ms
	MessageInterval time.Duration // between cumulative deltas of a run; 100 ms
	PresenceDelay   time.Duration // presence changes are gathered for so long; 100 ms
	CloseWait       time.Duration // for a closing client to take its last frames; 2 s
}

func (l Limits) withDefaults() Limits {
	orInt := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	orTime(&l.Handshake, 15*time.Second)
	orInt(&l.PendingPerPeer, 512)
	orInt(&l.Pending, 1024)
	orInt(&l.RawConns, 1024)
	orInt(&l.QueueBytes, 4<<20)
	orTime(&l.WriteTimeout, 10*time.Second)
	orInt(&l.InFlight, 64)
	if l.RequestRate <= 0 {
		l.RequestRate = 1000
	}
	orInt(&l.RequestBurst, 1000)
	orTime(&l.Ping, 25*time.Second)
	orTime(&l.Tick, protocol.TickIntervalMs*time.Millisecond)
	orTime(&l.SlimInterval, 20*time.Millisecond)
	orTime(&l.MessageInterval, 100*time.Millisecond)
	orTime(&l.PresenceDelay, 100*time.Millisecond)
	orTime(&l.CloseWait, 2*time.Second)
	return l
}

// check refuses options that lack what a server cannot do without.
func (o *Options) check() error {
	if o.Auth == nil {
		return errors.New("server: Auth is required")
	}
	if o.Handlers == nil {
		return nil // Handle comes later
	}
	return checkHandlers(o.Handlers, true)
}

// checkHandlers refuses a handler without a row in the scope table and, when all
// are wanted, a method without a handler.
func checkHandlers(handlers map[string]Handler, all bool) error {
	rows := make(map[string]bool)
	for _, m := range protocol.Methods() {
		rows[m.Name] = true
		if all && handlers[m.Name] == nil {
			return fmt.Errorf("server: method %s has no handler", m.Name)
		}
	}
	for name := range handlers {
		if !rows[name] {
			return fmt.Errorf("server: handler %s has no row in protocol.Methods", name)
		}
	}
	return nil
}

// Handle says what answers the methods, for a server that was made without
// Handlers. It is called once, before Serve. Unless all are there, methods
// without a handler are unknown to clients, as if this gateway were older.
func (s *Server) Handle(handlers map[string]Handler, all bool) error {
	if err := checkHandlers(handlers, all); err != nil {
		return err
	}
	s.handlers = handlers
	for name := range s.methods {
		if handlers[name] == nil {
			delete(s.methods, name)
		}
	}
	return nil
}

// Greet says the state for hello, before Serve.
func (s *Server) Greet(snapshot func(ctx context.Context) protocol.Snapshot) { s.snapshot = snapshot }

// Outward is the handler of a mount that other services call: by any name, and
// through proxies that nobody knows. It proves each request by what that carries
// and by nothing else, so that neither its address nor a browser is a proof.
type Outward interface {
	http.Handler
	Outward()
}

// Mount adds handlers of paths, before Serve.
func (s *Server) Mount(more map[string]http.Handler) {
	mounts := maps.Clone(s.mounts)
	if mounts == nil {
		mounts = map[string]http.Handler{}
	}
	maps.Copy(mounts, more)
	s.mounts = mounts
}

// Watcher hears of connections. Its methods must be quick.
type Watcher interface {
	// Joined is called once for every connection, when hello is queued and before
	// its first request; Left when it is gone.
	Joined(c *Caller)
	Left(c *Caller)
}

// Watch adds a watcher, before Serve.
func (s *Server) Watch(w Watcher) { s.watchers = append(s.watchers, w) }

// Overhear has hear told of every event that is broadcast, whoever gets it; it is
// called before Serve. hear must not block and must not call the server.
func (s *Server) Overhear(hear func(Broadcast)) { s.overhear = append(s.overhear, hear) }

// Reach opens the server to other machines, before Serve. front reports whether
// a host is one by which a proxy on this machine hands browsers on to us.
func (s *Server) Reach(r *Remote, front func(ctx context.Context, host string) bool) {
	s.remote, s.front = r, front
}

// backSoon is how long a restart usually takes.
const backSoon = 3 * time.Second

// Left is why a server ends: its person quit all of Hearth, or it comes back at once;
// neither: it stops.
func Left(quit, comesBack bool) Leaving {
	switch {
	case quit:
		return Leaving{Reason: "quit"}
	case comesBack:
		return Leaving{Reason: "gateway restarting", RestartExpectedMs: int(backSoon.Milliseconds())}
	}
	return Leaving{Reason: "gateway stopping"}
}
