package config

import (
	"maps"
	"slices"
	"strconv"
)

// Hooks are addresses by which other programs start something here, and programs
// of the person that are told what happens.
type Hooks struct {
	Enabled                   bool          `json:"enabled,omitempty"`
	Token                     Secret        `json:"token,omitzero"`
	Path                      string        `json:"path"`
	AllowedAgentIDs           []string      `json:"allowedAgentIds,omitempty"` // nil: all; empty: none
	DefaultSessionKey         string        `json:"defaultSessionKey,omitempty"`
	AllowRequestSessionKey    bool          `json:"allowRequestSessionKey,omitempty"`
	AllowedSessionKeyPrefixes []string      `json:"allowedSessionKeyPrefixes,omitempty"`
	Presets                   []string      `json:"presets,omitempty"`
	Mappings                  []HookMapping `json:"mappings,omitempty"`
	PerMinute                 int           `json:"perMinute"` // of one hook
	Internal                  HooksInternal `json:"internal,omitzero"`
}

// HookMapping says what an address of one's own does.
type HookMapping struct {
	ID              string         `json:"id,omitempty"`
	Match           HookMatch      `json:"match,omitzero"`
	Action          string         `json:"action"`      // agent, wake
	WakeMode        string         `json:"wakeMode"`    // now, next-heartbeat
	SessionMode     string         `json:"sessionMode"` // isolated, persistent
	Name            string         `json:"name,omitempty"`
	AgentID         string         `json:"agentId,omitempty"`
	SessionKey      string         `json:"sessionKey,omitempty"`
	MessageTemplate string         `json:"messageTemplate,omitempty"`
	TextTemplate    string         `json:"textTemplate,omitempty"`
	ForEach         string         `json:"forEach,omitempty"`
	Deliver         bool           `json:"deliver"`
	Channel         string         `json:"channel,omitempty"`
	To              string         `json:"to,omitempty"`
	AccountID       string         `json:"accountId,omitempty"`
	Model           string         `json:"model,omitempty"`
	Thinking        string         `json:"thinking,omitempty"`
	TimeoutSeconds  int            `json:"timeoutSeconds,omitempty"`
	PerMinute       int            `json:"perMinute,omitempty"` // 0: as hooks.perMinute
	Signature       *HookSignature `json:"signature,omitempty"` // nil: the token counts
}

// HookMatch is what a mapping is for; empty fields match everything.
type HookMatch struct {
	Path   string `json:"path,omitempty"`
	Source string `json:"source,omitempty"`
}

// HookSignature is how the service behind a mapping signs what it sends.
type HookSignature struct {
	Kind            string `json:"kind"` // one of webhook.Kinds
	Secret          Secret `json:"secret,omitzero"`
	Header          string `json:"header,omitempty"`
	Prefix          string `json:"prefix,omitempty"`
	Encoding        string `json:"encoding,omitempty"`  // hex, base64
	Algorithm       string `json:"algorithm,omitempty"` // sha256, sha512, sha1
	TimestampHeader string `json:"timestampHeader,omitempty"`
}

// HooksInternal are programs of the person that are told what happens here.
type HooksInternal struct {
	Enabled   *bool                `json:"enabled,omitempty"` // nil: when entries or extraDirs are there
	Entries   map[string]HookEntry `json:"entries,omitempty"` // by the hook's key
	ExtraDirs []string             `json:"-"`
}

// HookEntry is about one of them.
type HookEntry struct {
	Enabled *bool             `json:"enabled,omitempty"`
	Env     map[string]Secret `json:"env,omitempty"`
	// Options are the entry as JSON: the hook's own, shown to nobody but the hook.
	Options []byte `json:"-"`
}

// On reports whether programs are told at all.
func (h HooksInternal) On() bool {
	if h.Enabled != nil {
		return *h.Enabled
	}
	return len(h.Entries) > 0 || len(h.ExtraDirs) > 0
}

// HookTokenPath is the setting of the token for programs that call.
const HookTokenPath = "hooks.token"

// HookSecretPath is the setting of the secret of a mapping's signatures.
func HookSecretPath(i int) string { return "hooks.mappings[" + strconv.Itoa(i) + "].signature.secret" }

func defaultHooks() Hooks { return Hooks{Path: "/hooks", PerMinute: 120} }

func (h Hooks) clone() Hooks {
	h.AllowedAgentIDs, h.AllowedSessionKeyPrefixes = slices.Clone(h.AllowedAgentIDs), slices.Clone(h.AllowedSessionKeyPrefixes)
	h.Presets, h.Mappings = slices.Clone(h.Presets), slices.Clone(h.Mappings)
	for i, m := range h.Mappings {
		if m.Signature != nil {
			h.Mappings[i].Signature = new(*m.Signature)
		}
	}
	h.Internal.Entries, h.Internal.ExtraDirs = maps.Clone(h.Internal.Entries), slices.Clone(h.Internal.ExtraDirs)
	for k, e := range h.Internal.Entries {
		e.Env, e.Options = maps.Clone(e.Env), slices.Clone(e.Options)
		h.Internal.Entries[k] = e
	}
	return h
}

func (h Hooks) secretFields() (out []SecretField) {
	out = append(out, SecretField{HookTokenPath, h.Token})
	for i, m := range h.Mappings {
		if m.Signature != nil {
			out = append(out, SecretField{HookSecretPath(i), m.Signature.Secret})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(h.Internal.Entries)) {
		env := h.Internal.Entries[id].Env
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if variableHoldsSecret(name, env[name]) {
				at := Path{Key("hooks"), Key("internal"), Key("entries"), Key(id), Key("env"), Key(name)}
				out = append(out, SecretField{at.String(), env[name]})
			}
		}
	}
	return out
}
