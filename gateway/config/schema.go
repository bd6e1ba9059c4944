package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// decode reads every known key of a document over the defaults.
func (d *decoder) decode() Config {
	d.begin()
	c := Default()
	c.Sections = Values{d.bound}
	fields := []field{
		{"gateway", func(n *node) { d.gateway(n, &c.Gateway) }},
		{"commands", func(n *node) {
			d.object(n, append([]field{{"ownerAllowFrom", func(n *node) { c.Commands.OwnerAllowFrom = d.owners(n) }}},
				later("native", "nativeSkills", "text", "bash", "bashForegroundMs", "config", "mcp", "plugins", "debug", "restart", "allowFrom",
					"useAccessGroups", "ownerDisplay", "ownerDisplaySecret")...)...)
		}},
		{"auth", func(n *node) { d.accounts(n, &c.Auth) }},
		{"discovery", func(n *node) { d.discovery(n, &c.Discovery) }},
		{"logging", func(n *node) { d.logging(n, &c.Logging) }},
		{"secrets", func(n *node) { d.secrets(n, &c.Secrets) }},
		{"$schema", func(*node) {}}, // for editors
	}
	d.object(d.doc.root, append(fields, later("meta", "env", "wizard",
		"plugins", "browser", "ui", "web", "update",
		"broadcast", "talk", "audio", "media", "canvasHost", "nodeHost", "acp",
		"diagnostics")...)...)
	d.among(c)
	return c
}

// gateway holds the keys that guard the machine. A wrong value in one of them
// is an issue like any other, and any issue leaves the running settings alone.
func (d *decoder) gateway(n *node, g *Gateway) {
	fields := []field{
		{"port", func(n *node) { g.Port = d.integer(n, 0, 65535) }},
		{"bind", func(n *node) { d.bind(n, g) }},
		{"customBindHost", func(n *node) { d.customBind(n, g) }},
		{"nodes", func(n *node) { d.nodes(n, &g.Nodes) }},
		{"auth", func(n *node) { d.auth(n, &g.Auth) }},
		{"http", func(n *node) { d.http(n, &g.HTTP) }},
		{"controlUi", func(n *node) { d.controlUI(n, &g.ControlUI) }},
	}
	d.object(n, append(fields, later("mode", "remote", "tls", "tailscale", "trustedProxies", "reload",
		"push", "webchat")...)...)
	d.bindWhole(n, g)
}

func (d *decoder) auth(n *node, a *Auth) {
	fields := []field{
		{"mode", func(n *node) {
			if n.kind == kindString && slices.Contains([]string{"none", "password", "trusted-proxy"}, n.text) {
				d.warn(n.start, "%q is not used: a token is asked for, and the page signs in by the link of `hearth open`", n.text)
				return
			}
			d.choice(n, AuthToken)
		}},
		{"token", func(n *node) { a.Token = d.secret(n, 512, CheckToken) }},
	}
	d.object(n, append(fields, later("password", "allowTailscale", "rateLimit", "trustedProxy")...)...)
}

// ShortToken is the length below which a token does not serve other machines.
const ShortToken = 16

// CheckToken guards everything: an empty one is refused, one that can be guessed
// serves this machine only.
func CheckToken(s string) error {
	switch {
	case s == "":
		return errors.New("an empty token would let everybody in; remove the key to let Hearth make one")
	case len(s) < ShortToken:
		return Notice(fmt.Sprintf("it has fewer than %d characters, so it counts on this machine only; while other machines can reach Hearth "+
			"it uses one that it made. Make it longer, or remove the key", ShortToken))
	}
	return nil
}

// providerID: the part of "provider/model" before the first slash.
func providerID(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r <= ' ' || r == 0x7f
	})
}

func (d *decoder) logging(n *node, l *Logging) {
	fields := []field{{"level", func(n *node) { l.Level = d.level(n) }}}
	d.object(n, append(fields, later("file", "maxFileBytes", "consoleLevel", "consoleStyle", "redactSensitive", "redactPatterns")...)...)
}

// level also takes the names of other gateways' files for what is nearest.
func (d *decoder) level(n *node) string {
	if n.kind == kindString {
		switch n.text {
		case "trace":
			return "debug"
		case "fatal", "silent":
			return "error"
		}
	}
	if l := d.choice(n, "debug", "info", "warn", "error"); l != "" {
		return l
	}
	return "info"
}
