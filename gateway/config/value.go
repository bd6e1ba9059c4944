package config

import "slices"

// Value is one value of the file while it is read, for keys that the fields of
// this package cannot say. What is wrong is told with its line.
type Value struct {
	d *decoder
	n *node
}

// Wrong says what is wrong with the value and what to do: the file has an issue.
func (v Value) Wrong(format string, args ...any) { v.d.issue(v.n.start, format, args...) }

// Warn says what a person should know; the value is used.
func (v Value) Warn(format string, args ...any) { v.d.warn(v.n.start, format, args...) }

// Doubt says what is wrong with the value for who writes it now. In a file it may come
// from elsewhere, and is used.
func (v Value) Doubt(what string) { v.d.doubts = v.d.add(v.d.doubts, v.n.start, what) }

// Expected says that the value is of the wrong kind.
func (v Value) Expected(what string) { v.d.wrongKind(v.n, what) }

// Word returns a text as it is written, without variables; ok is false when it is
// none.
func (v Value) Word() (word string, ok bool) { return v.n.text, v.n.kind == kindString }

// Digits returns a number as it is written.
func (v Value) Digits() (digits string, ok bool) { return v.n.text, v.n.kind == kindNumber }

// IsSwitch reports whether the value is true or false.
func (v Value) IsSwitch() bool { return v.n.kind == kindBool }

// IsObject reports whether it is an object.
func (v Value) IsObject() bool { return v.n.kind == kindObject }

// IsList reports whether it is a list.
func (v Value) IsList() bool { return v.n.kind == kindArray }

// Text reads a text of at most limit bytes that is not empty.
func (v Value) Text(limit int) string { return v.d.filled(v.n, limit) }

// AnyText reads a text of at most limit bytes, which may be empty.
func (v Value) AnyText(limit int) string { return v.d.text(v.n, limit) }

// Choice reads one of some words.
func (v Value) Choice(among ...string) string { return v.d.choice(v.n, among...) }

// Number reads a whole number.
func (v Value) Number(lo, hi int) int { return v.d.integer(v.n, lo, hi) }

// Switch reads true or false.
func (v Value) Switch() bool { return v.d.boolean(v.n) }

// Secret reads a key, or where one is found.
func (v Value) Secret() Secret { return v.d.key(v.n) }

// Object reads an object with these keys, and says whether all of it is right.
func (v Value) Object(fields ...Field) bool {
	before := len(v.d.issues)
	v.d.object(v.n, v.d.readers(fields)...)
	return len(v.d.issues) == before
}

// Each reads an object whose keys are names that people choose.
func (v Value) Each(read func(name string, v Value)) {
	v.d.each(v.n, func(name string, _ int, n *node) { read(name, Value{v.d, n}) })
}

// List reads a list.
func (v Value) List(read func(Value)) {
	v.d.list(v.n, func(n *node) { read(Value{v.d, n}) })
}

// JSON returns the value as standard JSON.
func (v Value) JSON() []byte { return appendJSON(nil, v.n) }

// Has reports whether the value is an object with one of these keys.
func (v Value) Has(keys ...string) bool {
	return v.n.kind == kindObject && slices.ContainsFunc(v.n.items, func(it item) bool { return slices.Contains(keys, it.key) })
}

// split takes the keys of other fields away and returns them as JSON.
func (v Value) split(fields []Field) (own Value, rest []byte) {
	known := func(it item) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return f.key() == it.key })
	}
	mine, others := *v.n, *v.n
	mine.items, others.items = nil, nil
	for _, it := range v.n.items {
		if known(it) {
			mine.items = append(mine.items, it)
		} else {
			others.items = append(others.items, it)
		}
	}
	return Value{v.d, &mine}, appendJSON(nil, &others)
}
