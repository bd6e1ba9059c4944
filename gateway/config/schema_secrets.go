package config

import (
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

func (d *decoder) secrets(n *node, s *Secrets) {
	d.object(n, append([]field{
		{"backend", func(n *node) {
			if s.Backend = d.choice(n, SecretsAuto, SecretsKeychain, SecretsVault, SecretsPlain); s.Backend == SecretsPlain {
				d.warn(n.start, "with \"plain\" every program that you run can read your keys; \"auto\" uses the system's keychain, \"vault\" a "+
					"passphrase")
			}
		}},
		{"providers", func(n *node) {
			s.Providers = make(map[string]SecretProvider, len(n.items))
			d.each(n, func(id string, at int, v *node) {
				if !accountName(strings.ToLower(id)) {
					d.issue(at, "the name of a provider has 1 to 64 letters, digits, - and _")
					return
				}
				s.Providers[id] = d.secretProvider(v)
			})
		}},
		{"defaults", func(n *node) {
			s.Defaults = make(map[string]string, len(n.items))
			d.each(n, func(source string, _ int, v *node) { s.Defaults[source] = d.filled(v, 64) })
		}},
	}, later("resolution")...)...)
}

func (d *decoder) secretProvider(n *node) (p SecretProvider) {
	words := func(to *[]string) func(*node) {
		return func(n *node) { d.list(n, func(v *node) { *to = append(*to, d.text(v, 4096)) }) }
	}
	before := len(d.issues)
	d.object(n, append([]field{
		{"source", func(n *node) { p.Source = d.choice(n, secret.SourceEnv, secret.SourceFile, secret.SourceExec) }},
		{"path", func(n *node) { p.Path = d.filled(n, 4096) }},
		{"mode", func(n *node) { p.Mode = d.choice(n, "singleValue", "json") }},
		{"command", func(n *node) { p.Command = d.filled(n, 4096) }},
		{"args", words(&p.Args)},
		{"passEnv", words(&p.PassEnv)},
		{"allowlist", words(&p.Allowlist)},
		{"timeoutMs", func(n *node) { p.TimeoutMs = d.integer(n, 1, 120_000) }},
		{"maxBytes", func(n *node) { p.MaxBytes = d.integer(n, 1, 20<<20) }},
		{"maxOutputBytes", func(n *node) { p.MaxBytes = d.integer(n, 1, 20<<20) }},
	}, later("jsonOnly", "env", "trustedDirs", "allowInsecurePath", "allowSymlinkCommand", "noOutputTimeoutMs")...)...)
	switch {
	case len(d.issues) > before:
	case p.Source == "":
		d.issue(n.start, "source is missing; it is env, file or exec")
	case p.Source == secret.SourceFile && p.Path == "":
		d.issue(n.start, "path is missing: which file holds the secrets?")
	case p.Source == secret.SourceExec && !filepath.IsAbs(p.Command):
		d.issue(n.start, "command must be the whole path of a program, for example /usr/bin/pass")
	}
	return p
}

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

// accountName tells a name of small letters, digits, - and _.
func accountName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
