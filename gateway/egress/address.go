package egress

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// Public addresses are decided by a list of what is not one, from IANA's
// special-purpose registries (RFC 6890 and its updates). Of IPv6 only 2000::/3
// is handed out at all, so the list for it is what that range reserves.
var notPublic4 = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carriers' and Tailscale's
	"127.0.0.0/8",     // this machine
	"169.254.0.0/16",  // link-local, and cloud metadata
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
)

var (
	handedOut6 = netip.MustParsePrefix("2000::/3")
	notPublic6 = prefixes(
		"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which holds an IPv4 address
		"3fff::/20",     // documentation
	)
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public reports whether everybody can reach an address.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is4() {
		return !within(a, notPublic4)
	}
	return handedOut6.Contains(a) && !within(a, notPublic6) && !isatap(a)
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// isatap tells the addresses that hold an IPv4 address in their lower half
// (RFC 5214), which a router may unpack into the local network.
func isatap(a netip.Addr) bool {
	b := a.As16()
	id := binary.BigEndian.Uint32(b[8:12])
	return id == 0x00005efe || id == 0x02005efe
}

// interfaces lists the addresses of this machine.
func interfaces() []netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out
}
