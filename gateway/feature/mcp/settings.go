package mcp

import (
	"errors"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Set are the MCP servers of the settings, and Hearth as one.
type Set struct {
	Servers map[string]ServerSettings
	Serves  bool // at /mcp, for programs with a token
}

// ServerSettings is one server: a program (command) or a service (url).
type ServerSettings struct {
	Enabled bool
	Command string
	Args    []string
	Env     map[string]config.Secret
	Cwd     string
	URL     string
	Headers map[string]config.Secret
	Auth    string // "", oauth
	OAuth   OAuth

	Allow          []string // of its tools, by its own names; empty: all
	Deny           []string
	Ask            string // on-miss, always, off
	TimeoutSeconds int
	StartSeconds   int
	Sandbox        Sandbox
}

// OAuth is about logging in at a service.
type OAuth struct {
	Scope        string
	ClientID     string
	ClientSecret config.Secret
	RedirectURL  string
}

// Sandbox is what a program may touch.
type Sandbox struct {
	Backend string // auto, off
	Read    []string
	Write   []string
	Network bool
}

// clientSecretPath is the setting of the secret that Hearth logs in with.
func clientSecretPath(id string) string { return "mcp.servers." + id + ".oauth.clientSecret" }

// Section are the settings of MCP.
var Section = &config.Settings[Set]{
	Path: "mcp",
	Fields: func(s *Set) []config.Field {
		return []config.Field{
			config.Map[ServerSettings]{
				Key: "servers", Name: "<id>", To: &s.Servers, Is: serverName, One: one,
				New: func(string) ServerSettings {
					return ServerSettings{Enabled: true, Ask: "on-miss", Sandbox: Sandbox{Backend: "auto", Network: true}}
				},
			},
			config.Object{Key: "serve", Fields: []config.Field{config.Object{Key: "http", Fields: []config.Field{config.Switch{
				Key: "enabled", To: &s.Serves,
				Help: "Hearth's own MCP server at `/mcp`, for programs with a token that has the right `mcp`",
			}}}}},
			config.Later("sessionIdleTtlMs", "apps"),
		}
	},
}

// serverName: two _ separate the parts of a tool's name.
func serverName(s string) error {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	if s == "" || len(s) > 24 || strings.Contains(s, "__") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") ||
		strings.HasPrefix(s, "-") || strings.ContainsFunc(s, other) {
		return errors.New("the name of an MCP server has 1 to 24 small letters, digits, - and single _, and begins with a letter or digit: " +
			"it is part of the names of its tools")
	}
	return nil
}

func one(_ string, s *ServerSettings) config.Field {
	fields := append(append(s.reach(), s.rules()...), config.Later("sslVerify", "clientCert", "clientKey", "supportsParallelToolCalls"))
	return config.Object{Fields: fields, Check: s.check}
}

func (s *ServerSettings) check() error {
	switch {
	case s.Command == "" && s.URL == "":
		return errors.New("an MCP server needs command (a program to start) or url (a service), for example " +
			"{ command: \"npx\", args: [\"-y\", \"@modelcontextprotocol/server-everything\"] }")
	case s.Command != "" && s.URL != "":
		return errors.New("an MCP server has either command or url, not both")
	case s.Command != "" && (len(s.Headers) > 0 || s.Auth != "" || s.OAuth != (OAuth{})):
		return errors.New("headers, auth and oauth belong to url; a program gets its secrets through env")
	}
	return nil
}

// reach are the keys about how a server is reached.
func (s *ServerSettings) reach() []config.Field {
	enabled := config.Switch{Key: "enabled", To: &s.Enabled, Help: "whether it is used"}
	off := config.Switch{To: &s.Enabled, Not: true}
	cwd := config.Text{Key: "cwd", To: &s.Cwd, Help: "where the program runs", Hint: config.Hint{Default: "an empty folder"}}
	transport := config.Any{
		Key: "transport", Read: s.transport, Like: config.Choice{Among: []string{"stdio", "streamable-http", "http"}},
		Help: "`stdio`, `streamable-http` or `http`; it is not needed", Hint: config.Hint{Default: "by the other keys"},
	}
	return []config.Field{
		config.Text{Key: "command", To: &s.Command, Help: "a program to start; or `url`"},
		config.Texts{Key: "args", To: &s.Args, Empty: true, Unset: true, Help: "what it is started with"},
		config.Text{Key: "url", To: &s.URL, Max: 2048, Is: config.WebAddress, Help: "a service (streamable HTTP)"},
		config.Map[config.Secret]{
			Key: "env", To: &s.Env, Is: config.VariableName, One: perhaps,
			Help: "variables for the program, beside the few that every command gets; values may be secrets",
		},
		config.Map[config.Secret]{
			Key: "headers", To: &s.Headers, Is: config.HeaderName, One: header,
			Help: "sent to the service with every request; values may be secrets",
		},
		config.Choice{
			Key: "auth", To: &s.Auth, Among: []string{"oauth"},
			Help: "`oauth`: the token of `hearth mcp login` is used even beside an `Authorization` header",
		},
		config.Object{Key: "oauth", Fields: s.OAuth.fields()},
		cwd, config.Alias("workingDirectory", cwd), transport, config.Alias("type", transport), enabled, config.Alias("disabled", off),
	}
}

// perhaps is a variable, and header one that is never shown.
func perhaps(_ string, to *config.Secret) config.Field { return config.Hidden{To: to, Perhaps: true} }

func header(_ string, to *config.Secret) config.Field {
	return config.Hidden{To: to, Perhaps: true, Covered: true}
}

func (s *ServerSettings) transport(v config.Value) {
	if word, _ := v.Word(); word == "sse" {
		s.Enabled = false
		v.Warn("\"sse\" is the old way that servers have left behind, so this one is off; ask for its \"streamable-http\" address")
		return
	}
	v.Choice("stdio", "streamable-http", "http")
}

func (o *OAuth) fields() []config.Field {
	return []config.Field{
		config.Text{
			Key: "scope", To: &o.Scope, Max: 2048, Empty: true, Help: "what a login is for, words with spaces between",
			Hint: config.Hint{Default: "what the service asks for"},
		},
		config.Text{
			Key: "clientId", To: &o.ClientID, Max: 2048, Help: "a client that you made at the service",
			Hint: config.Hint{Default: "Hearth makes itself known"},
		},
		config.Hidden{Key: "clientSecret", To: &o.ClientSecret, Help: "its secret, where it has one"},
		config.Text{
			Key: "redirectUrl", To: &o.RedirectURL, Max: 2048, Is: config.WebAddress, Hint: config.Hint{Default: "anywhere on this computer"},
			Help: "where that client's browser comes back to, for example `http://127.0.0.1:8765/callback`",
		},
		config.Choice{Key: "identity", Among: []string{"shared"}, Help: "the only one: a login is the gateway's"},
		config.Later("clientMetadataUrl", "authProfileId"),
	}
}

// rules are the keys about what a server may.
func (s *ServerSettings) rules() []config.Field {
	patterns := func(key string, to *[]string, words, help string) config.Field {
		return config.Texts{Key: key, To: to, Max: 256, Is: pattern, Unset: true, Help: help, Hint: config.Hint{Default: words}}
	}
	seconds := func(key string, to *int, most int) config.Field {
		return config.Any{Key: key, Read: func(v config.Value) { *to = (v.Number(1, most) + 999) / 1000 }}
	}
	return []config.Field{
		config.Object{Key: "tools", Fields: []config.Field{
			patterns("allow", &s.Allow, "all", "which of its tools, by its own names; `*` stands for any letters. "+
				"`toolFilter.include` means the same"),
			patterns("deny", &s.Deny, "none", "which of them not. `toolFilter.exclude` means the same"),
		}},
		config.Alias("toolFilter", config.Object{Fields: []config.Field{
			patterns("include", &s.Allow, "", ""), patterns("exclude", &s.Deny, "", ""),
		}}),
		config.Choice{
			Key: "ask", To: &s.Ask, Among: []string{"on-miss", "always", "off"}, Read: asked,
			Help: "ask for a tool that no rule allows; `always`: every time; `off`: never, but for tools that changed",
		},
		config.Number{
			Key: "timeoutSeconds", To: &s.TimeoutSeconds, Min: 1, Max: 3600, Help: "how long a call may take. Also `requestTimeoutMs`",
			Hint: config.Hint{Default: "60"},
		},
		config.Number{
			Key: "startSeconds", To: &s.StartSeconds, Min: 1, Max: 600, Help: "how long it may take to start. Also `connectionTimeoutMs`",
			Hint: config.Hint{Default: "30"},
		},
		config.Alias("requestTimeoutMs", seconds("", &s.TimeoutSeconds, 3600_000)),
		config.Alias("connectionTimeoutMs", seconds("", &s.StartSeconds, 600_000)),
		config.Object{Key: "sandbox", Fields: []config.Field{
			config.Choice{
				Key: "backend", To: &s.Sandbox.Backend, Among: []string{"auto", "off"},
				Help: "`off` lets the program touch everything that you can",
			},
			config.Texts{Key: "read", To: &s.Sandbox.Read, Empty: true, Unset: true, Help: "folders beside its own that it may read"},
			config.Texts{Key: "write", To: &s.Sandbox.Write, Empty: true, Unset: true, Help: "folders beside its own that it may change"},
			config.Switch{Key: "network", To: &s.Sandbox.Network, Help: "whether it may reach a network"},
		}},
	}
}

func asked(v config.Value) string {
	s := v.Choice("on-miss", "always", "off")
	if s == "off" {
		v.Warn("with \"off\" the assistant uses this server's tools without asking you; only tools that changed are asked for")
	}
	return s
}

func pattern(s string) (string, error) {
	if _, err := path.Match(s, ""); err != nil {
		return "", errors.New("this is no pattern: * stands for any letters, [ needs a ]")
	}
	return s, nil
}
