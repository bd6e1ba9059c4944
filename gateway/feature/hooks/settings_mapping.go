package hooks

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/webhook"
)

// Mapping says what an address of one's own does.
type Mapping struct {
	ID              string
	Match           Match
	Action          string // agent, wake
	WakeMode        string // now, next-heartbeat
	SessionMode     string // isolated, persistent
	Name            string
	AgentID         string
	SessionKey      string
	MessageTemplate string
	TextTemplate    string
	ForEach         string
	Deliver         bool
	Channel         string
	To              string
	AccountID       string
	Model           string
	Thinking        string
	TimeoutSeconds  int
	PerMinute       int // 0: as hooks.perMinute
	Signature       Signature
}

// Match is what a mapping is for; empty fields match everything.
type Match struct{ Path, Source string }

// Signature is how the service behind a mapping signs what it sends. The zero value
// is none: the token counts.
type Signature struct {
	Kind            string // one of webhook.Kinds
	Secret          config.Secret
	Header          string
	Prefix          string
	Encoding        string // hex, base64
	Algorithm       string // sha256, sha512, sha1
	TimestampHeader string
}

func (s Signature) given() bool { return s.Kind != "" }

const maxTemplate = 64 << 10

func (m *Mapping) fields() []config.Field {
	text := func(key string, to *string, limit int) config.Field {
		return config.Text{Key: key, To: to, Max: limit, Empty: true}
	}
	return []config.Field{
		config.Text{Key: "id", To: &m.ID, Max: 128},
		config.Object{Key: "match", Fields: []config.Field{
			config.Text{
				Key: "path", To: &m.Match.Path, Max: 256, Read: func(v config.Value) string { return strings.Trim(v.AnyText(256), "/ ") },
			},
			text("source", &m.Match.Source, 256),
		}},
		config.Choice{Key: "action", To: &m.Action, Among: []string{kindAgent, kindWake}},
		config.Choice{Key: "wakeMode", To: &m.WakeMode, Among: []string{now, nextHeartbeat}},
		config.Choice{Key: "sessionMode", To: &m.SessionMode, Among: []string{isolated, persistent}},
		text("name", &m.Name, 256),
		text("agentId", &m.AgentID, 64),
		text("sessionKey", &m.SessionKey, 256),
		config.Text{Key: "messageTemplate", To: &m.MessageTemplate, Max: maxTemplate, Read: templateText},
		config.Text{Key: "textTemplate", To: &m.TextTemplate, Max: maxTemplate, Read: templateText},
		config.Text{Key: "forEach", To: &m.ForEach, Max: 128, Empty: true, Is: topList},
		config.Switch{Key: "deliver", To: &m.Deliver},
		text("channel", &m.Channel, 64),
		text("to", &m.To, 256),
		text("accountId", &m.AccountID, 64),
		text("model", &m.Model, 256),
		text("thinking", &m.Thinking, 32),
		config.Number{Key: "timeoutSeconds", To: &m.TimeoutSeconds, Min: 1, Max: 86_400},
		config.Number{Key: "perMinute", To: &m.PerMinute, Min: 1, Max: maxPerMinute},
		config.Object{Key: "signature", Fields: m.Signature.fields(), Check: m.Signature.check},
		config.Later("transform", "allowUnsafeExternalContent"),
	}
}

func (m *Mapping) check() error {
	switch {
	case m.Action == kindWake && strings.TrimSpace(m.TextTemplate) == "":
		return errors.New("a mapping with the action wake needs textTemplate: what the assistant is told")
	case m.Action == kindAgent && strings.TrimSpace(m.MessageTemplate) == "":
		return errors.New("a mapping needs messageTemplate: what the assistant is asked, for example \"Tell me about this\\n{{payload}}\"")
	case m.Signature.given() && m.Match.Path == "":
		return errors.New("a mapping with a signature needs match.path: the address that the service calls")
	case m.Action == kindWake && m.WakeMode == nextHeartbeat && m.SessionKey != "":
		return errors.New("sessionKey needs wakeMode \"now\": what waits for the next heartbeat goes into the main session")
	}
	if _, err := level(m.Thinking); err != nil && !webhook.Templated(m.Thinking) {
		return config.Notice("thinking of a mapping must be one of " + strings.Join(command.Levels("think"), ", ") +
			"; with another one the assistant thinks as it usually does")
	}
	return nil
}

// inVain says what is never reached of a mapping and of those before it: the first that
// matches a call is taken, and one signature of an address is that of all its calls.
func inVain(before []Mapping, m Mapping) error {
	path, needs := m.Match.Path, []string(nil)
	if path == kindWake || path == kindAgent {
		return config.Notice(fmt.Sprintf("this mapping is never reached: %s is a hook of Hearth's own; give it another match.path", path))
	}
	for i, b := range before {
		same, signed := b.Match.Path == path && path != "", b.Signature.given()
		switch {
		case same && signed && !m.Signature.given():
			return config.Notice(fmt.Sprintf("this mapping is never reached: calls of its match.path need the signature of hooks.mappings[%d]; "+
				"give it another match.path", i))
		case same && signed, !signed && !m.Signature.given() && b.Match.covers(m.Match):
			return config.Notice(fmt.Sprintf("this mapping is never reached: hooks.mappings[%d] takes all calls that it matches; put it before "+
				"that one, or give it another match.path", i))
		case same && m.Signature.given():
			needs = append(needs, fmt.Sprintf("hooks.mappings[%d]", i))
		}
	}
	if len(needs) == 0 {
		return nil
	}
	return config.Notice("all calls of this match.path need the signature of this mapping, so that another one is never reached: " +
		strings.Join(needs, ", ") + "; give it another match.path")
}

// covers reports whether all that another one matches is matched.
func (m Match) covers(o Match) bool {
	return (m.Path == "" || m.Path == o.Path) && (m.Source == "" || m.Source == o.Source)
}

// templateText reads a text that may have lines.
func templateText(v config.Value) string {
	s, ok := v.Word()
	switch {
	case !ok:
		v.Expected("a text in quotation marks")
	case len(s) > maxTemplate:
		v.Wrong("this text is longer than 64 KB")
	case !utf8.ValidString(s):
		v.Wrong("this text is not valid UTF-8")
	default:
		return s
	}
	return ""
}

func topList(s string) (string, error) {
	if strings.ContainsAny(s, ".[]") {
		return "", errors.New("forEach is the name of a list at the top of what is sent, for example \"messages\"")
	}
	return s, nil
}

func (s *Signature) fields() []config.Field {
	return []config.Field{
		config.Choice{Key: "kind", To: &s.Kind, Among: webhook.Kinds()},
		config.Hidden{Key: "secret", To: &s.Secret},
		config.Text{Key: "header", To: &s.Header, Max: 128, Is: headerName},
		config.Text{Key: "prefix", To: &s.Prefix, Max: 64, Empty: true},
		config.Choice{Key: "encoding", To: &s.Encoding, Among: []string{"hex", "base64"}},
		config.Choice{Key: "algorithm", To: &s.Algorithm, Among: []string{"sha256", "sha512", "sha1"}},
		config.Text{Key: "timestampHeader", To: &s.TimestampHeader, Max: 128, Is: headerName},
	}
}

func (s *Signature) check() error {
	switch {
	case s.Kind == "":
		return fmt.Errorf("kind is missing: which service signs? It is one of %s", strings.Join(webhook.Kinds(), ", "))
	case s.Secret.IsZero():
		return errors.New("secret is missing: a signature without a secret proves nothing")
	}
	return nil
}

func headerName(s string) (string, error) {
	odd := func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	if strings.ContainsFunc(s, odd) {
		return "", errors.New("the name of a header has letters, digits and - only")
	}
	return s, nil
}
