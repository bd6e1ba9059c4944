package reach

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of where the gateway is found, and who can reach
// it. The port of this machine and the origins are obeyed by package server.
type Configured struct {
	Port   int // 0: the usual one, or the next that is free
	Bind   Mode
	Custom string // the address of bind "custom"
	// Origins are those of pages that may connect besides our own page's,
	// "https://host" or "http://host:port", in lower case.
	Origins []string
}

// Section are the settings of who can reach the gateway. A wrong value in one of
// them is an issue like any other, and any issue leaves the running settings alone.
var Section = &config.Settings[Configured]{
	Path:    "gateway",
	Default: Configured{Bind: Loopback},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Number{
				Key: "port", To: &c.Port, Max: 65535, Hint: config.Hint{Restart: true},
				Help: "the port. `0` means 18789 or, when that is taken, the next free one. Needs a restart",
			},
			config.Choice{
				Key: "bind", To: (*string)(&c.Bind), Among: modes(), Read: bind, Hint: config.Hint{Pane: "network"},
				Help: "from where it can be reached. `\"loopback\"`: this machine only. `\"lan\"`: the local networks, following the machine from " +
					"one to the next (`hearth lan on` sets this). `\"tailnet\"`: Tailscale's addresses. `\"custom\"`: the one of `customBindHost`. " +
					"Off this machine only TLS 1.3 is spoken, nobody comes in from the internet, and each device must be paired. Takes effect at " +
					"once; switching back ends the connections of others",
			},
			config.Text{
				Key: "customBindHost", To: &c.Custom, Max: 64, Is: own, Help: "the IP address for `bind: \"custom\"`, one of this machine",
			},
			config.Object{Key: "controlUi", Fields: []config.Field{
				config.Texts{
					Key: "allowedOrigins", To: &c.Origins, Max: 300, Is: origin, Unset: true, Hint: config.Hint{Default: "`[]`"},
					Help: "pages of others that may connect from a browser on this machine, such as OpenClaw's own web page from a folder of " +
						"yours: `[\"http://127.0.0.1:8080\"]`. They still need the token, and are devices that you can revoke. No patterns. Takes " +
						"effect at once",
				},
				config.Later("enabled", "basePath", "root", "allowInsecureAuth", "dangerouslyDisableDeviceAuth",
					"dangerouslyAllowHostHeaderOriginFallback", "embedSandbox", "allowExternalEmbedUrls", "chatMessageMaxWidth"),
			}},
			config.Later("mode", "remote", "tls", "tailscale", "trustedProxies", "reload", "push", "webchat"),
		}
	},
	Check: func(c *Configured) error {
		if c.Bind == Custom && c.Custom == "" {
			return errors.New("gateway.bind \"custom\" needs gateway.customBindHost, an IP address of this machine")
		}
		return nil
	},
}

func modes() []string {
	return []string{string(Loopback), string(LAN), string(Tailnet), string(Custom)}
}

func bind(v config.Value) string {
	if word, _ := v.Word(); word == "auto" {
		v.Warn("\"auto\" would let the machine decide who can reach Hearth, so it stays on this machine; say \"loopback\" (this machine " +
			"only) or \"lan\" (your local network)")
		return ""
	}
	return v.Choice(modes()...)
}

// own reads the one address of bind "custom". What makes no sense there is said
// here already: an address of everybody's, or this machine's own.
func own(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return "", errors.New("an IP address of this machine, for example \"192.168.1.5\"")
	case a.IsUnspecified():
		return "", errors.New("all addresses at once are never opened; set gateway.bind to \"lan\" for the local network")
	case a.Unmap().IsLoopback():
		return "", errors.New("this is the machine itself; set gateway.bind to \"loopback\"")
	}
	return a.Unmap().String(), nil
}

// origin is what a browser says of a page, exactly: no patterns, since whoever
// can make a page at a matching name could then use the gateway.
func origin(s string) (string, error) {
	s = strings.ToLower(s)
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || s != u.Scheme+"://"+u.Host {
		return "", errors.New("an origin is http:// or https://, a host and perhaps a port, and nothing behind it: " +
			"\"http://127.0.0.1:8080\"; patterns are not allowed")
	}
	return s, nil
}

// Want is what the settings ask for.
func (c Configured) Want() Want {
	w := Want{Mode: c.Bind}
	if c.Bind == Custom {
		a, err := Parse(c.Custom)
		if err != nil {
			return Want{Mode: Loopback}
		}
		w.Custom = a
	}
	return w
}
