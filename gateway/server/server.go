package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Server is the gateway's port. Broadcast and Delta may be called at any time,
// also before Serve.
type Server struct {
	handlers map[string]Handler
	methods  map[string]protocol.MethodSpec
	auth     Authenticator
	pages    *pages
	mounts   map[string]http.Handler
	remote   *Remote
	front    func(ctx context.Context, host string) bool
	leaving  func() Leaving
	watchers []Watcher
	overhear []func(Broadcast)
	broken   func(method string, panicked any)
	// introductions are the places for machines that ask to be let in.
	introductions chan struct{}
	snapshot      func(ctx context.Context) protocol.Snapshot
	version       string
	bootID        string
	ready         func() (bool, []string)
	log           *slog.Logger
	now           func() time.Time
	limits        Limits
	origins       func() []string
	hosts         []string

	gate *gate // set by Serve, before the first request

	// conns are the connections after hello; the slice is replaced, never
	// changed, so that fan-out reads it without a lock.
	conns atomic.Pointer[[]*conn]

	mu       sync.Mutex // guards the fields below
	state    protocol.StateVersion
	pending  pendingSet
	stopping bool
	started  bool

	refusals *rate.Limiter // of log lines
	unlogged atomic.Int64

	presenceChanged chan struct{}
	lastPresence    string // ids of the last presence event; housekeep only
	sockets         sync.WaitGroup

	runsMu sync.Mutex // guards the fields below; taken after a run's own lock
	runs   map[string]*run
	over   overRuns
}

// New checks that the handlers and the method table match exactly.
func New(o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Server{
		handlers: o.Handlers, methods: make(map[string]protocol.MethodSpec), auth: o.Auth, mounts: o.Mounts, remote: o.Remote, front: o.Front,
		introductions: make(chan struct{}, maxIntroductions),
		snapshot:      o.Snapshot, version: o.Version, bootID: o.BootID, ready: o.Ready, log: o.Logger, now: o.Now,
		limits: o.Limits.withDefaults(), hosts: o.Hosts, origins: o.Origins, state: protocol.StateVersion{Presence: 1, Health: 1},
		presenceChanged: make(chan struct{}, 1), runs: make(map[string]*run),
	}
	s.broken, s.leaving = o.Broken, o.Leaving
	if s.broken == nil {
		s.broken = func(string, any) {}
	}
	s.refusals = rate.NewLimiter(5, 100)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.ready == nil {
		s.ready = func() (bool, []string) { return true, nil }
	}
	for _, m := range protocol.Methods() {
		s.methods[m.Name] = m
	}
	s.pages = newPages(o.Pages)
	s.conns.Store(new([]*conn))
	return s, nil
}

// Serve answers on ln, which must be a loopback listener, until ctx ends. Then
// it tells every client, closes the sockets and returns once they are gone. Other
// machines are served by Options.Remote meanwhile.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		_ = ln.Close()
		return fmt.Errorf("refusing to serve on %s: Hearth answers only on this machine's loopback address (127.0.0.1 or ::1)", ln.Addr())
	}
	if s.handlers == nil || s.snapshot == nil {
		_ = ln.Close()
		return errors.New("server: Serve needs Handle and Greet before it")
	}
	s.mu.Lock()
	again := s.started
	s.started = true
	s.mu.Unlock()
	if again {
		return errors.New("server: Serve was called twice")
	}
	s.gate = newGate(addr.Port, s.hosts, s.origins)
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	raw := newRawConns(s.limits.RawConns)
	srv := s.httpServer(base, s.handler(), raw)
	failed := make(chan error, 1)
	var own sync.WaitGroup
	own.Go(func() { failed <- srv.Serve(ln) })
	own.Go(func() { s.serveRemote(base) })
	own.Go(func() { s.housekeep(base) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	}
	s.stop()
	_ = srv.Close() // sockets are hijacked and have said goodbye; only idle HTTP is left
	cancel()
	own.Wait()
	return err
}

// stop says goodbye to every socket and waits for them.
func (s *Server) stop() {
	s.mu.Lock()
	s.stopping = true
	waiting := s.pending.all()
	s.mu.Unlock()
	why := Leaving{Reason: "gateway stopping"}
	if s.leaving != nil {
		why = s.leaving()
	}
	s.Broadcast(Broadcast{Event: protocol.EventShutdown, Payload: why})
	for _, c := range append(waiting, *s.conns.Load()...) {
		c.end(websocket.StatusServiceRestart, "service restart", false)
	}
	s.sockets.Wait()
	for _, r := range s.liveRuns() {
		r.mu.Lock()
		r.ended = true
		r.stop()
		r.mu.Unlock()
	}
}

type tickPayload struct {
	TS int64 `json:"ts"`
}

// housekeep sends ticks and gathered presence changes.
func (s *Server) housekeep(ctx context.Context) {
	tick := time.NewTicker(s.limits.Tick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.Broadcast(Broadcast{Event: protocol.EventTick, Payload: tickPayload{TS: s.now().UnixMilli()}})
			s.dropIdleRuns()
		case <-s.presenceChanged:
			if !s.gatherPresence(ctx) {
				return
			}
		}
	}
}

// socket upgrades a request that passed the gate and serves it to its end.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	c := s.newConn(r, peerOf(r), s.gate.isLocal(r))
	if !s.admit(c) {
		w.Header().Set("Connection", "close")
		http.Error(w, "Hearth is stopping. Try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	defer s.sockets.Done()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled, OnPingReceived: c.onPing,
		InsecureSkipVerify: true, // of the origin: the gate has checked it already, more strictly
	})
	if err != nil {
		s.handshakeOver(c)
		return
	}
	c.ws = ws
	c.serve(r.Context())
}
