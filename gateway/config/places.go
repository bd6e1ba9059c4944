package config

import "slices"

// Places are those of a file, for checks of keys that stand apart and for keys of
// older versions.
type Places struct{ d *decoder }

// Has reports whether the file has a value at a path.
func (p Places) Has(at Path) bool {
	_, ok := p.d.doc.find(at)
	return ok
}

// Value returns the value at a path; ok is false when the file has none. What is
// wrong with it is told when the file is read, not here.
func (p Places) Value(at Path) (v Value, ok bool) {
	n, ok := p.d.doc.find(at)
	return Value{&decoder{doc: p.d.doc}, n}, ok
}

// Keys are the names in the object at a path.
func (p Places) Keys(at Path) (out []string) {
	n, ok := p.d.doc.find(at)
	if !ok || n.kind != kindObject {
		return nil
	}
	for _, it := range n.items {
		out = append(out, it.key)
	}
	return out
}

// Below is a path with more keys at its end.
func (p Path) Below(keys ...string) Path {
	p = slices.Clone(p)
	for _, k := range keys {
		p = append(p, Key(k))
	}
	return p
}

// Through reports whether one of the path's steps is a key.
func (p Path) Through(key string) bool { return slices.Contains(p, Key(key)) }

// At is the path of keys.
func At(keys ...string) Path { return Path(nil).Below(keys...) }

// Rename gives the value of an old key to a new one.
type Rename struct {
	Says  string // "session.idleMinutes is session.reset"
	Old   Path   // is taken away; nil: nothing is
	New   Path   // gets Value; nil: it has one already
	Value string // JSON5
}

func (r Rename) ops() (out []op) {
	if r.Old != nil {
		out = append(out, op{r.Old, nil})
	}
	if r.New != nil {
		out = append(out, op{r.New, word(r.Value)})
	}
	return out
}
