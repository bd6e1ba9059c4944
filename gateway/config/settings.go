package config

import (
	"log/slog"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Config is what the file says, with defaults filled in. Treat it as read-only:
// it is shared between all readers.
type Config struct {
	Gateway   Gateway   `json:"gateway"`
	Commands  Commands  `json:"commands,omitzero"`
	Auth      Accounts  `json:"auth"`
	Discovery Discovery `json:"discovery"`
	Logging   Logging   `json:"logging"`
	Secrets   Secrets   `json:"secrets"`
	// Sections are the settings of which package config knows nothing: each owner
	// asks for its own (Settings.Of).
	Sections Values `json:"-"`
}

// Commands says who may use the owner's commands.
type Commands struct {
	// OwnerAllowFrom are the owner's accounts on messaging networks:
	// "NETWORK:123", or an id on any network. Who may write is another list.
	OwnerAllowFrom []string `json:"ownerAllowFrom,omitempty"`
}

// Gateway says where the gateway listens and who may talk to it.
type Gateway struct {
	Port int    `json:"port"` // 0: 18789, or the next free port
	Bind string `json:"bind"` // one of the Bind constants
	// CustomBindHost is the address of BindCustom.
	CustomBindHost string    `json:"customBindHost,omitempty"`
	Nodes          Nodes     `json:"nodes"`
	Auth           Auth      `json:"auth"`
	HTTP           HTTP      `json:"http"`
	ControlUI      ControlUI `json:"controlUi,omitzero"`
}

// Auth is how clients prove themselves.
type Auth struct {
	Mode  string `json:"mode"`           // AuthToken
	Token Secret `json:"token,omitzero"` // empty: the generated token of the state folder
}

// AuthToken is the only mode for now: a shared token.
const AuthToken = "token"

// Logging is about the gateway's own log.
type Logging struct {
	Level string `json:"level"` // debug, info, warn, error
}

// Default is what holds without a file: the strictest and simplest settings.
func Default() Config {
	return Config{
		Discovery: Discovery{MDNS: MDNSMinimal},
		Gateway:   Gateway{Bind: BindLoopback, Auth: Auth{Mode: AuthToken}},
		Auth:      defaultAccounts(),
		Logging:   Logging{Level: "info"},
		Secrets:   Secrets{Backend: SecretsAuto},
	}
}

// Clone copies everything that can be changed.
func (c Config) Clone() Config {
	c.Auth, c.Secrets = c.Auth.clone(), c.Secrets.clone()
	c.Gateway.Nodes.Allow, c.Gateway.Nodes.Deny = slices.Clone(c.Gateway.Nodes.Allow), slices.Clone(c.Gateway.Nodes.Deny)
	return c
}

// SlogLevel is the level as log/slog counts it.
func (l Logging) SlogLevel() slog.Level {
	switch l.Level {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Secret is a key, token or password as the file says it: the text itself or
// where it is found. It shows neither when it is printed.
type Secret = secret.Setting
