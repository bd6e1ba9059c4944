package config

import (
	"maps"
	"slices"
)

// Secrets says where keys, tokens and passwords are kept and found.
type Secrets struct {
	Backend   string                    `json:"backend"` // one of the Secrets constants
	Providers map[string]SecretProvider `json:"providers,omitempty"`
	Defaults  map[string]string         `json:"defaults,omitempty"` // source → provider
}

// Where Hearth keeps secrets.
const (
	SecretsAuto     = "auto"     // the keychain, or the vault once there is one
	SecretsKeychain = "keychain" // of the system
	SecretsVault    = "vault"    // a file under a passphrase
	SecretsPlain    = "plain"    // a private file, readable by every program of the user
)

// SecretProvider is a named source for references.
type SecretProvider struct {
	Source    string   `json:"source"` // env, file, exec
	Path      string   `json:"path,omitempty"`
	Mode      string   `json:"mode,omitempty"` // of a file: singleValue, json
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	PassEnv   []string `json:"passEnv,omitempty"`
	Allowlist []string `json:"allowlist,omitempty"` // of env
	TimeoutMs int      `json:"timeoutMs,omitempty"`
	MaxBytes  int      `json:"maxBytes,omitempty"`
}

func (s Secrets) clone() Secrets {
	s.Providers, s.Defaults = maps.Clone(s.Providers), maps.Clone(s.Defaults)
	for id, p := range s.Providers {
		p.Args, p.PassEnv, p.Allowlist = slices.Clone(p.Args), slices.Clone(p.PassEnv), slices.Clone(p.Allowlist)
		s.Providers[id] = p
	}
	return s
}
