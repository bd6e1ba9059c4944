package discovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grandcat/zeroconf"
)

// Options of an Advertiser. Name, ID and Port are needed.
type Options struct {
	Name string // for people; made fit by CleanName
	// ID is the gateway's, the same for ever: it goes into the host name and
	// the text. At least 12 letters or digits.
	ID   string
	Port int
	Text map[string]string // "id" is added

	// Interfaces are those to announce on. nil: all of the house.
	Interfaces func() []Interface
	// Interval is how often the interfaces are looked at, 5 s by default.
	Interval time.Duration
	// OnState hears of every change, one call at a time. Optional.
	OnState func(State)
	Logger  *slog.Logger
	// Flood is how many packets a second, for three seconds, are an attack.
	// 2000 by default.
	Flood int
	// QuietTime is the first pause after an attack, a minute by default; each
	// following one is twice as long, up to sixteen times.
	QuietTime time.Duration
}

const (
	precheck  = 700 * time.Millisecond // looking who has our name, before we take it
	secondSay = time.Second            // announcements are made twice (RFC 6762, 8.3)
	// settled: the library's goroutines have begun by then. Its own shutdown
	// races with their start.
	settled = 300 * time.Millisecond
	// maxRenames bounds how often others can make us change our name until we
	// are announced anew.
	maxRenames = 8
)

// Advertiser keeps one gateway announced while Run runs.
type Advertiser struct {
	o    Options
	log  *slog.Logger
	kick chan struct{}

	mu    sync.Mutex // guards the two
	text  map[string]string
	state State
}

// New checks what is to be announced. There are no errors later.
func New(o Options) (*Advertiser, error) {
	o.Name = CleanName(o.Name)
	switch {
	case o.Name == "":
		return nil, errors.New("discovery: an announcement needs a name")
	case !hostID(o.ID):
		return nil, fmt.Errorf("discovery: %q cannot be the id of a gateway: at least 12 lower-case letters or digits", o.ID)
	case o.Port < 1 || o.Port > 65535:
		return nil, fmt.Errorf("discovery: %d is not a port", o.Port)
	}
	if o.Interfaces == nil {
		o.Interfaces = Interfaces
	}
	if o.Interval <= 0 {
		o.Interval = 5 * time.Second
	}
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	if o.Flood <= 0 {
		o.Flood = 2000
	}
	if o.QuietTime <= 0 {
		o.QuietTime = time.Minute
	}
	a := &Advertiser{o: o, log: o.Logger, kick: make(chan struct{}, 1), state: State{Phase: Stopped, Name: o.Name, Host: HostName(o.ID),
		Detail: "the announcement is just beginning"}}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	return a, a.SetText(o.Text)
}

func hostID(id string) bool {
	return len(id) >= 12 && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// HostName is under which name a gateway's machine answers on the local
// network. It is the gateway's alone: announcing the machine's own name would
// make the system's responder give that up.
func HostName(id string) string { return hostLabel(id) + ".local" }

func hostLabel(id string) string { return "gw-" + id[:min(12, len(id))] }

// SetText announces another text.
func (a *Advertiser) SetText(m map[string]string) error {
	text := maps.Clone(m)
	if text == nil {
		text = map[string]string{}
	}
	text["id"] = a.o.ID
	if _, err := encodeText(text); err != nil {
		return err
	}
	a.mu.Lock()
	a.text = text
	a.mu.Unlock()
	a.Kick()
	return nil
}

// Kick looks at the network now, for instance after waking up.
func (a *Advertiser) Kick() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// State is where the announcement is now.
func (a *Advertiser) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	s.Interfaces = slices.Clone(s.Interfaces)
	return s
}

func (a *Advertiser) tell(s State) {
	s.Host = HostName(a.o.ID)
	a.mu.Lock()
	old := a.state
	a.state = s
	a.mu.Unlock()
	if old.Phase == s.Phase && old.Name == s.Name && old.Detail == s.Detail && slices.Equal(old.Interfaces, s.Interfaces) {
		return
	}
	a.log.Info("announcement on the local network", "phase", s.Phase, "name", s.Name, "host", s.Host, "interfaces", s.Interfaces, "detail",
		s.Detail)
	a.o.OnState(s)
}

// Run announces until ctx ends, and says goodbye then.
func (a *Advertiser) Run(ctx context.Context) {
	r := run{a: a, name: a.o.Name, quiet: a.o.QuietTime}
	look := time.NewTicker(a.o.Interval)
	defer look.Stop()
	for {
		r.look(ctx)
		if !r.next(ctx, look.C) {
			break
		}
	}
	r.down()
	a.tell(State{Phase: Stopped, Name: r.name, Detail: "the announcement has ended"})
}

// run is one Run: all of it happens on one goroutine.
type run struct {
	a       *Advertiser
	server  *zeroconf.Server
	answers *responder
	started time.Time  // of server
	alarms  chan alarm // of answers

	which, addresses, text string // as announced now
	name                   string
	renames                int
	second                 <-chan time.Time // the second announcement
	quiet                  time.Duration    // the next pause
	until                  <-chan time.Time // the end of the pause that is now
}

// look brings the announcement in line with the network.
func (r *run) look(ctx context.Context) {
	if r.until != nil {
		return
	}
	on := r.a.o.Interfaces()
	if len(on) == 0 {
		r.down()
		r.a.tell(State{Phase: NoNetwork, Name: r.name, Detail: "there is no network to announce on"})
		return
	}
	which, addrs := shape(on)
	r.a.mu.Lock()
	text, err := encodeText(r.a.text)
	r.a.mu.Unlock()
	if err != nil {
		return // SetText has looked
	}
	switch joined := strings.Join(text, "\x00"); {
	case r.server == nil || which != r.which || joined != r.text || runtime.GOOS == "windows" && addrs != r.addresses:
		r.up(ctx, on, text)
	case addrs != r.addresses:
		r.answers.update(on, text)
		r.answers.announce()
		r.addresses = addrs
	}
}

// up announces, in place of what was announced before. The old server says
// goodbye first; others wait a second before they believe that, and hear the
// new one by then.
func (r *run) up(ctx context.Context, on []Interface, text []string) {
	if r.server == nil {
		r.name = r.free(ctx, on)
	} else if !r.settle(ctx) {
		return
	}
	which, addrs := shape(on)
	if r.answers != nil && which != r.which {
		r.answers.close()
		r.answers = nil
	}
	if r.answers == nil {
		r.alarms = make(chan alarm, 8) // those of an old one are of no use
		r.answers = newResponder(r.a.o, r.name, text, on, r.alarms)
	} else {
		r.answers.update(on, text)
	}
	old := r.server
	r.answers.ignore(true) // our own goodbye comes back to us
	if old != nil {
		old.Shutdown()
	}
	r.answers.ignore(false)
	server, err := register(r.a.o, r.name, text, on)
	if err != nil {
		r.server = nil
		r.a.tell(State{Phase: Refused, Name: r.name, Detail: "the system does not let Hearth announce itself: " + err.Error()})
		return
	}
	r.server, r.started = server, time.Now()
	r.which, r.addresses, r.text = which, addrs, strings.Join(text, "\x00")
	r.answers.announce()
	r.second = time.After(secondSay)
	names := make([]string, len(on))
	for i := range on {
		names[i] = on[i].Name
	}
	s := State{Phase: Announced, Name: r.name, Interfaces: names}
	if r.name != r.a.o.Name {
		s.Detail = "another gateway here is called " + r.a.o.Name
	}
	r.a.tell(s)
}

// register starts the library's server. Without addresses it looks them up for
// each interface and answer, which is what we want; only on Windows it cannot
// tell interfaces apart.
func register(o Options, name string, text []string, on []Interface) (*zeroconf.Server, error) {
	var nis []net.Interface
	var ips []string
	for i := range on {
		nis = append(nis, on[i].Interface)
		if runtime.GOOS != "windows" {
			continue
		}
		for _, p := range on[i].V4 {
			ips = append(ips, p.Addr().String())
		}
	}
	// The domain has no dot at its end and the host no domain: the library adds
	// the one to the other.
	return zeroconf.RegisterProxy(escapeLabel(name), Service, "local", o.Port, hostLabel(o.ID), ips, text, nis)
}

// settle waits until the server that runs may be shut down.
func (r *run) settle(ctx context.Context) bool {
	wait := time.NewTimer(settled - time.Since(r.started))
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// down takes the announcement back.
func (r *run) down() {
	if r.answers != nil {
		r.answers.ignore(true)
	}
	if r.server != nil {
		<-time.After(settled - time.Since(r.started))
		r.server.Shutdown() // says goodbye for the service
		r.server = nil
	}
	if r.answers != nil {
		r.answers.close() // and this for the host
		r.answers = nil
	}
	r.second, r.which = nil, ""
}

// next waits for a reason to look again; false is the end.
func (r *run) next(ctx context.Context, look <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-look:
	case <-r.a.kick:
	case <-r.second:
		r.second = nil
		r.answers.announce()
	case <-r.until:
		r.until, r.renames = nil, 0
	case what := <-r.alarms:
		r.alarmed(what)
	}
	return true
}

// alarm is what the responder noticed.
type alarm string

const (
	lost  alarm = "lost"  // somebody with a better claim has our name
	flood alarm = "flood" // nobody needs so many packets
)

func (r *run) alarmed(what alarm) {
	switch {
	case what == lost && r.renames < maxRenames:
		r.renames++
		r.down() // the next look finds another name
		return
	case what == lost:
		r.pause("others here keep taking its name")
	case what == flood:
		r.pause("the network is flooded with discovery messages")
	}
}

func (r *run) pause(why string) {
	if time.Since(r.started) > 16*r.a.o.QuietTime {
		r.quiet = r.a.o.QuietTime // it was well for long
	}
	r.down()
	r.until = time.After(r.quiet)
	r.a.tell(State{Phase: Quiet, Name: r.name, Detail: fmt.Sprintf("Hearth does not announce itself for %s: %s", r.quiet, why)})
	r.quiet = min(2*r.quiet, 16*r.a.o.QuietTime)
}

// free is the name to use: the one we want, or that with the first number
// which nobody else on these networks has.
func (r *run) free(ctx context.Context, on []Interface) string {
	taken := map[string]bool{}
	for _, g := range sweep(ctx, Service, on, precheck, nil) {
		if g.Text["id"] != r.a.o.ID {
			taken[strings.ToLower(g.Name)] = true
		}
	}
	name := r.a.o.Name
	if r.renames == 0 && !taken[strings.ToLower(name)] {
		return name
	}
	for n := 1 + max(1, r.renames); ; n++ {
		if name = numbered(r.a.o.Name, n); !taken[strings.ToLower(name)] {
			return name
		}
	}
}
