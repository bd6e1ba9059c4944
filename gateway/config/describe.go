package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Schema is the form of a value, as JSON Schema says it.
type Schema struct {
	Type        any                `json:"type,omitempty"` // a text, or several
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Default     json.RawMessage    `json:"default,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	MaxLength   int                `json:"maxLength,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Additional  *Schema            `json:"additionalProperties,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
}

// Described is one key of the settings, as people and clients are told of it.
type Described struct {
	Path     string // "agents.defaults.heartbeat.every", "mcp.servers.<id>.url", "agents.list[].id"
	Feature  string // that it belongs to, "" for the kernel's
	Label    string
	Help     string
	Hint     Hint
	Schema   Schema // without what is below
	Secret   bool
	Children int // how many keys are known below
}

// Describe lists the keys of all sections, in their order: an object before what
// is in it.
func (l Sections) Describe() (out []Described) {
	for _, b := range l.bind() {
		out = append(out, describe(b.path(), b.feature, b.fields)...)
	}
	return out
}

func describe(above, feature string, fields []Field) (out []Described) {
	for _, f := range fields {
		switch f.(type) {
		case unused, alias:
			continue
		}
		at := strings.TrimPrefix(above+"."+f.key(), ".")
		if f.key() == "[]" {
			at = above + "[]"
		}
		a := f.about()
		d := Described{Path: at, Feature: feature, Label: a.Label, Help: a.help, Hint: a.Hint, Schema: f.schema()}
		_, d.Secret = bare(f).(Hidden)
		if d.Label == "" {
			d.Label = labelOf(f.key())
		}
		if v, ok := f.shown(); ok && !d.Secret {
			if b, err := json.Marshal(v); err == nil {
				d.Schema.Default = b
			}
		}
		inside := describe(at, feature, f.below(false))
		d.Children = len(inside)
		out = append(append(out, d), inside...)
	}
	return out
}

// bare is a field without the name of its place.
func bare(f Field) Field {
	if e, ok := f.(entry); ok {
		return bare(e.Field)
	}
	return f
}

// labelOf makes words of a key: "ackMaxChars" is "Ack max chars".
func labelOf(key string) string {
	var b strings.Builder
	for i, r := range strings.Trim(key, "<>[]") {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r):
			b.WriteRune(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Schema puts the keys of all sections together. What stands in the file beside
// them is allowed: it is kept.
func (l Sections) Schema() *Schema {
	root := &Schema{Type: "object"}
	for _, d := range l.Describe() {
		at := root
		for _, step := range steps(d.Path) {
			at = at.step(step)
		}
		kids := *at
		*at = d.Schema
		at.Title, at.Description = d.Label, d.Help
		at.Properties, at.Additional = kids.Properties, kids.Additional
		if kids.Items != nil {
			at.Items = kids.Items
		}
	}
	return root
}

// steps are the parts of a described path: "[]" is one.
func steps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(path, "[]", ".[]"), ".")
}

func (s *Schema) step(name string) *Schema {
	switch {
	case name == "[]":
		if s.Items == nil {
			s.Items = &Schema{}
		}
		return s.Items
	case strings.HasPrefix(name, "<"):
		if s.Additional == nil {
			s.Additional = &Schema{}
		}
		return s.Additional
	}
	if s.Type == nil {
		s.Type = "object"
	}
	if s.Properties == nil {
		s.Properties = map[string]*Schema{}
	}
	if s.Properties[name] == nil {
		s.Properties[name] = &Schema{Type: "object", Title: labelOf(name)}
	}
	return s.Properties[name]
}

// At returns the schema of a place; a name that people choose, and an index, match
// what is said of all of them. nil: nothing is known of it.
func (s *Schema) At(p Path) *Schema {
	for _, step := range p {
		switch {
		case s == nil:
			return nil
		case step.index >= 0 || step.key == "[]":
			s = s.Items
		case s.Properties[step.key] != nil:
			s = s.Properties[step.key]
		default:
			s = s.Additional
		}
	}
	return s
}

// Row is a line of the reference of settings.
type Row struct{ Key, Default, Help string }

// Names are those of the sections: their paths, with /Name where several share one.
func (l Sections) Names() (out []string) {
	for _, b := range l.bind() {
		out = append(out, b.name)
	}
	return out
}

// Reference lists the keys of a section that have a help text, for
// docs/configuration.md. Keys without one are said of the object above them.
func (l Sections) Reference(name string) (rows []Row) {
	for _, b := range l.bind() {
		if b.name != name {
			continue
		}
		above := "" // whose keys are told of elsewhere
		for _, d := range describe(b.path(), b.feature, b.fields) {
			if above != "" && strings.HasPrefix(d.Path, above) {
				continue
			}
			if above = ""; d.Hint.Like {
				above = d.Path + "."
			}
			if d.Help != "" {
				rows = append(rows, Row{Key: "`" + d.Path + "`", Default: d.defaultWords(), Help: d.Help})
			}
		}
	}
	return rows
}

func (d Described) defaultWords() string {
	switch {
	case d.Hint.Default == "-":
		return ""
	case d.Hint.Default != "":
		return d.Hint.Default
	case d.Schema.Default == nil || d.Schema.Type == "object":
		return ""
	}
	return "`" + strings.ReplaceAll(string(d.Schema.Default), ",", ", ") + "`"
}

// Faults says what is wrong with the sections themselves: keys that two of them
// have, keys that say nothing of themselves. A test keeps it empty.
func (l Sections) Faults() (out []string) {
	names := l.Names()
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			out = append(out, fmt.Sprintf("two sections are called %s: give one a Name", name))
		}
	}
	helped := map[string]bool{} // by path: it, or what is above it, has a help text
	for _, d := range l.Describe() {
		if _, twice := helped[d.Path]; twice {
			out = append(out, fmt.Sprintf("%s is described twice", d.Path))
		}
		above := d.Path[:max(strings.LastIndexAny(d.Path, ".["), 0)]
		helped[d.Path] = d.Help != "" || helped[above]
		if !helped[d.Path] && d.Children == 0 {
			out = append(out, fmt.Sprintf("%s has no help text, nor has what is above it", d.Path))
		}
	}
	return out
}
