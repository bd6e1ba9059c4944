package config

import (
	"slices"
	"strings"
)

// decode reads every known key of a document over the defaults.
func (d *decoder) decode() Config {
	d.begin()
	c := Default()
	c.Channels = defaultChannels(d.networks)
	c.Sections = Values{d.bound}
	fields := []field{
		{"gateway", func(n *node) { d.gateway(n, &c.Gateway) }},
		{"models", func(n *node) { d.models(n, &c.Models) }},
		{"agents", func(n *node) { d.agents(n, &c.Agents) }},
		{"bindings", func(n *node) { c.Bindings = d.bindings(n) }},
		{"session", func(n *node) { d.session(n, &c.Session) }},
		{"messages", func(n *node) { d.messages(n, &c.Messages) }},
		{"channels", func(n *node) { d.channels(n, c.Channels) }},
		{"tools", func(n *node) { d.tools(n, &c.Tools) }},
		{"approvals", func(n *node) { d.approvals(n, &c.Approvals) }},
		{"commands", func(n *node) {
			d.object(n, append([]field{{"ownerAllowFrom", func(n *node) { c.Commands.OwnerAllowFrom = d.owners(n) }}},
				later("native", "nativeSkills", "text", "bash", "bashForegroundMs", "config", "mcp", "plugins", "debug", "restart", "allowFrom",
					"useAccessGroups", "ownerDisplay", "ownerDisplaySecret")...)...)
		}},
		{"surfaces", func(n *node) { c.Surfaces = d.surfaces(n) }},
		{"auth", func(n *node) { d.accounts(n, &c.Auth) }},
		{"discovery", func(n *node) { d.discovery(n, &c.Discovery) }},
		{"logging", func(n *node) { d.logging(n, &c.Logging) }},
		{"secrets", func(n *node) { d.secrets(n, &c.Secrets) }},
		{"hooks", func(n *node) { d.hooks(n, &c.Hooks) }},
		{"features", func(n *node) { c.Features = d.features(n) }},
		{"$schema", func(*node) {}}, // for editors
	}
	d.object(d.doc.root, append(fields, later("meta", "env", "wizard",
		"plugins", "browser", "ui", "web", "update",
		"broadcast", "talk", "audio", "media", "canvasHost", "nodeHost", "acp",
		"diagnostics")...)...)
	d.bindingsKnown(&c)
	d.secretsApart(&c)
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

// features reads which features are switched on or off; package gateway knows
// their names.
func (d *decoder) features(n *node) map[string]bool {
	out := make(map[string]bool, len(n.items))
	d.each(n, func(name string, _ int, v *node) { out[name] = d.boolean(v) })
	return out
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
		{"token", func(n *node) { a.Token = d.token(n) }},
	}
	d.object(n, append(fields, later("password", "allowTailscale", "rateLimit", "trustedProxy")...)...)
}

// ShortToken is the length below which a token does not serve other machines.
const ShortToken = 16

// token guards everything: an empty one is refused, one that can be guessed serves
// this machine only.
func (d *decoder) token(n *node) Secret {
	return d.secret(n, 512, func(s string) string {
		if s == "" {
			return "an empty token would let everybody in; remove the key to let Hearth make one"
		}
		if len(s) < ShortToken {
			d.warn(n.start, "it has fewer than %d characters, so it counts on this machine only; while other machines can reach Hearth it uses "+
				"one that it made. Make it longer, or remove the key", ShortToken)
		}
		return ""
	})
}

func (d *decoder) models(n *node, m *Models) {
	fields := []field{{"providers", func(n *node) {
		m.Providers = make(map[string]Provider, len(n.items))
		d.each(n, func(id string, at int, v *node) {
			if !providerID(id) {
				d.issue(at, "a provider's name has 1 to 64 letters, digits, - _ . and no / or spaces")
				return
			}
			var p Provider
			d.provider(v, &p)
			m.Providers[id] = p
		})
	}}, {"pricing", func(n *node) { d.pricing(n, m) }}}
	d.object(n, append(fields, later("mode", "bedrockDiscovery")...)...)
}

// providerID: the part of "provider/model" before the first slash.
func providerID(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r <= ' ' || r == 0x7f
	})
}

func (d *decoder) provider(n *node, p *Provider) {
	fields := []field{
		{"baseUrl", func(n *node) { p.BaseURL = d.webURL(n) }},
		{"apiKey", func(n *node) { p.APIKey = d.key(n) }},
		{"api", func(n *node) {
			p.API = d.choice(n, APIOpenAICompletions, APIOpenAIResponses, APIAnthropic, APIGoogle, APIOllama, APIBedrock)
		}},
		{"models", func(n *node) {
			d.list(n, func(v *node) {
				var m Model
				d.model(v, &m)
				p.Models = append(p.Models, m)
			})
		}},
	}
	fields = append(fields, d.reachFields(p)...)
	d.object(n, append(fields, later("auth", "injectNumCtxForOpenAICompat", "request", "region")...)...)
}

func (d *decoder) model(n *node, m *Model) {
	fields := []field{
		{"id", func(n *node) { m.ID = d.filled(n, 256) }},
		{"name", func(n *node) { m.Name = d.text(n, 256) }},
		{"contextWindow", func(n *node) { m.ContextWindow = d.integer(n, 1, 100_000_000) }},
		{"maxTokens", func(n *node) { m.MaxTokens = d.integer(n, 1, 100_000_000) }},
		{"cost", func(n *node) { m.Cost = new(d.price(n)) }},
		{"reasoning", func(n *node) { m.Reasoning = d.boolean(n) }},
		{"input", func(n *node) {
			d.list(n, func(v *node) { m.Input = append(m.Input, d.choice(v, "text", "image", "audio", "video", "document")) })
		}},
	}
	before := len(d.issues)
	d.object(n, append(fields, later("api", "headers", "compat", "contextTokens", "params")...)...)
	if m.ID == "" && len(d.issues) == before {
		d.issue(n.start, "a model needs an id, for example { id: \"llama3.2\" }")
	}
}

func (d *decoder) agents(n *node, a *Agents) {
	d.object(n, field{"defaults", func(n *node) { d.agentDefaults(n, &a.Defaults) }}, field{"list", func(n *node) { a.List = d.agentList(n) }})
}

func (d *decoder) agentDefaults(n *node, a *AgentDefaults) {
	fields := []field{
		{"model", func(n *node) { a.Model = d.modelChoice(n) }},
		{"models", func(n *node) { a.Models = d.catalogue(n) }},
		{"workspace", func(n *node) { a.Workspace = d.filled(n, 4096) }},
		{"timeoutSeconds", func(n *node) { a.TimeoutSeconds = d.integer(n, 1, 86_400) }},
		{"maxConcurrent", func(n *node) { a.MaxConcurrent = d.integer(n, 1, 10_000) }},
		{"maxTokens", func(n *node) { a.MaxTokens = d.integer(n, 1, 100_000_000) }},
		{"subagents", func(n *node) { d.subagents(n, &a.Subagents) }},
		{"imageModel", func(n *node) { a.ImageModel = d.modelChoice(n) }},
		{"contextLimits", func(n *node) { d.contextLimits(n, &a.ContextLimits) }},
		{"skills", func(n *node) { a.Skills = d.skillNames(n) }},
	}
	fields = append(append(fields, d.conversation(&a.Conversation)...), d.bootstrap(&a.Bootstrap)...)
	d.object(n, append(fields, later("imageMaxDimensionPx", "imageGenerationModel", "pdfModel",
		"repoRoot", "contextTokens", "contextPruning", "compaction",
		"thinkingDefault", "verboseDefault", "elevatedDefault", "reasoningDefault",
		"mediaMaxMb", "typingIntervalSeconds", "typingMode", "sandbox",
		"cliBackends", "params")...)...)
}

// modelChoice reads "provider/model" or { primary, fallbacks }.
func (d *decoder) modelChoice(n *node) (m ModelChoice) {
	if n.kind == kindString {
		m.Primary = d.modelRef(n)
		return m
	}
	if n.kind != kindObject {
		d.wrongKind(n, "a text like \"provider/model\" or an object { primary, fallbacks }")
		return m
	}
	d.object(n,
		field{"primary", func(n *node) { m.Primary = d.modelRef(n) }},
		field{"fallbacks", func(n *node) {
			d.list(n, func(v *node) { m.Fallbacks = append(m.Fallbacks, d.modelRef(v)) })
		}})
	return m
}

func (d *decoder) modelRef(n *node) string {
	before := len(d.issues)
	s := strings.TrimSpace(d.filled(n, 512))
	provider, model, ok := strings.Cut(s, "/")
	if len(d.issues) == before && (!ok || !providerID(provider) || model == "") {
		d.issue(n.start, "a model is named \"provider/model\", for example \"ollama/llama3.2\"")
	}
	return s
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
