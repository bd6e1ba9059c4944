package config

import (
	"encoding/json"
	"reflect"
	"slices"
)

// anyEntry is the step of a path that stands for every entry of a list.
const anyEntry = "[]"

// Entries is a section of which every entry of another section's list has its own
// values, told apart by the entry's id: Path is "agents.list[]", or a place below
// an entry as "agents.list[].tools".
type Entries[T any] struct {
	Path    string
	Name    string
	Default T
	Fields  func(*T) []Field
}

// Of returns the values of an entry, or the defaults; set is false when the file
// does not say them.
func (e *Entries[T]) Of(c Config, id string) (v T, set bool) {
	if b := c.Sections.of(e.name()); b != nil {
		for _, one := range b.entries {
			if one.id == id {
				return *one.to.(*T), true
			}
		}
	}
	return e.Default, false
}

// With returns the settings with the values of one entry, for tests.
func (e *Entries[T]) With(c Config, id string, v T) Config {
	b := e.bind()
	if old := c.Sections.of(e.name()); old != nil {
		b.entries = slices.DeleteFunc(slices.Clone(old.entries), func(o boundEntry) bool { return o.id == id })
	}
	to, fields := b.fresh()
	*to.(*T) = v
	b.entries = append(b.entries, boundEntry{id, to, fields})
	c.Sections = c.Sections.with(b)
	return c
}

func (e *Entries[T]) name() string { return (&Settings[T]{Path: e.Path, Name: e.Name}).name() }

func (e *Entries[T]) bind() *bound {
	b := &bound{name: e.name(), at: steps(e.Path)}
	b.fresh = func() (any, []Field) {
		to := new(T)
		*to = e.Default
		return to, e.Fields(to)
	}
	b.to, b.fields = b.fresh()
	return b
}

// boundEntry is an entry at one reading of the file.
type boundEntry struct {
	id     string
	to     any // a *T
	fields []Field
}

func (e boundEntry) equal(o boundEntry) bool { return e.id == o.id && reflect.DeepEqual(e.to, o.to) }

// fieldsOf are those of a section at the place that is being read.
func (d *decoder) fieldsOf(b *bound) []Field {
	if b.fresh == nil {
		return b.fields
	}
	e := boundEntry{}
	if n, ok := d.doc.find(d.path[:slices.Index(b.at, anyEntry)+1]); ok && n.kind == kindObject {
		if i := n.indexOf(Key("id")); i >= 0 {
			e.id = n.items[i].value.text
		}
	}
	e.to, e.fields = b.fresh()
	b.entries = append(b.entries, e)
	return e.fields
}

// showEntries puts what sections say of each entry into the list at a key.
func (b *branch) showEntries(all map[string]json.RawMessage, key string) (err error) {
	var list []map[string]json.RawMessage
	if old, ok := all[key]; ok {
		if err := json.Unmarshal(old, &list); err != nil {
			return err
		}
	}
	for _, entry := range list {
		var id string
		if err := json.Unmarshal(entry["id"], &id); err != nil {
			continue // it has none
		}
		if err := b.showEntry(entry, id); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		all[key], err = json.Marshal(list)
	}
	return err
}

func (b *branch) showEntry(entry map[string]json.RawMessage, id string) error {
	for _, own := range b.own {
		if i := slices.IndexFunc(own.entries, func(e boundEntry) bool { return e.id == id }); i >= 0 {
			if err := showFields(entry, own.entries[i].fields); err != nil {
				return err
			}
		}
	}
	for _, key := range b.kids {
		below := map[string]json.RawMessage{}
		if err := b.at[key].showEntry(below, id); err != nil {
			return err
		}
		if len(below) == 0 {
			continue
		}
		raw, err := json.Marshal(below)
		if err != nil {
			return err
		}
		entry[key] = raw
	}
	return nil
}
