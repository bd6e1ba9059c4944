package config

import (
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Config is what the file says, with defaults filled in. Treat it as read-only:
// it is shared between all readers.
type Config struct {
	Commands  Commands  `json:"commands,omitzero"`
	Auth      Accounts  `json:"auth"`
	Discovery Discovery `json:"discovery"`
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

// Default is what holds without a file: the strictest and simplest settings.
func Default() Config {
	return Config{
		Discovery: Discovery{MDNS: MDNSMinimal},
		Auth:      defaultAccounts(),
		Secrets:   Secrets{Backend: SecretsAuto},
	}
}

// Clone copies everything that can be changed.
func (c Config) Clone() Config {
	c.Auth, c.Secrets = c.Auth.clone(), c.Secrets.clone()
	return c
}

// Secret is a key, token or password as the file says it: the text itself or
// where it is found. It shows neither when it is printed.
type Secret = secret.Setting
