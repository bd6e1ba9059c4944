package config

import (
	"fmt"
	"slices"
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
// elsewhere, and whether it stands in a list: then it has no name of its own.
func (k *known) keyPlace(p Path, value string) (f Hidden, listed, ok bool) {
	f, ok = k.hiddenAt(p)
	if !ok || f.Stays {
		return f, false, false
	}
	listed = slices.ContainsFunc(p, func(s Segment) bool { return s.index >= 0 })
	return f, listed, !f.Perhaps || secret.Likely(p[len(p)-1].key, value)
}

// Hoist takes the keys out of a text of settings, which may be a merge patch:
// the text that it returns refers to each by its path, and holds none. Spaces
// and line breaks around a pasted key are dropped; what cannot be a key is an
// error that says why.
func (l Sections) Hoist(raw string) (text string, found []Hoisted, err error) {
	return l.known().hoist(raw)
}

func (k *known) hoist(raw string) (text string, found []Hoisted, err error) {
	doc, err := parseObject(raw)
	if err != nil {
		return raw, nil, nil //nolint:nilerr // the edit itself says what is wrong with it
	}
	var edits []splice
	var walk func(p Path, n *node) error
	walk = func(p Path, n *node) error {
		if f, listed, ok := k.keyPlace(p, n.text); n.kind == kindString && ok && !listed && hoistable(n.text) {
			clean := secret.CleanKey
			if f.Perhaps {
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

// InLists lists the places of keys that the file holds in the open and that stay
// there, as what stands in a list has no name that lasts.
func (s *Snapshot) InLists() []string {
	places := []string{}
	if s.doc == nil {
		return places
	}
	var walk func(p Path, n *node)
	walk = func(p Path, n *node) {
		if _, listed, ok := s.known.keyPlace(p, n.text); n.kind == kindString && ok && listed && hoistable(n.text) {
			places = append(places, p.shown())
		}
		for i, it := range n.items {
			switch n.kind {
			case kindObject:
				walk(p.child(Key(it.key)), it.value)
			case kindArray:
				walk(p.child(Index(i)), it.value)
			}
		}
	}
	walk(nil, s.doc.root)
	return places
}

// Literals lists the keys that the file holds in the open.
func (s *Snapshot) Literals() []Hoisted {
	if s.doc == nil {
		return nil
	}
	_, found, err := s.known.hoist(s.Raw)
	if err != nil {
		return nil
	}
	return found
}
