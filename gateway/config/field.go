package config

import (
	"slices"
	"strings"
)

// Field is one key of a section: how it is read, and what people and clients are
// told about it. The kinds of fields are the structs of this package that
// implement it: Text, Choice, Number, MaybeNumber, Amount, Switch, Maybe, Hidden, Texts, Object,
// Map, List, Any, Alias and Later.
type Field interface {
	key() string
	about() about
	read(Value)
	// shown is what the settings in use say; ok is false when nothing is set.
	shown() (v any, ok bool)
	// schema is the form of the value, without what is below it.
	schema() Schema
	// below are the fields inside: as the value has them, or as any value has them.
	below(asSet bool) []Field
}

// Hint is what is told about a key beside its help.
type Hint struct {
	Default  string // in words, where the value itself says little
	Example  string
	Label    string // a name for people; default: made of the key
	Pane     string // the pane of the page's settings that shows it; "": none
	Advanced bool   // few people need it
	Restart  bool   // a change is used at the next start
	Model    bool   // names a model, as provider/model
	On, Off  string // the two values of a choice that is a switch
	Like     bool   // what is below it is as elsewhere: the reference says it there only
	Whole    string // the object without which none of the choices holds: there is then no rule
}

type about struct {
	help string
	Hint
}

// Text is a text without control characters. ${NAME} in it is a variable of the
// environment.
type Text struct {
	Key   string
	To    *string
	Max   int  // bytes; default 4096
	Empty bool // it may be empty
	Lines bool // it may have several lines
	// Is judges the text, and may return it in another form. See WebAddress,
	// TimeOfDay, Folder, ModelName and others.
	Is func(string) (string, error)
	// Read reads it in place of all of that.
	Read func(Value) string
	Help string
	Hint Hint
}

func (f Text) key() string        { return f.Key }
func (f Text) about() about       { return about{f.Help, f.Hint} }
func (f Text) shown() (any, bool) { return *f.To, *f.To != "" }
func (f Text) below(bool) []Field { return nil }
func (f Text) schema() Schema     { return Schema{Type: "string", MaxLength: f.max()} }
func (f Text) max() int           { return orDefault(f.Max, 4096) }
func orDefault(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

func (f Text) read(v Value) {
	if f.Read != nil {
		*f.To = f.Read(v)
		return
	}
	before, old := len(v.d.issues), *f.To
	s := ""
	switch {
	case f.Lines:
		s = v.d.lines(v.n, f.max())
	case f.Empty:
		s = v.d.text(v.n, f.max())
	default:
		s = v.d.filled(v.n, f.max())
	}
	if f.Is != nil && len(v.d.issues) == before && strings.TrimSpace(s) != "" {
		var err error
		if s, err = f.Is(s); err != nil {
			v.Wrong("%s", err)
		}
	}
	*f.To = s
	if len(v.d.issues) > before {
		*f.To = old
	}
}

// Choice is one of some words.
type Choice struct {
	Key   string
	To    *string // nil: the first is the only one that means something
	Among []string
	Read  func(Value) string // in place of comparing with them; "": as it was
	Help  string
	Hint  Hint
}

func (f Choice) key() string  { return f.Key }
func (f Choice) about() about { return about{f.Help, f.Hint} }
func (f Choice) shown() (any, bool) {
	if f.To == nil { // there is only one, and it is not kept
		return f.Among[0], true
	}
	return *f.To, *f.To != ""
}
func (f Choice) below(bool) []Field { return nil }
func (f Choice) schema() Schema     { return Schema{Type: "string", Enum: f.Among} }
func (f Choice) read(v Value) {
	s := ""
	if f.Read != nil {
		s = f.Read(v)
	} else {
		s = v.Choice(f.Among...)
	}
	if s != "" && f.To != nil {
		*f.To = s
	}
}

// Number is a whole number.
type Number struct {
	Key      string
	To       *int
	Min, Max int
	Nearest  bool // what is out of bounds is moved to the nearest, with a warning
	Help     string
	Hint     Hint
}

func (f Number) key() string  { return f.Key }
func (f Number) about() about { return about{f.Help, f.Hint} }

// A number that may not be 0 and is 0 was never set.
func (f Number) shown() (any, bool) { return *f.To, *f.To >= f.Min && *f.To <= f.Max }
func (f Number) below(bool) []Field { return nil }
func (f Number) schema() Schema {
	return Schema{Type: "integer", Minimum: new(float64(f.Min)), Maximum: new(float64(f.Max))}
}

func (f Number) read(v Value) {
	if f.Nearest {
		*f.To = v.d.clamped(v.n, f.Min, f.Max)
		return
	}
	*f.To = v.Number(f.Min, f.Max)
}

// Amount is a number with a fraction, from Min, or above it, up to Max.
type Amount struct {
	Key      string
	To       *float64
	Min, Max float64
	Above    bool // Min itself is too little
	Help     string
	Hint     Hint
}

func (f Amount) key() string        { return f.Key }
func (f Amount) about() about       { return about{f.Help, f.Hint} }
func (f Amount) shown() (any, bool) { return *f.To, *f.To != 0 || f.Hint.Default == "" }
func (f Amount) below(bool) []Field { return nil }
func (f Amount) schema() Schema {
	return Schema{Type: "number", Minimum: &f.Min, Maximum: &f.Max}
}

func (f Amount) read(v Value) {
	*f.To = v.d.number(v.n, f.Min, f.Max, f.Above)
}

// Switch is true or false.
type Switch struct {
	Key  string
	To   *bool
	Not  bool // true in the file is false here
	Help string
	Hint Hint
}

func (f Switch) key() string        { return f.Key }
func (f Switch) about() about       { return about{f.Help, f.Hint} }
func (f Switch) shown() (any, bool) { return *f.To != f.Not, true }
func (f Switch) below(bool) []Field { return nil }
func (f Switch) schema() Schema     { return Schema{Type: "boolean"} }
func (f Switch) read(v Value)       { *f.To = v.Switch() != f.Not }

// Maybe is true, false or not said.
type Maybe struct {
	Key  string
	To   **bool
	Read func(Value) bool
	Help string
	Hint Hint
}

func (f Maybe) key() string        { return f.Key }
func (f Maybe) about() about       { return about{f.Help, f.Hint} }
func (f Maybe) shown() (any, bool) { return *f.To, *f.To != nil }
func (f Maybe) below(bool) []Field { return nil }
func (f Maybe) schema() Schema     { return Schema{Type: "boolean"} }
func (f Maybe) read(v Value) {
	if f.Read != nil {
		*f.To = new(f.Read(v))
		return
	}
	*f.To = new(v.Switch())
}

// MaybeNumber is a whole number, or not said.
type MaybeNumber struct {
	Key      string
	To       **int
	Min, Max int
	Help     string
	Hint     Hint
}

func (f MaybeNumber) key() string        { return f.Key }
func (f MaybeNumber) about() about       { return about{f.Help, f.Hint} }
func (f MaybeNumber) shown() (any, bool) { return *f.To, *f.To != nil }
func (f MaybeNumber) below(bool) []Field { return nil }
func (f MaybeNumber) schema() Schema     { return Number{Min: f.Min, Max: f.Max}.schema() }
func (f MaybeNumber) read(v Value)       { *f.To = new(v.Number(f.Min, f.Max)) }

// Hidden is a key, token or password, or where one is found.
type Hidden struct {
	Key   string
	To    *Secret
	Check func(string) error // of one that is written out, see Settings.Check; nil: any text, also none
	Max   int                // bytes of one that Check judges; default 512
	// Perhaps: a header or variable, which is a secret when its name or value says so.
	Perhaps bool
	// Covered: it is not shown either when it is perhaps no secret.
	Covered bool
	// Stays: other programs read it in the file, so it is never kept elsewhere.
	Stays bool
	Help  string
	Hint  Hint
}

func (f Hidden) key() string        { return f.Key }
func (f Hidden) about() about       { return about{f.Help, f.Hint} }
func (f Hidden) shown() (any, bool) { return *f.To, !f.To.IsZero() }
func (f Hidden) below(bool) []Field { return nil }
func (f Hidden) schema() Schema     { return Schema{Type: []string{"string", "object"}} }
func (f Hidden) read(v Value) {
	if f.Check != nil {
		*f.To = v.d.secret(v.n, orDefault(f.Max, 512), f.Check)
		return
	}
	*f.To = v.Secret()
}

// Texts is a list of texts.
type Texts struct {
	Key   string
	To    *[]string
	Max   int      // bytes of each; default 4096
	Among []string // only these; nil: any
	Empty bool     // one may be empty
	Is    func(string) (string, error)
	Read  func(Value) (string, bool) // of one, in place of all of that; false: it is left out
	Check func() error               // judges the whole list
	// Unset: an empty list is as if there were none.
	Unset bool
	Help  string
	Hint  Hint
}

func (f Texts) key() string        { return f.Key }
func (f Texts) about() about       { return about{f.Help, f.Hint} }
func (f Texts) shown() (any, bool) { return *f.To, len(*f.To) > 0 || *f.To != nil && !f.Unset }
func (f Texts) below(bool) []Field { return nil }
func (f Texts) schema() Schema {
	return Schema{Type: "array", Items: &Schema{Type: "string", Enum: f.Among}}
}

func (f Texts) read(v Value) {
	*f.To = nil
	if !f.Unset {
		*f.To = []string{}
	}
	all := len(v.d.issues)
	v.List(func(v Value) {
		one := ""
		switch {
		case f.Read != nil:
			s, ok := f.Read(v)
			if ok {
				*f.To = append(*f.To, s)
			}
			return
		case f.Among != nil:
			one = v.Choice(f.Among...)
			if one == "" {
				return
			}
		default:
			before := len(v.d.issues)
			Text{To: &one, Max: f.Max, Empty: f.Empty, Is: f.Is}.read(v)
			if len(v.d.issues) > before {
				return
			}
		}
		*f.To = append(*f.To, one)
	})
	if f.Check != nil && len(v.d.issues) == all {
		v.d.judged(v.n, f.Check())
	}
}

// Any is a key that is read by the section's own code. Like says which field it
// is like for the schema; nil: anything.
type Any struct {
	Key  string
	Read func(Value)
	Show func() (any, bool) // nil: it is not shown
	Like Field
	Help string
	Hint Hint
}

func (f Any) key() string  { return f.Key }
func (f Any) about() about { return about{f.Help, f.Hint} }
func (f Any) read(v Value) { f.Read(v) }
func (f Any) shown() (any, bool) {
	if f.Show == nil {
		return nil, false
	}
	return f.Show()
}

func (f Any) below(asSet bool) []Field {
	if f.Like == nil || asSet {
		return nil
	}
	return f.Like.below(false)
}

func (f Any) schema() Schema {
	if f.Like == nil {
		return Schema{}
	}
	return f.Like.schema()
}

// Alias is another name of a key: it is read, and not told of.
func Alias(name string, f Field) Field { return alias{f, name} }

type alias struct {
	Field
	name string
}

func (a alias) key() string        { return a.name }
func (a alias) shown() (any, bool) { return nil, false }
func (a alias) below(bool) []Field { return nil }

// Later are keys that other versions and gateways know: they are kept, and said
// to be unused.
func Later(names ...string) Field { return unused(slices.Clone(names)) }

type unused []string

func (unused) key() string        { return "" }
func (unused) about() about       { return about{} }
func (unused) read(Value)         {}
func (unused) shown() (any, bool) { return nil, false }
func (unused) schema() Schema     { return Schema{} }
func (unused) below(bool) []Field { return nil }
