package session

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// DefaultAgent is the agent of keys that name none.
	DefaultAgent = "main"
	// MainAlias is the short name of the session that clients open first.
	MainAlias = "main"
	maxKey    = 512
)

// ErrBadKey wraps every refusal of a session key.
var ErrBadKey = errors.New("not a session key")

// Canonical turns what a client sent into the one form of the key,
// agent:<agent>:<rest>: "main" and "" are the main session, a key without the
// prefix belongs to agentID.
func Canonical(key, agentID string) (string, error) {
	if agentID == "" {
		agentID = DefaultAgent
	}
	if err := checkPart("agent id", agentID); err != nil {
		return "", err
	}
	if key == "" || key == MainAlias {
		return "agent:" + agentID + ":" + MainAlias, nil
	}
	if !utf8.ValidString(key) {
		return "", fmt.Errorf("%w: it is not valid UTF-8", ErrBadKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return "", fmt.Errorf("%w: it holds control characters", ErrBadKey)
	}
	rest, ok := strings.CutPrefix(key, "agent:")
	if !ok {
		key = "agent:" + agentID + ":" + key
	} else if agent, tail, ok := strings.Cut(rest, ":"); !ok || tail == "" {
		return "", fmt.Errorf("%w: %q should read agent:<agent>:<name>", ErrBadKey, key)
	} else if err := checkPart("agent id", agent); err != nil {
		return "", err
	}
	if len(key) > maxKey {
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrBadKey, len(key), maxKey)
	}
	return key, nil
}

// AgentOf returns the agent of a canonical key.
func AgentOf(key string) string {
	agent, _, _ := strings.Cut(strings.TrimPrefix(key, "agent:"), ":")
	return agent
}

func checkPart(what, s string) error {
	ok := s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if !ok {
		return fmt.Errorf("%w: the %s %q may hold letters, digits, '-', '_' and '.' only", ErrBadKey, what, s)
	}
	return nil
}
