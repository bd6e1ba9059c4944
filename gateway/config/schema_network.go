package config

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
