package config

import (
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// SecretField is a setting that holds a secret, with its path.
type SecretField struct {
	Path    string
	Setting secret.Setting
}

// SecretFields lists the settings that hold secrets, in a fixed order.
func (c Config) SecretFields() []SecretField {
	out := []SecretField{{"gateway.auth.token", c.Gateway.Auth.Token}}
	for _, id := range slices.Sorted(maps.Keys(c.Models.Providers)) {
		at := func(keys ...string) string {
			p := Path{Key("models"), Key("providers"), Key(id)}
			for _, k := range keys {
				p = append(p, Key(k))
			}
			return p.String()
		}
		out = append(out, SecretField{at("apiKey"), c.Models.Providers[id].APIKey})
		for _, name := range slices.Sorted(maps.Keys(c.Models.Providers[id].Headers)) {
			out = append(out, SecretField{at("headers", name), c.Models.Providers[id].Headers[name]})
		}
	}
	return slices.Concat(out, c.Channels.secretFields(), c.Hooks.secretFields(), c.Sections.secretFields())
}

func (c Channels) secretFields() (out []SecretField) {
	for _, network := range slices.Sorted(maps.Keys(c)) {
		accounts := c[network].Accounts
		for _, id := range slices.Sorted(maps.Keys(accounts)) {
			for _, key := range slices.Sorted(maps.Keys(accounts[id].Secrets)) {
				out = append(out, SecretField{AccountPath(network, id, key), accounts[id].Secrets[key]})
			}
		}
	}
	return out
}

// AccountPath is where a key of an account on a network stands.
func AccountPath(network, account, key string) string {
	return Path{Key("channels"), Key(network), Key("accounts"), Key(account), Key(key)}.String()
}

// variableHoldsSecret says whether a variable is a secret, or refers to one.
func variableHoldsSecret(name string, v secret.Setting) bool {
	_, ref := v.Ref()
	literal, _ := v.Literal()
	return ref || HoldsSecret(name, literal.Reveal())
}

// secretFields are those of all sections.
func (v Values) secretFields() (out []SecretField) {
	for _, b := range v.list {
		at := make(Path, len(b.at))
		for i, key := range b.at {
			at[i] = Key(key)
		}
		out = append(out, secretsIn(at, b.fields)...)
	}
	return out
}

func secretsIn(above Path, fields []Field) (out []SecretField) {
	for _, f := range fields {
		at := above.child(Key(f.key()))
		switch s := bare(f).(type) {
		case unused, alias:
		case Hidden:
			if !s.Perhaps || variableHoldsSecret(f.key(), *s.To) {
				out = append(out, SecretField{at.String(), *s.To})
			}
		default:
			out = append(out, secretsIn(at, f.below(true))...)
		}
	}
	return out
}
