package config

import (
	"encoding/json"
	"errors"
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
	// Path is the object that holds the keys, "" for the whole file. Several sections
	// may share one; Name tells them apart for people who read about them.
	Path    string
	Name    string
	Default T
	// Fields binds the keys to a T, which holds the defaults. It is called for
	// every reading and must do nothing else.
	Fields func(*T) []Field
	// Check judges keys that belong together; nil: each is judged alone. A Notice as
	// its error is told and changes nothing.
	Check func(*T) error
	// Short reads what may stand in place of the object, and says whether it did.
	Short func(*T, Value) bool
	// Whole judges the values among all others, when everything was read; wrong
	// says what is wrong at a place.
	Whole func(v *T, all Config, wrong func(at Path, format string, args ...any))
	// Strict makes the values safe when a file is used in part and a mistake stood
	// below a key of this section's name, which may have been a ban.
	Strict func(*T)
	// Renames finds keys of older versions, which still work, for `hearth doctor --fix`.
	Renames func(in Places) []Rename
	// Switches are the features that the values switch on or off.
	Switches func(T) map[string]bool
}

// Of returns the section's values: those of the file, or the defaults.
func (s *Settings[T]) Of(c Config) T {
	if b := c.Sections.of(s.name()); b != nil {
		return *b.to.(*T)
	}
	return s.Default
}

// name tells the section from all others.
func (s *Settings[T]) name() string {
	if s.Name == "" {
		return s.Path
	}
	return s.Path + "/" + s.Name
}

// With returns the settings with other values in this section, for tests.
func (s *Settings[T]) With(c Config, v T) Config {
	b := s.bind()
	*b.to.(*T) = v
	c.Sections = c.Sections.with(b)
	return c
}

func (s *Settings[T]) bind() *bound {
	to := new(T)
	*to = s.Default
	b := &bound{name: s.name(), at: steps(s.Path), to: to, fields: s.Fields(to), renames: s.Renames}
	if s.Check != nil {
		b.check = func() error { return s.Check(to) }
	}
	if s.Short != nil {
		b.short = func(v Value) bool { return s.Short(to, v) }
	}
	if s.Whole != nil {
		b.whole = func(c Config, wrong func(Path, string, ...any)) { s.Whole(to, c, wrong) }
	}
	if s.Strict != nil {
		b.strict = func() { s.Strict(to) }
	}
	if s.Switches != nil {
		b.switches = func() map[string]bool { return s.Switches(*to) }
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
	name    string   // its path, and /Name where there is one
	at      []string // the steps of its path
	to      any      // a *T
	fields  []Field
	check   func() error
	short   func(Value) bool
	whole   func(Config, func(Path, string, ...any))
	strict  func()
	feature string // that it belongs to, "" for the kernel's

	fresh   func() (to any, fields []Field) // of an entry; nil: the section is no Entries
	entries []boundEntry                    // that were read

	renames  func(Places) []Rename
	switches func() map[string]bool
}

// path is where the section stands, as people write it.
func (b *bound) path() string { return strings.ReplaceAll(strings.Join(b.at, "."), ".[]", "[]") }

func (l Sections) bind() []*bound {
	out := make([]*bound, len(l))
	for i, s := range l {
		out[i] = s.bind()
	}
	return out
}

// Values are those of all sections at one moment. They never change.
type Values struct{ list []*bound }

func (v Values) of(name string) *bound {
	for _, b := range v.list {
		if b.name == name {
			return b
		}
	}
	return nil
}

// Equal reports whether both hold the same.
func (v Values) Equal(o Values) bool {
	return slices.EqualFunc(v.list, o.list, func(a, b *bound) bool {
		return a.name == b.name && reflect.DeepEqual(a.to, b.to) && slices.EqualFunc(a.entries, b.entries, boundEntry.equal)
	})
}

// with are the values with one section in place of what it was.
func (v Values) with(b *bound) Values {
	return Values{append(slices.DeleteFunc(slices.Clone(v.list), func(o *bound) bool { return o.name == b.name }), b)}
}

// FeatureOn reports whether a feature is to be started.
func (c *Config) FeatureOn(name string) bool {
	for _, b := range c.Sections.list {
		if b.switches != nil {
			if on, said := b.switches()[name]; said {
				return on
			}
		}
	}
	return true
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
		switch {
		case b == nil:
			return nil
		case s.index >= 0:
			b = b.at[anyEntry]
		default:
			b = b.at[s.key]
		}
	}
	return b
}

// Config is what the file says, with defaults filled in: each section's owner asks
// for its own (Settings.Of). Treat it as read-only: it is shared between all
// readers.
type Config struct{ Sections Values }

// decode reads every known key of a document over the defaults.
func (d *decoder) decode() Config {
	d.begin()
	d.object(d.doc.root)
	c := Config{Values{d.bound}}
	d.among(c)
	return c
}

// begin binds the sections to a new reading.
func (d *decoder) begin() {
	d.bound = d.sections.bind()
	d.tree = grow(d.bound)
	d.off = map[string]bool{}
	for i, b := range d.bound {
		if b.switches == nil {
			continue
		}
		first := &decoder{doc: d.doc, env: d.env, bound: d.sections[i : i+1].bind()}
		first.tree = grow(first.bound)
		first.object(d.doc.root)
		for name, on := range first.bound[0].switches() {
			d.off[name] = !on
		}
	}
}

// sectionFields adds the keys of the sections at this place to others.
func (d *decoder) sectionFields(at *branch, others []field) []field {
	var out []field
	for _, b := range at.own {
		out = append(out, d.readers(d.fieldsOf(b))...)
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
		read := func(n *node) { f.read(Value{d, n}) }
		if m, ok := f.(interface{ isLast() bool }); ok && m.isLast() {
			read = func(n *node) { d.lately(func() { f.read(Value{d, n}) }) }
		}
		out = append(out, field{f.key(), read})
	}
	return out
}

// lately reads something at this place when the rest of the object was read.
func (d *decoder) lately(read func()) {
	at := slices.Clone(d.path)
	d.late = append(d.late, func() {
		here := d.path
		d.path = at
		read()
		d.path = here
	})
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
			d.judged(n, b.check())
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

// Notice is what a person should know of keys that are used all the same.
type Notice string

func (n Notice) Error() string { return string(n) }

// judged tells what a check said.
func (d *decoder) judged(n *node, err error) {
	var notice Notice
	switch {
	case errors.As(err, &notice):
		d.warn(n.start, "%s", notice)
	case err != nil:
		d.issue(n.start, "%s", err)
	}
}

// among judges the sections among each other.
func (d *decoder) among(c Config) {
	for _, b := range d.bound {
		if b.whole != nil {
			b.whole(c, d.wrongAt)
		}
	}
}

// wrongAt is an issue at a place of the file, or where the place would be.
func (d *decoder) wrongAt(at Path, format string, args ...any) {
	for i := len(at); i >= 0; i-- {
		if n, ok := d.doc.find(at[:i]); ok {
			d.path = slices.Clone(at[:i])
			d.issue(n.start, format, args...)
			d.path = nil
			return
		}
	}
}

// MarshalJSON writes the settings in use as the file would have them.
func (c Config) MarshalJSON() ([]byte, error) {
	all := map[string]json.RawMessage{}
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
		if entries := b.at[key].at[anyEntry]; entries != nil {
			if err := entries.showEntries(all, key); err != nil {
				return err
			}
			continue
		}
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
