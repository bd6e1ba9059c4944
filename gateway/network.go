package gateway

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/reach/tailscale"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// network is the gateway towards other machines: where it listens, who it is
// there, and how it is found.
type network struct {
	g       *Gateway
	reach   *reach.Listener
	tail    *tailscale.Watch
	changed chan struct{} // settings or addresses

	mu  sync.Mutex // guards the two
	who *identity.Identity
	adv *discovery.Advertiser // nil: not announced
}

func (g *Gateway) newNetwork() *network {
	n := &network{g: g, changed: make(chan struct{}, 1)}
	n.tail = tailscale.New(tailscale.Options{Port: n.port, Now: g.opts.Now})
	n.reach = reach.New(reach.Options{
		Port: n.port, Want: n.want, House: houseAddresses, All: allAddresses, Logger: g.log,
		Ready:    func() error { _, err := n.identity(); return err },
		OnChange: func(reach.State) { n.signal() },
	})
	return n
}

// port is that of this machine's own listener: the same everywhere.
func (n *network) port() int {
	if n.g.ln == nil {
		return 0
	}
	return n.g.ln.Addr().(*net.TCPAddr).Port
}

func (n *network) want() reach.Want {
	c := n.g.config.Snapshot().Config.Gateway
	w := reach.Want{Mode: reach.Mode(c.Bind)}
	if c.Bind == config.BindCustom {
		a, err := reach.Parse(c.CustomBindHost)
		if err != nil {
			return reach.Want{Mode: reach.Loopback}
		}
		w.Custom = a
	}
	return w
}

// identity is who we are to other machines. It is made when it is first
// needed: most gateways stay on their own machine.
func (n *network) identity() (*identity.Identity, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.who != nil {
		return n.who, nil
	}
	who, err := identity.Open(identity.Options{Path: n.g.opts.Dir.Identity(), Write: statedir.WriteFile, Now: n.g.opts.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	n.who = who
	return who, nil
}

// remote is what the server needs to serve other machines.
func (n *network) remote() *server.Remote {
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
func (n *network) pins() []string {
	who, err := n.identity()
	if err != nil {
		return nil
	}
	return who.Pins()
}

// look follows changed settings.
func (n *network) look() {
	n.reach.Kick()
	n.signal()
}

func (n *network) signal() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// run listens for other machines and announces itself to them, as the settings
// say, until ctx ends.
func (n *network) run(ctx context.Context) {
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
func (n *network) announcement() announcement {
	c := n.g.config.Snapshot().Config
	if n.muted(c) || n.reach.State().Mode != reach.LAN || len(n.reach.State().Addresses) == 0 {
		return announcement{}
	}
	who, err := n.identity()
	if err != nil {
		return announcement{}
	}
	print, err := who.Fingerprint()
	if err != nil {
		n.g.log.Error("the gateway is not announced: it has no certificate", "err", err)
		return announcement{}
	}
	name := "Hearth " + who.ID()[:4]
	if host, err := os.Hostname(); err == nil && c.Discovery.MDNS == config.MDNSFull {
		short, _, _ := strings.Cut(host, ".")
		name = short + " (Hearth)"
	}
	return announcement{name: name, id: who.ID(), port: n.port(), text: map[string]string{
		"role": "gateway", "transport": "gateway", "displayName": name, "lanHost": who.Host(), "gatewayPort": strconv.Itoa(n.port()),
		"gatewayTls": "1", "gatewayTlsSha256": print, "gatewayDirectReachable": "1",
	}}
}

func (n *network) muted(c config.Config) bool {
	return c.Discovery.MDNS == config.MDNSOff || n.g.opts.Env("HEARTH_DISABLE_BONJOUR") == "1" || n.g.opts.Env("OPENCLAW_DISABLE_BONJOUR") == "1"
}

// announce starts an announcement; stop takes it back and waits.
func (n *network) announce(ctx context.Context, a announcement) (stop func()) {
	var adv *discovery.Advertiser
	if a.name != "" {
		var err error
		adv, err = discovery.New(discovery.Options{Name: a.name, ID: a.id, Port: a.port, Text: a.text, Interfaces: n.openInterfaces, Logger: n.g.log})
		if err != nil {
			n.g.log.Error("the gateway is not announced", "err", err)
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

func (n *network) kickAnnouncement() {
	n.mu.Lock()
	adv := n.adv
	n.mu.Unlock()
	if adv != nil {
		adv.Kick()
	}
}

// openInterfaces are the local networks on which we really listen: an
// announcement elsewhere would lead nowhere.
func (n *network) openInterfaces() []discovery.Interface {
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

// houseAddresses are those of local networks.
func houseAddresses() (out []reach.Address) {
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
func (n *network) status(ctx context.Context) (protocol.ReachStatus, error) {
	st := n.reach.State()
	out := protocol.ReachStatus{Mode: string(st.Mode), Port: n.port(), Addresses: []string{}, Problem: st.Problem}
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
func (n *network) problems() []protocol.Problem {
	if n == nil {
		return nil
	}
	st := n.reach.State()
	if st.Problem == "" {
		return nil
	}
	return []protocol.Problem{{Code: "REACH", Message: fmt.Sprintf("Other machines cannot reach Hearth as gateway.bind (%q) says: %s. `hearth lan` shows more; Hearth goes on trying.", st.Mode, st.Problem)}}
}
