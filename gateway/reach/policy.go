package reach

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Where Tailscale's addresses are; the first range is also that of providers'
// own networks.
func tailnetRanges() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fd7a:115c:a1e0::/48")}
}

func isTailnet(a netip.Addr) bool {
	return slices.ContainsFunc(tailnetRanges(), func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) })
}

// choose picks the addresses to open. An answer without addresses and without
// a problem is this machine alone.
func (l *Listener) choose(w Want) (list []Address, problem string) {
	switch w.Mode {
	case LAN:
		for _, a := range l.o.Local() {
			if opens(a.Addr) {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			problem = "this machine is on no local network now"
		}
	case Tailnet:
		for _, a := range l.o.All() {
			if isTailnet(a.Addr) {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			problem = "this machine has no address of Tailscale; is it on?"
		}
	case Custom:
		for _, a := range l.o.All() {
			if a.Addr.WithZone("") == w.Custom {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			problem = fmt.Sprintf("this machine does not have the address %s now", w.Custom)
		}
	}
	return list, problem
}

// opens: public IPv4 addresses stay closed, for behind one is the internet and
// no house. Every home has public IPv6 ones, and there welcome keeps strangers
// out.
func opens(a netip.Addr) bool {
	return !a.IsLoopback() && !a.IsUnspecified() && (private(a) || a.Is6())
}

// private: such an address means something on local networks only.
func private(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLinkLocalUnicast() || isTailnet(a)
}

// welcome decides who may knock at an address: machines with private addresses
// and those on the very same network. Nobody comes in from the internet.
func welcome(at Address, from net.Addr) bool {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return false
	}
	peer, ok := netip.AddrFromSlice(tcp.IP)
	if !ok {
		return false
	}
	peer = peer.Unmap()
	if peer.IsLoopback() || peer.IsUnspecified() || peer.IsMulticast() {
		return false
	}
	return private(peer) || at.Network.Masked().Contains(peer)
}
