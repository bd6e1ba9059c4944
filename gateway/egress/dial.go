package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// guard connects to public addresses only.
type guard struct {
	resolver Resolver
	own      func() []netip.Addr
	system   func(ctx context.Context, network, address string) (net.Conn, error)
	policy   Policy
}

// trusted marks a connection to a host that may lead anywhere.
type trusted struct{}

func newGuard(o Options) *guard {
	g := &guard{resolver: o.Resolver, own: o.Own, system: o.Dial}
	if g.resolver == nil {
		g.resolver = net.DefaultResolver
	}
	if g.own == nil {
		g.own = interfaces
	}
	if g.system == nil {
		d := &net.Dialer{Timeout: connectTime}
		if o.Proxy == nil {
			d.ControlContext = g.control
		}
		g.system = d.DialContext
	}
	return g
}

// dial resolves a name once, looks at all its addresses, and connects to one of
// those it has looked at: a second answer of the name server has no say.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrUnreachable
	}
	if g.policy.trusts(host) {
		ctx = context.WithValue(ctx, trusted{}, true)
	}
	addrs, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var failure error = ErrUnreachable
	for _, a := range addrs {
		conn, err := g.system(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		var forbidden *ForbiddenError
		if errors.As(err, &forbidden) {
			return nil, forbidden
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, failure
}

// addresses are those of a host, if every one of them is public: a name that
// leads to a public and a private address is an attack, not a web site.
func (g *guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, g.allow(ctx, host, a)
	}
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", strings.TrimSuffix(host, "."))
	if err != nil || len(addrs) == 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrUnreachable
	}
	if len(addrs) > maxAddresses {
		addrs = addrs[:maxAddresses]
	}
	for i, a := range addrs {
		if err := g.allow(ctx, host, a); err != nil {
			return nil, err
		}
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}

// allow decides on one address.
func (g *guard) allow(ctx context.Context, host string, a netip.Addr) error {
	if ctx.Value(trusted{}) != nil {
		return nil
	}
	a = a.Unmap()
	if !public(a) {
		return &ForbiddenError{Host: host, Reason: "it leads to this machine or to a private network"}
	}
	if slices.Contains(g.own(), a) {
		return &ForbiddenError{Host: host, Reason: "it leads to this machine"}
	}
	return nil
}

// control looks once more at the address that the system is about to connect
// to: the last moment at which it can be refused.
func (g *guard) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return &ForbiddenError{Host: address, Reason: "it is not an internet address"}
	}
	return g.allow(ctx, address, a.Addr())
}
