package config

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// known is what the sections say of places, whatever a file has there.
type known struct {
	tree   *branch
	hidden []hiddenPlace
}

// hiddenPlace is a place of a secret.
type hiddenPlace struct {
	at    []string // "*" for a name that people choose, "[]" for a place in a list
	field Hidden
}

func (l Sections) known() *known {
	list := l.bind()
	k := &known{tree: grow(list)}
	for _, b := range list {
		k.hide(b.at, b.fields)
		*b = bound{name: b.name, at: b.at, renames: b.renames} // values are another reading's, and each file is kept with this
	}
	return k
}

func (k *known) hide(above []string, fields []Field) {
	for _, f := range fields {
		name := f.key()
		if strings.HasPrefix(name, "<") {
			name = "*"
		}
		at := append(slices.Clone(above), name)
		inside := f
		if a, ok := f.(alias); ok {
			inside = a.Field
		}
		if h, ok := bare(inside).(Hidden); ok {
			k.hidden = append(k.hidden, hiddenPlace{at, h})
			continue
		}
		k.hide(at, inside.below(false))
	}
}

// hiddenAt is the secret at a place of the file.
func (k *known) hiddenAt(p Path) (f Hidden, ok bool) {
	i := slices.IndexFunc(k.hidden, func(h hiddenPlace) bool {
		return slices.EqualFunc(h.at, p, func(name string, s Segment) bool {
			if s.index >= 0 {
				return name == "[]"
			}
			return name == "*" || name == s.key
		})
	})
	if i < 0 {
		return f, false
	}
	return k.hidden[i].field, true
}

// hides reports whether what stands at a place may not be shown.
func (k *known) hides(p Path, text string) bool {
	f, ok := k.hiddenAt(p)
	return ok && (!f.Perhaps || f.Covered || secret.Likely(p[len(p)-1].key, text))
}

// renames are the keys of older versions in a file.
func (k *known) renames(doc *document) (out []Rename) {
	for _, b := range k.tree.all() {
		if b.renames != nil {
			out = append(out, b.renames(Places{&decoder{doc: doc}})...)
		}
	}
	return out
}

// all are the sections at a place and below it.
func (b *branch) all() []*bound {
	out := slices.Clone(b.own)
	for _, key := range b.kids {
		out = append(out, b.at[key].all()...)
	}
	return out
}
