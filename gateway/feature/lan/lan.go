// Package lan is the feature that lets other machines reach Hearth: the listener
// on the local network and its key, the announcement by Bonjour, Tailscale, setup
// codes, and the methods hearth.reach.* and device.pair.setupCode. Who is let in
// is package pairing's.
package lan

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/reach/tailscale"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Dir      statedir.Dir
	Settings *config.File
	Pairing  *pairing.Registry
	Audit    *audit.Log
	Port     int // of this machine's own listener: the same everywhere
	Env      func(string) string
	Now      func() time.Time
	Log      *slog.Logger
}

// Network is the gateway towards other machines: where it listens, who it is
// there, and how it is found.
type Network struct {
	o       Options
	reach   *reach.Listener
	tail    *tailscale.Watch
	changed chan struct{} // settings or addresses

	mu  sync.Mutex // guards the two
	who *identity.Identity
	adv *discovery.Advertiser // nil: not announced
}

// New makes the network, which follows changed settings from now on.
func New(o Options) *Network {
	n := &Network{o: o, changed: make(chan struct{}, 1)}
	n.tail = tailscale.New(tailscale.Options{Port: o.Port, Now: o.Now})
	n.reach = reach.New(reach.Options{
		Port: o.Port, Local: localAddresses, All: allAddresses, Logger: o.Log,
		Want:     func() reach.Want { return reach.Section.Of(o.Settings.Snapshot().Config).Want() },
		Ready:    func() error { _, err := n.identity(); return err },
		OnChange: func(reach.State) { n.signal() },
	})
	o.Settings.Subscribe(nil, func(_, _ config.Config) { n.look() })
	return n
}

// Feature is what it adds.
func (n *Network) Feature() host.Feature {
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodReachStatus, func(ctx context.Context, _ method.None) (protocol.ReachStatus, error) {
				return n.status(ctx)
			}),
			method.Plain(protocol.MethodReachRotate, n.rotate),
			method.Plain(protocol.MethodPairSetupCode, n.pairSetupCode),
		},
		Problems: n.problems,
		Run: func(ctx context.Context) error {
			n.run(ctx)
			return nil
		},
	}
}

// identity is who we are to other machines. It is made when it is first
// needed: most gateways stay on their own machine.
func (n *Network) identity() (*identity.Identity, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.who != nil {
		return n.who, nil
	}
	who, err := identity.Open(identity.Options{Path: n.o.Dir.Identity(), Write: statedir.WriteFile, Now: n.o.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	n.who = who
	return who, nil
}

// Remote is what the server needs to serve other machines.
func (n *Network) Remote() *server.Remote {
	return &server.Remote{Listener: n.reach, Introduce: n.introduce, Names: n.names, Authority: n.authority, Pins: n.pins, TLS: &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			who, err := n.identity()
			if err != nil {
				return nil, err
			}
			return who.Certificate()
		},
	}}
}

// pins are the keys that devices may meet.
func (n *Network) pins() []string {
	who, err := n.identity()
	if err != nil {
		return nil
	}
	return who.Pins()
}

// look follows changed settings.
func (n *Network) look() {
	n.reach.Kick()
	n.signal()
}

func (n *Network) signal() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// run listens for other machines and announces itself to them, as the settings
// say, until ctx ends.
func (n *Network) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { n.reach.Run(ctx) })
	var now announcement
	stop := func() {}
	defer func() { stop() }()
	for {
		if next := n.announcement(); !next.equal(now) {
			stop()
			stop, now = n.announce(ctx, next), next
		} else {
			n.kickAnnouncement() // who looks for us at a new address shall not wait
		}
		select {
		case <-ctx.Done():
			return
		case <-n.changed:
		}
	}
}

// announcement is what is to be announced; without a name nothing is.
type announcement struct {
	name, id string
	port     int
	text     map[string]string
}

func (a announcement) equal(b announcement) bool {
	return a.name == b.name && a.id == b.id && a.port == b.port && a.text["gatewayTlsSha256"] == b.text["gatewayTlsSha256"]
}

// announcement says only that there is a gateway, where, and its key: names of
// people and of machines are nobody's business, unless the owner wants them told.
func (n *Network) announcement() announcement {
	c := n.o.Settings.Snapshot().Config
	if n.muted(c) || n.reach.State().Mode != reach.LAN || len(n.reach.State().Addresses) == 0 {
		return announcement{}
	}
	who, err := n.identity()
	if err != nil {
		return announcement{}
	}
	print, err := who.Fingerprint()
	if err != nil {
		n.o.Log.Error("the gateway is not announced: it has no certificate", "err", err)
		return announcement{}
	}
	name := "Hearth " + who.ID()[:4]
	if host, err := os.Hostname(); err == nil && Section.Of(c).Announced == full {
		short, _, _ := strings.Cut(host, ".")
		name = short + " (Hearth)"
	}
	return announcement{name: name, id: who.ID(), port: n.o.Port, text: map[string]string{
		"role": "gateway", "transport": "gateway", "displayName": name, "lanHost": who.Host(), "gatewayPort": strconv.Itoa(n.o.Port),
		"gatewayTls": "1", "gatewayTlsSha256": print, "gatewayDirectReachable": "1",
	}}
}

func (n *Network) muted(c config.Config) bool {
	return Section.Of(c).Announced == off || n.o.Env("HEARTH_DISABLE_BONJOUR") == "1" || n.o.Env("OPENCLAW_DISABLE_BONJOUR") == "1"
}

// announce starts an announcement; stop takes it back and waits.
func (n *Network) announce(ctx context.Context, a announcement) (stop func()) {
	var adv *discovery.Advertiser
	if a.name != "" {
		var err error
		adv, err = discovery.New(discovery.Options{Name: a.name, ID: a.id, Port: a.port, Text: a.text, Interfaces: n.openInterfaces,
			Logger: n.o.Log})
		if err != nil {
			n.o.Log.Error("the gateway is not announced", "err", err)
		}
	}
	n.mu.Lock()
	n.adv = adv
	n.mu.Unlock()
	if adv == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { adv.Run(ctx) })
	return func() { cancel(); work.Wait() }
}

func (n *Network) kickAnnouncement() {
	n.mu.Lock()
	adv := n.adv
	n.mu.Unlock()
	if adv != nil {
		adv.Kick()
	}
}

// openInterfaces are the local networks on which we really listen: an
// announcement elsewhere would lead nowhere.
func (n *Network) openInterfaces() []discovery.Interface {
	open := n.reach.State().Addresses
	closed := func(p netip.Prefix) bool {
		return !slices.ContainsFunc(open, func(a netip.AddrPort) bool { return a.Addr().WithZone("") == p.Addr() })
	}
	all := discovery.Interfaces()
	for i := range all {
		all[i].V4, all[i].V6 = slices.DeleteFunc(all[i].V4, closed), slices.DeleteFunc(all[i].V6, closed)
	}
	return slices.DeleteFunc(all, func(d discovery.Interface) bool { return len(d.V4)+len(d.V6) == 0 })
}

// localAddresses are those of local networks.
func localAddresses() (out []reach.Address) {
	for _, i := range discovery.Interfaces() {
		for _, l := range [][]netip.Prefix{i.V4, i.V6} {
			for _, p := range l {
				out = append(out, reachAddress(p, i.Name))
			}
		}
	}
	return out
}

// allAddresses are those of every interface.
func allAddresses() (out []reach.Address) {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				out = append(out, reachAddress(p, i.Name))
			}
		}
	}
	return out
}

func reachAddress(p netip.Prefix, zone string) reach.Address {
	a := reach.Address{Addr: p.Addr(), Network: p}
	if a.Addr.Is6() && a.Addr.IsLinkLocalUnicast() {
		a.Addr = a.Addr.WithZone(zone)
	}
	return a
}

// status is what a person is told.
func (n *Network) status(ctx context.Context) (protocol.ReachStatus, error) {
	st := n.reach.State()
	out := protocol.ReachStatus{Mode: string(st.Mode), Port: n.o.Port, Addresses: []string{}, Problem: st.Problem}
	for _, a := range st.Addresses {
		out.Addresses = append(out.Addresses, a.String())
	}
	out.Tailscale = n.tailnet(ctx)
	n.mu.Lock()
	who, adv := n.who, n.adv
	n.mu.Unlock()
	if who != nil {
		print, err := who.Fingerprint()
		if err != nil {
			return out, err
		}
		out.ID, out.Host, out.Pins, out.Fingerprint = who.ID(), who.Host(), who.Pins(), print
	}
	if adv != nil {
		s := adv.State()
		out.Announcement = &protocol.ReachAnnouncement{Phase: string(s.Phase), Name: s.Name, Interfaces: s.Interfaces, Detail: s.Detail}
	}
	return out, nil
}

// problems are those that a person should know about.
func (n *Network) problems() []protocol.Problem {
	st := n.reach.State()
	if st.Problem == "" {
		return nil
	}
	return []protocol.Problem{
		{Code: "REACH", Message: fmt.Sprintf("Other machines cannot reach Hearth as gateway.bind (%q) says: %s. `hearth lan` shows more; "+
			"Hearth goes on trying.", st.Mode, st.Problem)}}
}
