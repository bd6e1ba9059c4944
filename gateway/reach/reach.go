// Package reach decides on which addresses other machines can reach the
// gateway, and listens there for as long as that is wanted.
//
// It owns the choice of addresses, their listeners and who may knock: nobody
// from the open internet, whatever the settings say. It follows the machine
// from network to network, and ends every connection of an address that is not
// wanted any more. It does not speak TLS and knows nothing of what is served:
// it hands raw connections on, and gateway/server serves them by TLS only.
//
// This machine itself is not its business: the loopback address has a listener
// of its own that nothing here can open to others. Only what the file says of it,
// gateway.port, stands with the other settings of where the gateway is found.
package reach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Mode is from where the gateway is to be reached.
type Mode string

// The modes, by the names of gateway.bind.
const (
	Loopback Mode = "loopback" // this machine only
	LAN      Mode = "lan"      // the local networks
	Tailnet  Mode = "tailnet"  // Tailscale's addresses
	Custom   Mode = "custom"   // one address
)

// Want is what the settings ask for.
type Want struct {
	Mode   Mode
	Custom netip.Addr
}

// Address is one of this machine, and the network it belongs to.
type Address struct {
	Addr    netip.Addr // with a zone where it needs one
	Network netip.Prefix
}

// Options of a Listener. All but Interval, Logger and OnChange are needed.
type Options struct {
	Port int
	Want func() Want
	// Local are the addresses on local networks, All those of every interface.
	Local, All func() []Address
	// Ready is asked before the first address is opened; an error keeps all
	// closed.
	Ready    func() error
	Interval time.Duration // of looking at the network, 5 s by default
	OnChange func(State)   // one call at a time
	Logger   *slog.Logger
}

// State is what a person can be told.
type State struct {
	Mode      Mode
	Addresses []netip.AddrPort // open now
	Problem   string           // "" when all is well
}

// Listener is the one listener for all addresses that come and go.
type Listener struct {
	o     Options
	log   *slog.Logger
	kick  chan struct{}
	conns chan net.Conn
	done  chan struct{}
	over  sync.Once

	mu    sync.Mutex // guards all below
	open  map[netip.Addr]*door
	state State
}

// door is one open address.
type door struct {
	ln      net.Listener
	address Address

	mu    sync.Mutex // guards conns
	conns map[net.Conn]struct{}
	shut  bool
}

// New makes a listener without any address; Run opens them.
func New(o Options) *Listener {
	if o.Interval <= 0 {
		o.Interval = 5 * time.Second
	}
	if o.OnChange == nil {
		o.OnChange = func(State) {}
	}
	l := &Listener{o: o, log: o.Logger, kick: make(chan struct{}, 1), conns: make(chan net.Conn), done: make(chan struct{}),
		open: map[netip.Addr]*door{}, state: State{Mode: Loopback}}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	return l
}

// Accept is net.Listener's.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept; Run closes the addresses.
func (l *Listener) Close() error {
	l.over.Do(func() { close(l.done) })
	return nil
}

// Addr is net.Listener's. The addresses that are really open are in State.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{Port: l.o.Port} }

// Kick looks at settings and network now.
func (l *Listener) Kick() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// State is what is open now.
func (l *Listener) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Addresses = slices.Clone(s.Addresses)
	return s
}

// Run follows settings and network until ctx ends.
func (l *Listener) Run(ctx context.Context) {
	var doors sync.WaitGroup
	defer doors.Wait()
	look := time.NewTicker(l.o.Interval)
	defer look.Stop()
	for {
		l.follow(ctx, &doors)
		select {
		case <-ctx.Done():
			_ = l.Close()
			l.keep(nil)
			return
		case <-look.C:
		case <-l.kick:
		}
	}
}

// follow opens and closes until what is open is what is wanted.
func (l *Listener) follow(ctx context.Context, doors *sync.WaitGroup) {
	want := l.o.Want()
	list, problem := l.choose(want)
	if len(list) > 0 {
		if err := l.o.Ready(); err != nil {
			list, problem = nil, err.Error()
		}
	}
	l.keep(list)
	for _, a := range list {
		l.mu.Lock()
		_, have := l.open[a.Addr]
		l.mu.Unlock()
		if have {
			continue
		}
		var lc net.ListenConfig
		ln, err := lc.Listen(ctx, "tcp", netip.AddrPortFrom(a.Addr, uint16(l.o.Port)).String())
		if err != nil {
			problem = fmt.Sprintf("%s cannot be opened: %v", net.JoinHostPort(a.Addr.String(), strconv.Itoa(l.o.Port)), err)
			continue
		}
		d := &door{ln: ln, address: a, conns: map[net.Conn]struct{}{}}
		l.mu.Lock()
		l.open[a.Addr] = d
		l.mu.Unlock()
		doors.Go(func() { l.serve(d) })
	}
	l.tell(want.Mode, problem)
}

// keep closes every address that is not in the list.
func (l *Listener) keep(list []Address) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for addr, d := range l.open {
		if !slices.ContainsFunc(list, func(a Address) bool { return a == d.address }) {
			delete(l.open, addr)
			d.close()
		}
	}
}

func (l *Listener) tell(mode Mode, problem string) {
	l.mu.Lock()
	s := State{Mode: mode, Problem: problem}
	for addr := range l.open {
		s.Addresses = append(s.Addresses, netip.AddrPortFrom(addr, uint16(l.o.Port)))
	}
	slices.SortStableFunc(s.Addresses, netip.AddrPort.Compare)
	same := l.state.Mode == s.Mode && l.state.Problem == s.Problem && slices.Equal(l.state.Addresses, s.Addresses)
	l.state = s
	l.mu.Unlock()
	if same {
		return
	}
	l.log.Info("where other machines can reach this gateway", "mode", s.Mode, "addresses", s.Addresses, "problem", s.Problem)
	l.o.OnChange(s)
}

// serve hands on who may knock at one address.
func (l *Listener) serve(d *door) {
	for {
		c, err := d.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, for instance: rest
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-l.done:
				return
			}
		}
		if !welcome(d.address, c.RemoteAddr()) {
			refuse(c)
			continue
		}
		tracked, ok := d.track(c)
		if !ok {
			return
		}
		select {
		case l.conns <- tracked:
		case <-l.done:
			_ = tracked.Close()
			return
		}
	}
}

// refuse cuts a connection without a word.
func refuse(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// guest is a connection that its door knows of.
type guest struct {
	net.Conn
	d *door
}

func (g *guest) Close() error {
	g.d.mu.Lock()
	delete(g.d.conns, g)
	g.d.mu.Unlock()
	return g.Conn.Close()
}

func (d *door) track(c net.Conn) (net.Conn, bool) {
	g := &guest{Conn: c, d: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		_ = c.Close()
		return nil, false
	}
	d.conns[g] = struct{}{}
	return g, true
}

// close ends the address and everything that came in by it.
func (d *door) close() {
	_ = d.ln.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for c := range d.conns {
		refuse(c.(*guest).Conn)
	}
	clear(d.conns)
}

// Parse reads gateway.customBindHost: one address of this machine.
func Parse(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(s), "[]"))
	switch {
	case err != nil:
		return a, fmt.Errorf("%q is not an IP address", s)
	case a.IsUnspecified():
		return a, errors.New("all addresses at once are never opened; use \"lan\" for the local networks")
	case a.Unmap().IsLoopback():
		return a, errors.New("this machine itself needs no setting; use \"loopback\"")
	case a.IsMulticast():
		return a, fmt.Errorf("%s is for groups of machines", s)
	}
	return a.Unmap(), nil
}
