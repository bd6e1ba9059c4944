package config

import "net/netip"

// bind reads from where the gateway can be reached.
func (d *decoder) bind(n *node, g *Gateway) {
	if n.kind == kindString && n.text == "auto" {
		d.warn(n.start, "\"auto\" would let the machine decide who can reach Hearth, so it stays on this machine; say \"loopback\" (this "+
			"machine only) or \"lan\" (your local network)")
		return
	}
	if v := d.choice(n, BindLoopback, BindLAN, BindTailnet, BindCustom); v != "" {
		g.Bind = v
	}
}

// customBind reads the one address of bind "custom". What makes no sense there
// is said here already: an address of everybody's, or this machine's own.
func (d *decoder) customBind(n *node, g *Gateway) {
	s := d.filled(n, 64)
	a, err := netip.ParseAddr(s)
	switch {
	case s == "":
		return
	case err != nil:
		d.issue(n.start, "an IP address of this machine, for example \"192.168.1.5\"")
	case a.IsUnspecified():
		d.issue(n.start, "all addresses at once are never opened; set gateway.bind to \"lan\" for the local network")
	case a.Unmap().IsLoopback():
		d.issue(n.start, "this is the machine itself; set gateway.bind to \"loopback\"")
	default:
		g.CustomBindHost = a.Unmap().String()
	}
}

// bindWhole: "custom" needs its address.
func (d *decoder) bindWhole(n *node, g *Gateway) {
	if g.Bind == BindCustom && g.CustomBindHost == "" {
		d.issue(n.start, "gateway.bind \"custom\" needs gateway.customBindHost, an IP address of this machine")
	}
}

// discovery reads how the gateway lets itself be found.
func (d *decoder) discovery(n *node, c *Discovery) {
	d.object(n, append([]field{{"mdns", func(n *node) {
		d.object(n, field{"mode", func(n *node) {
			if v := d.choice(n, MDNSMinimal, MDNSFull, MDNSOff); v != "" {
				c.MDNS = v
			}
		}})
	}}}, later("wideArea")...)...)
}
