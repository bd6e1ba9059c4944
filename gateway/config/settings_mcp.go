package config

import (
	"maps"
	"slices"
)

// MCP is about tools from outside, by the Model Context Protocol.
type MCP struct {
	Servers map[string]MCPServer `json:"servers,omitempty"`
	Serve   MCPServe             `json:"serve"`
}

// MCPServe is about Hearth as a server of others.
type MCPServe struct {
	HTTP MCPServeHTTP `json:"http"`
}

// MCPServeHTTP is the server at /mcp, for programs with a token.
type MCPServeHTTP struct {
	Enabled bool `json:"enabled"`
}

// MCPServer is one server: a program (command) or a service (url).
type MCPServer struct {
	Enabled bool              `json:"enabled"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]Secret `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]Secret `json:"headers,omitempty"`
	Auth    string            `json:"auth,omitempty"` // "", oauth
	OAuth   MCPOAuth          `json:"oauth,omitzero"`

	Tools          MCPTools   `json:"tools"`
	Ask            string     `json:"ask"` // on-miss, always, off
	TimeoutSeconds int        `json:"timeoutSeconds,omitempty"`
	StartSeconds   int        `json:"startSeconds,omitempty"`
	Sandbox        MCPSandbox `json:"sandbox"`
}

// MCPOAuth is about logging in at a service.
type MCPOAuth struct {
	Scope        string `json:"scope,omitempty"`
	ClientID     string `json:"clientId,omitempty"`
	ClientSecret Secret `json:"clientSecret,omitzero"`
	RedirectURL  string `json:"redirectUrl,omitempty"`
}

// MCPTools chooses among the tools of a server, by its own names.
type MCPTools struct {
	Allow []string `json:"allow,omitempty"` // empty: all
	Deny  []string `json:"deny,omitempty"`
}

// MCPSandbox is what a program may touch.
type MCPSandbox struct {
	Backend string   `json:"backend"` // auto, off
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	Network bool     `json:"network"`
}

func (m MCP) clone() MCP {
	m.Servers = maps.Clone(m.Servers)
	for id, s := range m.Servers {
		s.Args, s.Env, s.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
		s.Tools.Allow, s.Tools.Deny = slices.Clone(s.Tools.Allow), slices.Clone(s.Tools.Deny)
		s.Sandbox.Read, s.Sandbox.Write = slices.Clone(s.Sandbox.Read), slices.Clone(s.Sandbox.Write)
		m.Servers[id] = s
	}
	return m
}
