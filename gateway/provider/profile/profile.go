// Package profile keeps the accounts by which model services are reached: API
// keys, tokens and OAuth logins, several of them for one service. It owns which
// account is next (rotation, pins, cooldowns, billing disables), which hosts an
// account's key may be sent to, and that a login is renewed once however many
// calls need it.
//
// It sends no model call, knows no dialect, and stores nothing itself: where
// records and credentials lie, and how a login is renewed, is handed in.
package profile

import (
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Type is how an account proves itself. The order of rotation follows it: OAuth
// before tokens before keys.
type Type string

const (
	OAuth  Type = "oauth"
	Token  Type = "token"
	APIKey Type = "api_key"
	None   Type = "none" // a service that asks for no key
)

// rank orders types for rotation.
func (t Type) rank() int {
	switch t {
	case OAuth:
		return 0
	case Token:
		return 1
	case APIKey:
		return 2
	}
	return 3
}

// Valid reports whether a person may configure the type.
func (t Type) Valid() bool { return t == OAuth || t == Token || t == APIKey }

// Where an account comes from.
const (
	SourceStored = "stored" // a login or key that a person gave to Hearth
	SourceConfig = "config" // models.providers.<id>.apiKey
	SourceEnv    = "env"    // a variable of the environment
)

// Profile is one account at one service.
type Profile struct {
	ID       string `json:"id"` // "provider:name"
	Provider string `json:"provider"`
	Type     Type   `json:"type"`
	Email    string `json:"email,omitempty"`
}

// Names of the profiles that nobody has to make.
const (
	NameDefault = "default" // the key of the config, and a login that has no name
	NameEnv     = "env"     // a key of the environment
)

// maxID leaves room for the prefix that every place of secrets allows.
const maxID = 190

// ID is the name of an account: "provider:name".
func ID(provider, name string) string {
	if name == "" {
		name = NameDefault
	}
	return provider + ":" + name
}

// SplitID takes an ID apart; ok is false for a text that is none.
func SplitID(id string) (provider, name string, ok bool) {
	provider, name, ok = strings.Cut(id, ":")
	if !ok || provider == "" || name == "" || len(id) > maxID {
		return "", "", false
	}
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:@+", r)
	}
	return provider, name, !strings.ContainsFunc(id, bad)
}

// ParseRef reads "provider/model@profile". The profile starts at the first @
// after the last slash, so that it may be an e-mail address; a version like
// @20250101 belongs to the model. A profile without a provider's name is one of
// the model's provider.
func ParseRef(s string) (ref model.Ref, id string, ok bool) {
	s = strings.TrimSpace(s)
	name, id := cutProfile(s)
	if ref, ok = model.ParseRef(name); !ok {
		return model.Ref{}, "", false
	}
	if id == "" {
		return ref, "", true
	}
	if !strings.Contains(id, ":") {
		id = ID(ref.Provider, id)
	}
	if _, _, ok = SplitID(id); !ok {
		return model.Ref{}, "", false
	}
	return ref, id, true
}

func cutProfile(s string) (name, profile string) {
	from := strings.LastIndexByte(s, '/') + 1
	for {
		i := strings.IndexByte(s[from:], '@')
		if i < 0 || from+i == len(s)-1 {
			return s, ""
		}
		at := from + i
		rest := s[at+1:]
		if at == 0 || s[at-1] == '/' || isVersion(rest) {
			from = at + 1
			continue
		}
		return s[:at], rest
	}
}

// isVersion tells the date or the kind of quantisation of a model from a
// profile: 20250101, q4_k_m, 4bit.
func isVersion(s string) bool {
	s, _, _ = strings.Cut(s, "@")
	digits := strings.TrimLeft(s, "0123456789")
	switch {
	case digits == "" && len(s) == 8:
		return true
	case digits == "bit" && len(s) > len("bit"):
		return true
	}
	return len(s) >= 2 && s[0] == 'q' && s[1] >= '0' && s[1] <= '9'
}

// Pin is the account that a session holds on to. A pin of the user is strict;
// one that was chosen for it is tried first and not more.
type Pin struct {
	Profile string
	User    bool
	// Compactions is how often the session had been compacted when an automatic
	// pin was set.
	Compactions int
}

// Held is the pin that still counts after so many compactions: an automatic one
// ends with a compaction, because the provider's cache is cold then anyway.
func (p Pin) Held(compactions int) Pin {
	if !p.User && compactions != p.Compactions {
		return Pin{}
	}
	return p
}

// Scope is what a block covers.
type Scope string

const (
	ScopeModel   Scope = "model"   // one model of the account
	ScopeProfile Scope = "profile" // the whole account
)

// Candidate is one account that a call could use, in the order to try them.
type Candidate struct {
	ID   string
	Type Type
	// Until is when a block ends; the zero time: there is none.
	Until  time.Time
	Reason model.Class
	Scope  Scope
	// Disabled tells a long block (no credit, a revoked key) from a cooldown.
	Disabled bool
}

// Blocked reports whether the account is in a cooldown or disabled.
func (c Candidate) Blocked() bool { return !c.Until.IsZero() }
