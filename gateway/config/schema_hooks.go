package config

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/webhook"
)

func (d *decoder) hooks(n *node, h *Hooks) {
	d.object(n, append([]field{
		{"enabled", func(n *node) { h.Enabled = d.boolean(n) }},
		{"token", func(n *node) { h.Token = d.token(n) }},
		{"path", func(n *node) { h.Path = d.hookPath(n, h.Path) }},
		{"allowedAgentIds", func(n *node) { h.AllowedAgentIDs = d.hookWords(n) }},
		{"defaultSessionKey", func(n *node) { h.DefaultSessionKey = d.filled(n, 256) }},
		{"allowRequestSessionKey", func(n *node) { h.AllowRequestSessionKey = d.boolean(n) }},
		{"allowedSessionKeyPrefixes", func(n *node) { h.AllowedSessionKeyPrefixes = d.hookWords(n) }},
		{"presets", func(n *node) {
			for _, p := range d.hookWords(n) {
				if p != "gmail" {
					d.warn(n.start, "there is no preset %s; \"gmail\" is the one there is", quote(p))
				}
				h.Presets = append(h.Presets, p)
			}
		}},
		{"mappings", func(n *node) { d.list(n, func(v *node) { h.Mappings = append(h.Mappings, d.hookMapping(v)) }) }},
		{"perMinute", func(n *node) { h.PerMinute = d.integer(n, 1, 100_000) }},
		{"internal", func(n *node) { d.hooksInternal(n, &h.Internal) }},
	}, later("transformsDir", "gmail", "maxBodyBytes")...)...)
	d.hooksWhole(n, h)
}

// hooksWhole holds the keys against each other.
func (d *decoder) hooksWhole(n *node, h *Hooks) {
	signed := slices.ContainsFunc(h.Mappings, func(m HookMapping) bool { return m.Signature != nil })
	if h.Enabled && h.Token.IsZero() && !signed {
		d.issue(n.start, "hooks.enabled needs hooks.token, or a mapping with a signature: without one anybody could call. "+
			"`hearth config set hooks.token \"$(openssl rand -hex 24)\"` makes one")
	}
	if len(h.AllowedSessionKeyPrefixes) == 0 {
		if h.AllowRequestSessionKey {
			h.AllowRequestSessionKey = false
			d.warn(n.start, "allowRequestSessionKey has no effect without allowedSessionKeyPrefixes: a caller could write into every conversation. "+
				"Say which keys it may use, for example [\"hook:\"]")
		}
		return
	}
	key := h.DefaultSessionKey
	if key == "" {
		key = "hook:example"
	}
	if !HasPrefixFold(key, h.AllowedSessionKeyPrefixes) {
		d.issue(n.start, "hooks.allowedSessionKeyPrefixes does not allow %s, which is what a call without a key gets", quote(key))
	}
}

// HasPrefixFold reports whether a text begins with one of some words, in any case.
func HasPrefixFold(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		p = strings.TrimSpace(p)
		return p != "" && len(s) >= len(p) && strings.EqualFold(s[:len(p)], p)
	})
}

func (d *decoder) hookPath(n *node, before string) string {
	p := "/" + strings.Trim(strings.TrimSpace(d.filled(n, 128)), "/")
	first, _, _ := strings.Cut(p[1:], "/")
	switch {
	case p == "/":
		d.issue(n.start, "hooks.path may not be \"/\": that is the page; \"/hooks\" is the usual one")
		return before
	case slices.Contains([]string{"api", "v1", "mcp", "assets", "health", "healthz", "ready", "readyz", "phone"}, strings.ToLower(first)):
		d.issue(n.start, "hooks.path may not begin with /%s, which Hearth uses for something else", first)
		return before
	case strings.ContainsFunc(p, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '/')
	}), strings.Contains(p, "//"):
		d.issue(n.start, "hooks.path has letters, digits, - _ and / only")
		return before
	}
	return p
}

func (d *decoder) hookWords(n *node) []string {
	out := []string{}
	d.list(n, func(v *node) {
		if s := strings.TrimSpace(d.text(v, 256)); s != "" {
			out = append(out, s)
		}
	})
	return out
}

// hookText is a template: it may have lines.
func (d *decoder) hookText(n *node) string {
	switch {
	case n.kind != kindString:
		d.wrongKind(n, "a text in quotation marks")
		return ""
	case len(n.text) > 64<<10:
		d.issue(n.start, "this text is longer than 64 KB")
		return ""
	case !utf8.ValidString(n.text):
		d.issue(n.start, "this text is not valid UTF-8")
		return ""
	}
	return n.text
}

func (d *decoder) hookMapping(n *node) HookMapping {
	m := HookMapping{Action: "agent", WakeMode: "now", SessionMode: "isolated", Deliver: true}
	d.object(n, append([]field{
		{"id", func(n *node) { m.ID = d.filled(n, 128) }},
		{"match", func(n *node) {
			d.object(n,
				field{"path", func(n *node) { m.Match.Path = strings.Trim(d.text(n, 256), "/ ") }},
				field{"source", func(n *node) { m.Match.Source = d.text(n, 256) }})
		}},
		{"action", func(n *node) { m.Action = d.choice(n, "agent", "wake") }},
		{"wakeMode", func(n *node) { m.WakeMode = d.choice(n, "now", "next-heartbeat") }},
		{"sessionMode", func(n *node) { m.SessionMode = d.choice(n, "isolated", "persistent") }},
		{"name", func(n *node) { m.Name = d.text(n, 256) }},
		{"agentId", func(n *node) { m.AgentID = d.text(n, 64) }},
		{"sessionKey", func(n *node) { m.SessionKey = d.text(n, 256) }},
		{"messageTemplate", func(n *node) { m.MessageTemplate = d.hookText(n) }},
		{"textTemplate", func(n *node) { m.TextTemplate = d.hookText(n) }},
		{"forEach", func(n *node) {
			if m.ForEach = d.text(n, 128); strings.ContainsAny(m.ForEach, ".[]") {
				d.issue(n.start, "forEach is the name of a list at the top of what is sent, for example \"messages\"")
			}
		}},
		{"deliver", func(n *node) { m.Deliver = d.boolean(n) }},
		{"channel", func(n *node) { m.Channel = d.text(n, 64) }},
		{"to", func(n *node) { m.To = d.text(n, 256) }},
		{"accountId", func(n *node) { m.AccountID = d.text(n, 64) }},
		{"model", func(n *node) { m.Model = d.text(n, 256) }},
		{"thinking", func(n *node) { m.Thinking = d.text(n, 32) }},
		{"timeoutSeconds", func(n *node) { m.TimeoutSeconds = d.integer(n, 1, 86_400) }},
		{"perMinute", func(n *node) { m.PerMinute = d.integer(n, 1, 100_000) }},
		{"signature", func(n *node) { m.Signature = d.hookSignature(n) }},
	}, later("transform", "allowUnsafeExternalContent")...)...)
	switch {
	case m.Action == "wake" && strings.TrimSpace(m.TextTemplate) == "":
		d.issue(n.start, "a mapping with the action wake needs textTemplate: what the assistant is told")
	case m.Action == "agent" && strings.TrimSpace(m.MessageTemplate) == "":
		d.issue(n.start, "a mapping needs messageTemplate: what the assistant is asked, for example \"Tell me about this\\n{{payload}}\"")
	case m.Signature != nil && m.Match.Path == "":
		d.issue(n.start, "a mapping with a signature needs match.path: the address that the service calls")
	case m.Action == "wake" && m.WakeMode == "next-heartbeat" && m.SessionKey != "":
		d.issue(n.start, "sessionKey needs wakeMode \"now\": what waits for the next heartbeat goes into the main session")
	}
	return m
}

func (d *decoder) hookSignature(n *node) *HookSignature {
	s := &HookSignature{}
	header := func(n *node) string {
		name := d.filled(n, 128)
		if strings.ContainsFunc(name, func(r rune) bool {
			return r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		}) {
			d.issue(n.start, "the name of a header has letters, digits and - only")
		}
		return name
	}
	d.object(n,
		field{"kind", func(n *node) { s.Kind = d.choice(n, webhook.Kinds()...) }},
		field{"secret", func(n *node) { s.Secret = d.key(n) }},
		field{"header", func(n *node) { s.Header = header(n) }},
		field{"prefix", func(n *node) { s.Prefix = d.text(n, 64) }},
		field{"encoding", func(n *node) { s.Encoding = d.choice(n, "hex", "base64") }},
		field{"algorithm", func(n *node) { s.Algorithm = d.choice(n, "sha256", "sha512", "sha1") }},
		field{"timestampHeader", func(n *node) { s.TimestampHeader = header(n) }},
	)
	switch {
	case s.Kind == "":
		d.issue(n.start, "kind is missing: which service signs? It is one of %s", strings.Join(webhook.Kinds(), ", "))
	case s.Secret.IsZero():
		d.issue(n.start, "secret is missing: a signature without a secret proves nothing")
	}
	return s
}

func (d *decoder) hooksInternal(n *node, h *HooksInternal) {
	d.object(n, append([]field{
		{"enabled", func(n *node) { h.Enabled = new(d.boolean(n)) }},
		{"entries", func(n *node) {
			h.Entries = make(map[string]HookEntry, len(n.items))
			d.each(n, func(key string, _ int, v *node) { h.Entries[key] = d.hookEntry(v) })
		}},
		{"load", func(n *node) {
			d.object(n, field{"extraDirs", func(n *node) {
				d.list(n, func(v *node) { h.ExtraDirs = append(h.ExtraDirs, d.folder(v)) })
			}})
		}},
	}, later("installs", "handlers")...)...)
}

// hookEntry reads what is the gateway's of an entry; the rest is the hook's own.
func (d *decoder) hookEntry(n *node) (e HookEntry) {
	if n.kind != kindObject {
		d.wrongKind(n, kindObject.String())
		return e
	}
	own := *n
	own.items = nil
	for _, it := range n.items {
		d.path = append(d.path, Key(it.key))
		switch it.key {
		case "enabled":
			e.Enabled = new(d.boolean(it.value))
		case "env":
			e.Env = make(map[string]Secret, len(it.value.items))
			d.each(it.value, func(name string, at int, v *node) {
				if VariableName(name) != nil {
					d.issue(at, "the name of an environment variable has letters, digits and _ only, for example MY_API_KEY")
					return
				}
				e.Env[name] = d.key(v)
			})
		default:
			own.items = append(own.items, it)
		}
		d.path = d.path[:len(d.path)-1]
	}
	e.Options = appendJSON(nil, &own)
	return e
}

// hooksApart: a token that opens the gateway must not be what other services hold.
func (d *decoder) hooksApart(c *Config) {
	same := func(path Path, s Secret, other string, o Secret) {
		n, ok := d.doc.find(path)
		if !ok || s.IsZero() || !s.Equal(o) {
			return
		}
		d.path = path
		d.issue(n.start, "it is the same as %s, so that whoever may call a hook could do more. Give each its own", other)
		d.path = nil
	}
	hooks := Path{Key("hooks")}
	same(append(hooks[:1:1], Key("token")), c.Hooks.Token, "gateway.auth.token", c.Gateway.Auth.Token)
	for i, m := range c.Hooks.Mappings {
		if m.Signature != nil {
			at := append(hooks[:1:1], Key("mappings"), Index(i), Key("signature"), Key("secret"))
			same(at, m.Signature.Secret, "gateway.auth.token", c.Gateway.Auth.Token)
			same(at, m.Signature.Secret, HookTokenPath, c.Hooks.Token)
		}
	}
}

// folder reads a path that means the same wherever Hearth was started.
func (d *decoder) folder(n *node) (p string) {
	Text{To: &p, Is: Folder}.read(Value{d, n})
	return p
}
