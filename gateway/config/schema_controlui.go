package config

import (
	"net/url"
	"strings"
)

func (d *decoder) controlUI(n *node, c *ControlUI) {
	d.object(n, append([]field{{"allowedOrigins", func(n *node) {
		d.list(n, func(n *node) {
			if o := d.origin(n); o != "" {
				c.AllowedOrigins = append(c.AllowedOrigins, o)
			}
		})
	}}}, later("enabled", "basePath", "root", "allowInsecureAuth", "dangerouslyDisableDeviceAuth",
		"dangerouslyAllowHostHeaderOriginFallback", "embedSandbox", "allowExternalEmbedUrls", "chatMessageMaxWidth")...)...)
}

// origin is what a browser says of a page, exactly: no patterns, since whoever
// can make a page at a matching name could then use the gateway.
func (d *decoder) origin(n *node) string {
	s := strings.ToLower(d.filled(n, 300))
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || s != u.Scheme+"://"+u.Host {
		d.issue(n.start, "an origin is http:// or https://, a host and perhaps a port, and nothing behind it: \"http://127.0.0.1:8080\"; "+
			"patterns are not allowed")
		return ""
	}
	return s
}
