package discovery

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grandcat/zeroconf"
)

// Service is what gateways of this kind are announced as.
const Service = "_openclaw-gw._tcp"

// maxGateways bounds what a network can make us remember.
const maxGateways = 128

// Gateway is what somebody announced. Nothing of it is proven: Text is a hint
// for people, and Addrs are where to ask for proof.
type Gateway struct {
	Name  string
	Host  string
	Port  int
	Addrs []netip.Addr // of the host; none that needs a zone
	Text  map[string]string
}

// Sweep asks the networks once and listens for d. found, if not nil, is told
// of each gateway as soon as it has an address, and again when more is known;
// one call at a time.
func Sweep(ctx context.Context, d time.Duration, found func(Gateway)) map[string]Gateway {
	return sweep(ctx, Service, Interfaces(), d, found)
}

// sweep uses a fresh resolver per family and round: the library reports each
// service once, stops asking after the first answer, and gives up as a whole
// where one family is missing.
func sweep(ctx context.Context, service string, on []Interface, d time.Duration, found func(Gateway)) map[string]Gateway {
	round := collection{all: map[string]Gateway{}, found: found}
	if len(on) == 0 {
		return round.all
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	nis := make([]net.Interface, len(on))
	for i := range on {
		nis[i] = on[i].Interface
	}
	var families sync.WaitGroup
	for _, family := range []zeroconf.IPType{zeroconf.IPv4, zeroconf.IPv6} {
		r, err := zeroconf.NewResolver(zeroconf.SelectIPTraffic(family), zeroconf.SelectIfaces(nis))
		if err != nil {
			continue
		}
		entries := make(chan *zeroconf.ServiceEntry, 32)
		// When asking fails, Browse ends its own work and closes entries.
		_ = r.Browse(ctx, service, "local", entries)
		families.Go(func() {
			for e := range entries { // to the end, or the library never closes its sockets
				round.take(e)
			}
		})
	}
	families.Wait()
	return round.all
}

// collection is what one sweep has found.
type collection struct {
	mu    sync.Mutex // guards all, and lets one call of found run at a time
	all   map[string]Gateway
	found func(Gateway)
}

func (c *collection) take(e *zeroconf.ServiceEntry) {
	name := CleanName(unescape(e.Instance))
	if name == "" || e.Port <= 0 || e.Port > 65535 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, known := c.all[name]
	if !known {
		if len(c.all) >= maxGateways {
			return
		}
		g = Gateway{Name: name, Host: cleaned(strings.TrimSuffix(e.HostName, ".")), Port: e.Port}
	}
	changed := !known
	if len(g.Text) == 0 && len(e.Text) > 0 {
		g.Text, changed = decodeText(e.Text), true
	}
	before := len(g.Addrs)
	g.Addrs = addresses(g.Addrs, e.AddrIPv4, e.AddrIPv6)
	c.all[name] = g
	if (changed || len(g.Addrs) > before) && len(g.Addrs) > 0 && c.found != nil {
		c.found(g)
	}
}

// addresses adds what can be dialled to a list. A link-local IPv6 address
// cannot: which interface it belongs to is not told.
func addresses(have []netip.Addr, more ...[]net.IP) []netip.Addr {
	have = slices.Clone(have)
	for _, l := range more {
		for _, ip := range l {
			a, ok := netip.AddrFromSlice(ip)
			a = a.Unmap()
			switch {
			case !ok, a.IsLoopback(), a.IsUnspecified(), a.IsMulticast(), a.Is6() && a.IsLinkLocalUnicast():
			case len(have) < 16 && !slices.Contains(have, a):
				have = append(have, a)
			}
		}
	}
	slices.SortStableFunc(have, netip.Addr.Compare)
	return have
}
