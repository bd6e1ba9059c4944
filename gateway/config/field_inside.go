package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Object is a key with keys below it.
type Object struct {
	Key    string
	Fields []Field
	Check  func() error     // of keys that belong together
	Short  func(Value) bool // reads what may stand in place of the object, and says whether it did
	// Rest gets the keys that are not among Fields as JSON; nil: nobody knows them.
	Rest *[]byte
	Help string
	Hint Hint
}

func (f Object) key() string        { return f.Key }
func (f Object) about() about       { return about{f.Help, f.Hint} }
func (f Object) below(bool) []Field { return f.Fields }
func (f Object) schema() Schema     { return Schema{Type: "object"} }

func (f Object) read(v Value) {
	if f.Short != nil && !v.IsObject() && f.Short(v) {
		return
	}
	if f.Rest != nil && v.IsObject() {
		v, *f.Rest = v.split(f.Fields)
	}
	if v.Object(f.Fields...) && f.Check != nil {
		v.d.judged(v.n, f.Check())
	}
}

func (f Object) shown() (any, bool) {
	all := map[string]json.RawMessage{}
	if err := showFields(all, f.Fields); err != nil {
		return nil, false
	}
	return all, len(all) > 0
}

// Map is a key whose value has names that people choose.
type Map[T any] struct {
	Key string
	To  *map[string]T
	// Name stands for such a name in descriptions: "<id>".
	Name string
	// New is what an entry begins with; nil: the zero value.
	New func(name string) T
	// One is the field of an entry. Its Key is the name, and need not be given.
	One func(name string, to *T) Field
	// Is says what is wrong with a name; nil: any name.
	Is func(string) error
	// Last: it is read after the other keys of its object, which an entry may begin
	// with (New).
	Last bool
	Help string
	Hint Hint
}

func (f Map[T]) isLast() bool   { return f.Last }
func (f Map[T]) key() string    { return f.Key }
func (f Map[T]) about() about   { return about{f.Help, f.Hint} }
func (f Map[T]) schema() Schema { return Schema{Type: "object"} }

func (f Map[T]) start(name string) *T {
	v := new(T)
	if f.New != nil {
		*v = f.New(name)
	}
	return v
}

func (f Map[T]) read(v Value) {
	*f.To = make(map[string]T, len(v.n.items))
	v.d.each(v.n, func(name string, at int, n *node) {
		if f.Is != nil {
			if err := f.Is(name); err != nil {
				v.d.issue(at, "%s", err)
				return
			}
		}
		before, to := len(v.d.issues), f.start(name)
		f.One(name, to).read(Value{v.d, n})
		if len(v.d.issues) == before {
			(*f.To)[name] = *to
		}
	})
}

func (f Map[T]) shown() (any, bool) {
	all := map[string]any{}
	for _, e := range f.below(true) {
		if v, ok := e.shown(); ok {
			all[e.key()] = v
		}
	}
	return all, len(all) > 0
}

func (f Map[T]) below(asSet bool) (out []Field) {
	if !asSet {
		return []Field{entry{f.One("", f.start("")), f.name()}}
	}
	for _, name := range slices.Sorted(maps.Keys(*f.To)) {
		v := (*f.To)[name]
		out = append(out, entry{f.One(name, &v), name})
	}
	return out
}

func (f Map[T]) name() string {
	if f.Name == "" {
		return "<name>"
	}
	return f.Name
}

// entry is a field by the name of its place.
type entry struct {
	Field
	name string
}

func (e entry) key() string { return e.name }

// List is a list of objects.
type List[T any] struct {
	Key string
	To  *[]T
	New func() T
	One func(*T) Field
	// Take judges an entry that is right by itself, when those before it are in To; nil,
	// no error, or a Notice, which is told: it is added.
	Take func(T) error
	Help string
	Hint Hint
}

func (f List[T]) key() string    { return f.Key }
func (f List[T]) about() about   { return about{f.Help, f.Hint} }
func (f List[T]) schema() Schema { return Schema{Type: "array"} }

func (f List[T]) start() *T {
	v := new(T)
	if f.New != nil {
		*v = f.New()
	}
	return v
}

func (f List[T]) read(v Value) {
	*f.To = nil
	v.List(func(v Value) {
		before, to := len(v.d.issues), f.start()
		f.One(to).read(v)
		if len(v.d.issues) > before {
			return
		}
		if f.Take != nil {
			if v.d.judged(v.n, f.Take(*to)); len(v.d.issues) > before {
				return
			}
		}
		*f.To = append(*f.To, *to)
	})
}

func (f List[T]) shown() (any, bool) {
	out := []any{}
	for i := range *f.To {
		if v, ok := f.One(&(*f.To)[i]).shown(); ok {
			out = append(out, v)
		}
	}
	return out, len(out) > 0
}

func (f List[T]) below(asSet bool) (out []Field) {
	if !asSet {
		return []Field{entry{f.One(f.start()), "[]"}}
	}
	for i := range *f.To {
		out = append(out, entry{f.One(&(*f.To)[i]), fmt.Sprintf("[%d]", i)})
	}
	return out
}
