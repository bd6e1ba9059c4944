package config

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Secret is a key, token or password as the file says it: the text itself or
// where it is found. It shows neither when it is printed.
type Secret = secret.Setting

// key reads a key of a service.
func (d *decoder) key(n *node) Secret {
	if n.kind == kindString && n.text == "" { // servers that need no key
		return Secret{}
	}
	return d.secret(n, 8192, nil)
}

// secret reads a secret: a text, keychain:NAME, or { source, provider, id }.
// check judges a text that is written out.
func (d *decoder) secret(n *node, limit int, check func(string) error) Secret {
	if n.kind == kindObject {
		return d.reference(n)
	}
	before := len(d.issues)
	if n.kind == kindString {
		if r, ok := secret.KeychainRef(n.text); ok {
			return secret.Reference(r)
		}
	}
	s := strings.TrimSpace(d.filled(n, limit))
	if check != nil && len(d.issues) == before && n.kind == kindString {
		d.judged(n, check(s))
	}
	return secret.Literal(s)
}

// reference reads { source: "keychain"|"env"|"file"|"exec", provider, id } and
// the forms without a provider: path of a file, command of a program.
func (d *decoder) reference(n *node) Secret {
	var r secret.Ref
	var argv []string
	before := len(d.issues)
	d.object(n,
		field{"source", func(n *node) {
			r.Source = d.choice(n, secret.SourceKeychain, secret.SourceEnv, secret.SourceFile, secret.SourceExec)
		}},
		field{"provider", func(n *node) { r.Provider = d.filled(n, 64) }},
		field{"id", func(n *node) { r.ID = d.filled(n, 512) }},
		field{"path", func(n *node) { r.Path = d.filled(n, 4096) }},
		field{"command", func(n *node) { d.list(n, func(v *node) { argv = append(argv, d.text(v, 4096)) }) }},
	)
	r.Command = strings.Join(argv, "\x00")
	if len(d.issues) > before {
		return Secret{}
	}
	if r.Source == "" {
		d.issue(n.start, "source is missing; it is keychain, env, file or exec")
		return Secret{}
	}
	if err := r.Check(); err != nil {
		d.issue(n.start, "%s", err)
		return Secret{}
	}
	return secret.Reference(r)
}
