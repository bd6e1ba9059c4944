package hooks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
)

// Configured are addresses by which other programs start something here.
type Configured struct {
	Enabled                   bool
	Token                     config.Secret
	Path                      string
	AllowedAgentIDs           []string // nil: all; empty: none
	DefaultSessionKey         string
	AllowRequestSessionKey    bool
	AllowedSessionKeyPrefixes []string
	Presets                   []string
	Mappings                  []Mapping
	PerMinute                 int // of one hook
}

// tokenPath is the setting of the token for programs that call.
const tokenPath = "hooks.token"

// secretPath is the setting of the secret of a mapping's signatures.
func secretPath(i int) string { return "hooks.mappings[" + strconv.Itoa(i) + "].signature.secret" }

const maxPerMinute = 100_000

// Section are the settings of hooks.
var Section = &config.Settings[Configured]{
	Path:    "hooks",
	Default: Configured{Path: "/hooks", PerMinute: 120},
	Fields:  (*Configured).fields,
	Check:   (*Configured).check,
	Whole:   (*Configured).apart,
}

func (h *Configured) fields() []config.Field {
	return []config.Field{
		config.Switch{
			Key: "enabled", To: &h.Enabled, Help: "whether `/hooks/…` answers; needs a token, or a mapping with a signature",
		},
		config.Hidden{
			Key: "token", To: &h.Token, Check: token.Check,
			Help: "what callers prove themselves with; a text or a secret, not the gateway's token",
		},
		config.Text{
			Key: "path", To: &h.Path, Max: 128, Is: mountable, Help: "where they are called; counts from the next start",
			Hint: config.Hint{Restart: true},
		},
		words("allowedAgentIds", &h.AllowedAgentIDs, "all", "the assistants that hooks may talk to; `[]`: none"),
		config.Text{
			Key: "defaultSessionKey", To: &h.DefaultSessionKey, Max: 256, Help: "the conversation of calls that name none",
			Hint: config.Hint{Default: "one for each call"},
		},
		config.Switch{
			Key: "allowRequestSessionKey", To: &h.AllowRequestSessionKey,
			Help: "callers may name a conversation, one whose key begins as `allowedSessionKeyPrefixes` says; both are needed",
		},
		words("allowedSessionKeyPrefixes", &h.AllowedSessionKeyPrefixes, "none",
			"how the key of a conversation that a caller names has to begin"),
		config.Texts{
			Key: "presets", To: &h.Presets, Read: preset, Help: "mappings that come with Hearth: `gmail`", Hint: config.Hint{Default: "none"},
		},
		config.List[Mapping]{
			Key: "mappings", To: &h.Mappings, New: func() Mapping {
				return Mapping{Action: kindAgent, WakeMode: now, SessionMode: isolated, Deliver: true}
			},
			One:  func(m *Mapping) config.Field { return config.Object{Fields: m.fields(), Check: m.check} },
			Take: func(m Mapping) error { return inVain(h.Mappings, m) }, Hint: config.Hint{Default: "none"},
			Help: "what `/hooks/<name>` does: [hooks.md](hooks.md#mappings) has the keys of one",
		},
		config.Number{
			Key: "perMinute", To: &h.PerMinute, Min: 1, Max: maxPerMinute, Help: "how often one hook may be called; a mapping may have its own",
		},
		config.Later("transformsDir", "gmail", "maxBodyBytes"),
	}
}

// words is a list of short texts; empty ones are left out.
func words(key string, to *[]string, none, help string) config.Field {
	return config.Texts{Key: key, To: to, Read: word, Help: help, Hint: config.Hint{Default: none}}
}

func word(v config.Value) (string, bool) {
	s := strings.TrimSpace(v.AnyText(256))
	return s, s != ""
}

func preset(v config.Value) (string, bool) {
	p, ok := word(v)
	if ok && p != "gmail" {
		v.Warn("there is no preset %q; \"gmail\" is the one there is", p)
	}
	return p, ok
}

// mountable is a path at which hooks can be called.
func mountable(s string) (string, error) {
	p := "/" + strings.Trim(strings.TrimSpace(s), "/")
	first, _, _ := strings.Cut(p[1:], "/")
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '/')
	}
	taken := []string{"api", "v1", "mcp", "assets", "health", "healthz", "ready", "readyz", "phone"}
	switch {
	case p == "/":
		return "", errors.New("hooks.path may not be \"/\": that is the page; \"/hooks\" is the usual one")
	case slices.Contains(taken, strings.ToLower(first)):
		return "", fmt.Errorf("hooks.path may not begin with /%s, which Hearth uses for something else", first)
	case strings.ContainsFunc(p, odd), strings.Contains(p, "//"):
		return "", errors.New("hooks.path has letters, digits, - _ and / only")
	}
	return p, nil
}

// check holds the keys against each other.
func (h *Configured) check() error {
	free := h.AllowRequestSessionKey && len(h.AllowedSessionKeyPrefixes) == 0
	if free {
		h.AllowRequestSessionKey = false
	}
	key := h.DefaultSessionKey
	if key == "" {
		key = "hook:example"
	}
	signed := slices.ContainsFunc(h.Mappings, func(m Mapping) bool { return m.Signature.given() })
	switch {
	case h.Enabled && h.Token.IsZero() && !signed:
		return errors.New("hooks.enabled needs hooks.token, or a mapping with a signature: without one anybody could call. " +
			"`hearth config set hooks.token \"$(openssl rand -hex 24)\"` makes one")
	case free:
		return config.Notice("allowRequestSessionKey has no effect without allowedSessionKeyPrefixes: a caller could write into every " +
			"conversation. Say which keys it may use, for example [\"hook:\"]")
	case len(h.AllowedSessionKeyPrefixes) > 0 && !hasPrefixFold(key, h.AllowedSessionKeyPrefixes):
		return fmt.Errorf("hooks.allowedSessionKeyPrefixes does not allow %q, which is what a call without a key gets", key)
	}
	return nil
}

// hasPrefixFold reports whether a text begins with one of some words, in any case.
func hasPrefixFold(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		p = strings.TrimSpace(p)
		return p != "" && len(s) >= len(p) && strings.EqualFold(s[:len(p)], p)
	})
}

// apart: a token that opens the gateway must not be what other services hold.
func (h *Configured) apart(all config.Config, wrong func(at config.Path, format string, args ...any)) {
	gateway := token.Section.Of(all).Token
	same := func(at config.Path, s config.Secret, other string, o config.Secret) {
		if !s.IsZero() && s.Equal(o) {
			wrong(at, "it is the same as %s, so that whoever may call a hook could do more. Give each its own", other)
		}
	}
	hooks := config.At("hooks")
	same(hooks.Below("token"), h.Token, "gateway.auth.token", gateway)
	for i, m := range h.Mappings {
		at := append(hooks.Below("mappings"), config.Index(i)).Below("signature", "secret")
		same(at, m.Signature.Secret, "gateway.auth.token", gateway)
		same(at, m.Signature.Secret, tokenPath, h.Token)
	}
}
