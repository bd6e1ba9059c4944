package config

import (
	"path"
	"strings"
)

func (d *decoder) mcp(n *node, m *MCP) {
	d.object(n, append([]field{
		{"servers", func(n *node) {
			m.Servers = make(map[string]MCPServer, len(n.items))
			d.each(n, func(id string, at int, v *node) {
				if !serverName(id) {
					d.issue(at, "the name of an MCP server has 1 to 24 small letters, digits, - and single _, and begins with a letter or digit: it is "+
						"part of the names of its tools")
					return
				}
				m.Servers[id] = d.mcpServer(v)
			})
		}},
		{"serve", func(n *node) {
			d.object(n, field{"http", func(n *node) {
				d.object(n, field{"enabled", func(n *node) { m.Serve.HTTP.Enabled = d.boolean(n) }})
			}})
		}},
	}, later("sessionIdleTtlMs", "apps")...)...)
}

// serverName: two _ separate the parts of a tool's name.
func serverName(s string) bool {
	if s == "" || len(s) > 24 || strings.Contains(s, "__") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") ||
		strings.HasPrefix(s, "-") {
		return false
	}
	return accountName(s)
}

func (d *decoder) mcpServer(n *node) MCPServer {
	s := MCPServer{Enabled: true, Ask: "on-miss", Sandbox: MCPSandbox{Backend: "auto", Network: true}}
	before := len(d.issues)
	d.object(n, append(append(d.mcpReach(&s), d.mcpRules(&s)...),
		later("sslVerify", "clientCert", "clientKey", "supportsParallelToolCalls")...)...)
	switch {
	case len(d.issues) > before:
	case s.Command == "" && s.URL == "":
		d.issue(n.start, "an MCP server needs command (a program to start) or url (a service), for example { command: \"npx\", args: [\"-y\", "+
			"\"@modelcontextprotocol/server-everything\"] }")
	case s.Command != "" && s.URL != "":
		d.issue(n.start, "an MCP server has either command or url, not both")
	case s.Command != "" && (len(s.Headers) > 0 || s.Auth != "" || s.OAuth != (MCPOAuth{})):
		d.issue(n.start, "headers, auth and oauth belong to url; a program gets its secrets through env")
	}
	return s
}

// mcpReach are the keys about how a server is reached.
func (d *decoder) mcpReach(s *MCPServer) []field {
	return []field{
		{"enabled", func(n *node) { s.Enabled = d.boolean(n) }},
		{"disabled", func(n *node) { s.Enabled = !d.boolean(n) }},
		{"command", func(n *node) { s.Command = d.filled(n, 4096) }},
		{"args", func(n *node) { s.Args = d.mcpTexts(n) }},
		{"cwd", func(n *node) { s.Cwd = d.filled(n, 4096) }},
		{"workingDirectory", func(n *node) { s.Cwd = d.filled(n, 4096) }},
		{"env", func(n *node) {
			s.Env = make(map[string]Secret, len(n.items))
			d.each(n, func(name string, at int, v *node) {
				if !envName(name) {
					d.issue(at, "the name of a variable has only letters, digits and _")
					return
				}
				s.Env[name] = d.key(v)
			})
		}},
		{"transport", func(n *node) { d.mcpTransport(n, s) }},
		{"type", func(n *node) { d.mcpTransport(n, s) }},
		{"url", func(n *node) { s.URL = d.webURL(n) }},
		{"headers", func(n *node) {
			s.Headers = make(map[string]Secret, len(n.items))
			d.each(n, func(name string, at int, v *node) {
				if !headerName(name) {
					d.issue(at, "the name of a header has only letters, digits and -")
					return
				}
				s.Headers[name] = d.key(v)
			})
		}},
		{"auth", func(n *node) { s.Auth = d.choice(n, "oauth") }},
		{"oauth", func(n *node) { d.mcpOAuth(n, &s.OAuth) }},
	}
}

func (d *decoder) mcpTransport(n *node, s *MCPServer) {
	if n.kind == kindString && n.text == "sse" {
		s.Enabled = false
		d.warn(n.start, "\"sse\" is the old way that servers have left behind, so this one is off; ask for its \"streamable-http\" address")
		return
	}
	d.choice(n, "stdio", "streamable-http", "http")
}

func (d *decoder) mcpOAuth(n *node, o *MCPOAuth) {
	d.object(n, append([]field{
		{"scope", func(n *node) { o.Scope = d.text(n, 2048) }},
		{"clientId", func(n *node) { o.ClientID = d.filled(n, 2048) }},
		{"clientSecret", func(n *node) { o.ClientSecret = d.key(n) }},
		{"redirectUrl", func(n *node) { o.RedirectURL = d.webURL(n) }},
		{"identity", func(n *node) { d.choice(n, "shared") }},
	}, later("clientMetadataUrl", "authProfileId")...)...)
}

// mcpRules are the keys about what a server may.
func (d *decoder) mcpRules(s *MCPServer) []field {
	return []field{
		{"tools", func(n *node) {
			d.object(n,
				field{"allow", func(n *node) { s.Tools.Allow = d.mcpPatterns(n) }},
				field{"deny", func(n *node) { s.Tools.Deny = d.mcpPatterns(n) }},
			)
		}},
		{"toolFilter", func(n *node) {
			d.object(n,
				field{"include", func(n *node) { s.Tools.Allow = d.mcpPatterns(n) }},
				field{"exclude", func(n *node) { s.Tools.Deny = d.mcpPatterns(n) }},
			)
		}},
		{"ask", func(n *node) {
			if s.Ask = d.choice(n, "on-miss", "always", "off"); s.Ask == "off" {
				d.warn(n.start, "with \"off\" the assistant uses this server's tools without asking you; only tools that changed are asked for")
			}
		}},
		{"timeoutSeconds", func(n *node) { s.TimeoutSeconds = d.integer(n, 1, 3600) }},
		{"startSeconds", func(n *node) { s.StartSeconds = d.integer(n, 1, 600) }},
		{"requestTimeoutMs", func(n *node) { s.TimeoutSeconds = (d.integer(n, 1, 3600_000) + 999) / 1000 }},
		{"connectionTimeoutMs", func(n *node) { s.StartSeconds = (d.integer(n, 1, 600_000) + 999) / 1000 }},
		{"sandbox", func(n *node) {
			d.object(n,
				field{"backend", func(n *node) { s.Sandbox.Backend = d.choice(n, "auto", "off") }},
				field{"read", func(n *node) { s.Sandbox.Read = d.mcpTexts(n) }},
				field{"write", func(n *node) { s.Sandbox.Write = d.mcpTexts(n) }},
				field{"network", func(n *node) { s.Sandbox.Network = d.boolean(n) }},
			)
		}},
	}
}

func (d *decoder) mcpTexts(n *node) (out []string) {
	d.list(n, func(v *node) { out = append(out, d.text(v, 4096)) })
	return out
}

func (d *decoder) mcpPatterns(n *node) (out []string) {
	d.list(n, func(v *node) {
		p := d.filled(v, 256)
		if _, err := path.Match(p, ""); err != nil {
			d.issue(v.start, "this is no pattern: * stands for any letters, [ needs a ]")
			return
		}
		out = append(out, p)
	})
	return out
}
