package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// minHoisted is the shortest text that is taken for a key: servers on this
// machine get "none" or "ollama" where a key is asked for.
const minHoisted = 8

// Hoisted is a secret that was written out in a text of settings.
type Hoisted struct {
	Path  string
	Value secret.Secret
}

// keyPlace says whether a place of the file holds a key that can be kept
// elsewhere. gateway.auth.token is none: other programs need it in its file.
// Headers and variables may hold anything: there the name says it, or else the
// value.
func keyPlace(p Path, value string) bool {
	name := make([]string, len(p))
	for i, s := range p {
		if s.index >= 0 {
			return false
		}
		name[i] = s.key
	}
	match := func(pattern ...string) bool {
		if len(pattern) != len(name) {
			return false
		}
		for i := range pattern {
			if pattern[i] != "*" && pattern[i] != name[i] {
				return false
			}
		}
		return true
	}
	if anything(p) {
		return HoldsSecret(name[4], value)
	}
	return match("models", "providers", "*", "apiKey") || match("tools", "web", "search", "apiKey") ||
		match("skills", "entries", "*", "apiKey") || match("agents", "defaults", "memorySearch", "remote", "apiKey") ||
		match("mcp", "servers", "*", "oauth", "clientSecret") || match("hooks", "token") ||
		match("channels", "*", "botToken") || match("channels", "*", "webhookSecret") ||
		match("channels", "*", "accounts", "*", "botToken") || match("channels", "*", "accounts", "*", "webhookSecret")
}

// anything says whether a place is a header or a variable, which may be a key or
// any other text.
func anything(p Path) bool {
	if len(p) != 5 {
		return false
	}
	switch p[0].key + "." + p[1].key + "." + p[3].key {
	case "mcp.servers.env", "mcp.servers.headers", "skills.entries.env", "models.providers.headers":
		return true
	}
	return false
}

// HoldsSecret says whether a header or variable is a secret, by its name or else
// by its value.
func HoldsSecret(name, value string) bool {
	return secretKey(name) || passwordName(name) || keyLike(value)
}

// passwordName tells the short forms that people write variables with.
func passwordName(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"pw", "pwd", "pass", "passcode", "auth"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// keyLike tells a value that can hardly be anything but a key: by a known shape,
// or as one long word of letters and digits that is no path and no address.
func keyLike(value string) bool {
	value = strings.TrimSpace(value)
	if known.MatchString(value) {
		return true
	}
	_, word, ok := strings.Cut(value, " ") // "Bearer …"
	if !ok {
		word = value
	}
	return len(word) >= 20 && long.MatchString(word) && strings.ContainsAny(word, "0123456789") && strings.ContainsAny(strings.ToLower(word),
		"abcdefghijklmnopqrstuvwxyz") && !uuid.MatchString(word)
}

var (
	known = keyShaped()
	long  = regexp.MustCompile(`^[A-Za-z0-9_\-+=]+$`)
	uuid  = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// Hoist takes the keys out of a text of settings, which may be a merge patch:
// the text that it returns refers to each by its path, and holds none. Spaces
// and line breaks around a pasted key are dropped; what cannot be a key is an
// error that says why.
func Hoist(raw string) (text string, found []Hoisted, err error) {
	doc, err := parseObject(raw)
	if err != nil {
		return raw, nil, nil //nolint:nilerr // the edit itself says what is wrong with it
	}
	var edits []splice
	var walk func(p Path, n *node) error
	walk = func(p Path, n *node) error {
		if n.kind == kindString && keyPlace(p, n.text) && hoistable(n.text) {
			clean := secret.CleanKey
			if anything(p) {
				clean = secret.Clean // a header is more than its key
			}
			v, err := clean(n.text)
			if err != nil {
				return fmt.Errorf("%s: %w", p.shown(), err)
			}
			name := storeName(p)
			if secret.CheckName(name) != nil {
				return nil
			}
			found = append(found, Hoisted{name, v})
			edits = append(edits, splice{n.start, n.end, quote(secret.SourceKeychain + ":" + name)})
		}
		if n.kind != kindObject {
			return nil
		}
		for _, it := range n.items {
			if err := walk(p.child(Key(it.key)), it.value); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(nil, doc.root); err != nil {
		return raw, nil, err
	}
	return apply(raw, edits), found, nil
}

// storeName is what a key is called in the store: its path with plain dots.
func storeName(p Path) string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.key
	}
	return strings.Join(parts, ".")
}

// hoistable: a key that is written out.
func hoistable(s string) bool {
	return len(strings.TrimSpace(s)) >= minHoisted && !strings.Contains(s, "${") && !storeReference(s) && !strings.Contains(s, RedactedMarker)
}

// Literals lists the keys that the file holds in the open.
func (s *Snapshot) Literals() []Hoisted {
	if s.doc == nil {
		return nil
	}
	_, found, err := Hoist(s.Raw)
	if err != nil {
		return nil
	}
	return found
}
