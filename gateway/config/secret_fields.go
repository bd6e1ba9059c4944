package config

import (
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// SecretField is a setting that holds a secret, with its path.
type SecretField struct {
	Path    string
	Setting secret.Setting
}

// SecretFields lists the settings that hold secrets, in a fixed order.
func (c Config) SecretFields() []SecretField {
	return c.Sections.secretFields()
}

// KeychainUsers are the settings that refer to each secret that is kept, by its name.
func (c Config) KeychainUsers() map[string][]string {
	used := map[string][]string{}
	for _, s := range c.SecretFields() {
		if r, ok := s.Setting.Ref(); ok && r.Source == secret.SourceKeychain {
			used[r.ID] = append(used[r.ID], s.Path)
		}
	}
	return used
}

// step is a key of the file, or "[3]", a place in a list.
func step(key string) Segment {
	if in, ok := strings.CutPrefix(key, "["); ok {
		if i, err := strconv.Atoi(strings.TrimSuffix(in, "]")); err == nil {
			return Index(i)
		}
	}
	return Key(key)
}

// variableHoldsSecret says whether a variable is a secret, or refers to one.
func variableHoldsSecret(name string, v secret.Setting) bool {
	_, ref := v.Ref()
	literal, _ := v.Literal()
	return ref || secret.Likely(name, literal.Reveal())
}

// secretFields are those of all sections.
func (v Values) secretFields() (out []SecretField) {
	for _, b := range v.list {
		if b.fresh != nil { // a place in a list is no name
			continue
		}
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
		at := above.child(step(f.key()))
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
