package discovery

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Interface is a network that others can be on, with our addresses there.
type Interface struct {
	net.Interface
	V4 []netip.Prefix
	V6 []netip.Prefix // link-local ones only where there is no other
}

// virtual are the beginnings of names of interfaces that lead to no other
// machine of the house: containers, virtual machines, tunnels, Apple's radio
// links.
func virtual(name string) bool {
	name = strings.ToLower(name)
	for _, p := range []string{
		"docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "virtualbox", "vmware", "vethernet", "cni", "flannel", "cali",
		"podman", "lxc", "lxd", "utun", "awdl", "llw", "tailscale", "wg", "zt", "tun", "tap",
	} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Interfaces lists the networks of this machine on which other machines of the
// house may be.
func Interfaces() []Interface {
	all, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var out []Interface
	for _, ni := range all {
		if ni.Flags&net.FlagUp == 0 || ni.Flags&net.FlagMulticast == 0 || ni.Flags&(net.FlagLoopback|net.FlagPointToPoint) != 0 ||
			virtual(ni.Name) {
			continue
		}
		if n, ok := withAddresses(ni); ok {
			out = append(out, n)
		}
	}
	return out
}

func withAddresses(ni net.Interface) (Interface, bool) {
	n := Interface{Interface: ni}
	addrs, err := ni.Addrs()
	if err != nil {
		return n, false
	}
	var local []netip.Prefix
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		switch ip := p.Addr(); {
		case ip.IsLoopback() || ip.IsUnspecified():
		case ip.Is4():
			n.V4 = append(n.V4, p)
		case ip.IsLinkLocalUnicast():
			local = append(local, p)
		default:
			n.V6 = append(n.V6, p)
		}
	}
	if len(n.V6) == 0 {
		n.V6 = local
	}
	return n, len(n.V4)+len(n.V6) > 0
}

// onLink reports whether somebody with that address is on this network itself,
// not behind a router: nobody else has a reason to ask.
func (n *Interface) onLink(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() {
		return true
	}
	for _, l := range [][]netip.Prefix{n.V4, n.V6} {
		for _, p := range l {
			if p.Masked().Contains(ip) {
				return true
			}
		}
	}
	return false
}

// shape tells two lists of interfaces apart: by what they are, and by their
// addresses.
func shape(l []Interface) (which, addresses string) {
	for i := range l {
		which += fmt.Sprintf("%d/%s;", l[i].Index, l[i].Name)
		addresses += fmt.Sprint(l[i].Index, l[i].V4, l[i].V6)
	}
	return which, addresses
}
