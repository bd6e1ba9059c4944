package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Section is what one feature, or one package of the kernel, says about its own
// settings: see Settings, which makes one.
type Section interface {
	bind() *bound
}

// Sections are those of a program, in the order in which they are shown.
type Sections []Section

// Settings is a section whose values are a T. The package that obeys the
// settings declares it, as a variable that nobody changes:
//
//	var Settings = &config.Settings[Values]{
//		Path:    "greeting",
//		Default: Values{Word: "Hello"},
//		Fields: func(v *Values) []config.Field {
//			return []config.Field{
//				config.Text{Key: "word", To: &v.Word, Max: 40, Help: "what stands before the name"},
//			}
//		},
//	}
//
// Its row in package sections makes the file's reader, docs/configuration.md, the
// schema for clients and the page know the keys. Who obeys them asks
// Settings.Of(snapshot.Config), each time anew.
type Settings[T any] struct {
	// Path is the object that holds the keys. Several sections may share one; Name
	// tells them apart for people who read about them.
	Path    string
	Name    string
	Default T
	// Fields binds the keys to a T, which holds the defaults. It is called for
	// every reading and must do nothing else.
	Fields func(*T) []Field
	// Check judges keys that belong together; nil: each is judged alone.
	Check func(*T) error
	// Short reads what may stand in place of the object, and says whether it did.
	Short func(*T, Value) bool
}

// Of returns the section's values: those of the file, or the defaults.
func (s *Settings[T]) Of(c Config) T {
	if b := c.Sections.of(s); b != nil {
		return *b.to.(*T)
	}
	return s.Default
}

// With returns the settings with other values in this section, for tests.
func (s *Settings[T]) With(c Config, v T) Config {
	b := s.bind()
	*b.to.(*T) = v
	c.Sections = Values{append(slices.DeleteFunc(slices.Clone(c.Sections.list), func(o *bound) bool { return o.key == any(s) }), b)}
	return c
}

func (s *Settings[T]) bind() *bound {
	to := new(T)
	*to = s.Default
	b := &bound{key: s, name: s.Path, at: strings.Split(s.Path, "."), to: to, fields: s.Fields(to)}
	if s.Name != "" {
		b.name += "/" + s.Name
	}
	if s.Check != nil {
		b.check = func() error { return s.Check(to) }
	}
	if s.Short != nil {
		b.short = func(v Value) bool { return s.Short(to, v) }
	}
	return b
}

// OfFeature are the sections of a feature that can be switched off.
func OfFeature(name string, list ...Section) (out Sections) {
	for _, s := range list {
		out = append(out, ofFeature{s, name})
	}
	return out
}

type ofFeature struct {
	Section
	name string
}

func (o ofFeature) bind() *bound {
	b := o.Section.bind()
	b.feature = o.name
	return b
}

// bound is a section at one reading of the file.
type bound struct {
	key     any    // the *Settings[T]
	name    string // its path, and /Name where there is one
	at      []string
	to      any // a *T
	fields  []Field
	check   func() error
	short   func(Value) bool
	feature string // that it belongs to, "" for the kernel's
}

func (l Sections) bind() []*bound {
	out := make([]*bound, len(l))
	for i, s := range l {
		out[i] = s.bind()
	}
	return out
}

// Values are those of all sections at one moment. They never change.
type Values struct{ list []*bound }

func (v Values) of(key any) *bound {
	for _, b := range v.list {
		if b.key == key {
			return b
		}
	}
	return nil
}

// Equal reports whether both hold the same.
func (v Values) Equal(o Values) bool {
	return slices.EqualFunc(v.list, o.list, func(a, b *bound) bool { return a.key == b.key && reflect.DeepEqual(a.to, b.to) })
}

// branch is a place of the file at which sections, or places with sections, are.
type branch struct {
	own  []*bound
	kids []string
	at   map[string]*branch
}

func grow(list []*bound) *branch {
	root := &branch{at: map[string]*branch{}}
	for _, b := range list {
		at := root
		for _, key := range b.at {
			if at.at[key] == nil {
				at.kids = append(at.kids, key)
				at.at[key] = &branch{at: map[string]*branch{}}
			}
			at = at.at[key]
		}
		at.own = append(at.own, b)
	}
	return root
}

func (b *branch) find(p Path) *branch {
	for _, s := range p {
		if b == nil || s.index >= 0 {
			return nil
		}
		b = b.at[s.key]
	}
	return b
}

// begin binds the sections to a new reading.
func (d *decoder) begin() {
	d.bound = d.sections.bind()
	d.tree = grow(d.bound)
	d.off = map[string]bool{}
	if n, ok := d.doc.find(Path{Key("features")}); ok && n.kind == kindObject {
		for _, it := range n.items {
			d.off[it.key] = it.value.kind == kindBool && it.value.text == "false"
		}
	}
}

// sectionFields adds the keys of the sections at this place to others.
func (d *decoder) sectionFields(at *branch, others []field) []field {
	var out []field
	for _, b := range at.own {
		out = append(out, d.readers(b.fields)...)
	}
	for _, key := range at.kids {
		known := func(f field) bool { return f.name == key && f.read != nil }
		if !slices.ContainsFunc(others, known) && !slices.ContainsFunc(out, known) {
			out = append(out, field{key, func(n *node) { d.place(n, at.at[key]) }})
		}
	}
	return append(out, others...)
}

// readers makes readers of fields.
func (d *decoder) readers(fields []Field) (out []field) {
	for _, f := range fields {
		if l, ok := f.(unused); ok {
			out = append(out, later(l...)...)
			continue
		}
		out = append(out, field{f.key(), func(n *node) { f.read(Value{d, n}) }})
	}
	return out
}

// place reads an object that only sections know.
func (d *decoder) place(n *node, at *branch) {
	if n.kind != kindObject {
		for _, b := range at.own {
			if b.short != nil && b.short(Value{d, n}) {
				return
			}
		}
	}
	d.object(n)
}

// whole judges the sections of an object that was read; before is how many issues
// there were before it.
func (d *decoder) whole(n *node, at *branch, before int) {
	for _, b := range at.own {
		if b.check != nil && len(d.issues) == before {
			if err := b.check(); err != nil {
				d.issue(n.start, "%s", err)
			}
		}
	}
	off := ""
	for _, b := range at.own {
		if !d.off[b.feature] {
			return
		}
		off = b.feature
	}
	if off != "" && len(n.items) > 0 {
		d.warn(n.start, "the feature %s is switched off (features.%s), so this has no effect; it is kept as it is", off, off)
	}
}

// MarshalJSON writes the settings in use as the file would have them.
func (c Config) MarshalJSON() ([]byte, error) {
	type own Config
	b, err := json.Marshal(own(c))
	if err != nil || len(c.Sections.list) == 0 {
		return b, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	if err := grow(c.Sections.list).show(all); err != nil {
		return nil, fmt.Errorf("show the settings in use: %w", err)
	}
	return json.Marshal(all)
}

// show puts what the sections hold into an object.
func (b *branch) show(all map[string]json.RawMessage) (err error) {
	for _, own := range b.own {
		if err := showFields(all, own.fields); err != nil {
			return err
		}
	}
	for _, key := range b.kids {
		below := map[string]json.RawMessage{}
		if old, ok := all[key]; ok && string(old) != "null" {
			if err := json.Unmarshal(old, &below); err != nil {
				return err
			}
		}
		if err := b.at[key].show(below); err != nil {
			return err
		}
		if all[key], err = json.Marshal(below); err != nil {
			return err
		}
	}
	return nil
}

func showFields(all map[string]json.RawMessage, fields []Field) error {
	for _, f := range fields {
		v, ok := f.shown()
		if !ok {
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		all[f.key()] = b
	}
	return nil
}
