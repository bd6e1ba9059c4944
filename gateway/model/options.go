package model

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Options are what a program asks of the model for one call. What a dialect has
// no word for is left out of its requests.
type Options struct {
	MaxTokens        int // 0 = not said
	Temperature      *float64
	TopP             *float64
	PresencePenalty  *float64
	FrequencyPenalty *float64
	Seed             *int64
	Stop             []string
	// Call are the tools of which the model has to call one now; it is offered no
	// others. Named: the program named the one.
	Call  []string
	Named bool
	// Hide are tools that are not offered now.
	Hide   []string
	Format *Format
}

// Format is how an answer has to look: one JSON object, or JSON of a schema.
type Format struct {
	Name        string
	Description string
	Schema      json.RawMessage // nil = any object
	Strict      *bool
}

// Empty reports whether nothing is asked for.
func (o *Options) Empty() bool {
	return o == nil || reflect.ValueOf(*o).IsZero()
}

// Offer returns the tools of a call for which the options speak. In code mode
// (exact) the program's tools are called by code, so that none can be demanded.
func (o *Options) Offer(tools []ToolSpec, exact bool) ([]ToolSpec, *Options) {
	if o == nil || len(o.Call) == 0 && len(o.Hide) == 0 {
		return tools, o
	}
	free := *o
	free.Call, free.Named = nil, false
	if exact {
		return tools, &free
	}
	kept := slices.DeleteFunc(slices.Clone(tools), func(t ToolSpec) bool {
		return slices.Contains(o.Hide, t.Name) || len(o.Call) > 0 && !slices.Contains(o.Call, t.Name)
	})
	if len(o.Call) > 0 && len(kept) == 0 {
		return tools, &free
	}
	return kept, o
}

// Forced reports whether the model has to call a tool, and which one when there
// is one that was named.
func (r Request) Forced() (tool string, forced bool) {
	if r.Options == nil || len(r.Options.Call) == 0 || len(r.Tools) == 0 {
		return "", false
	}
	if r.Options.Named {
		tool = r.Options.Call[0]
	}
	return tool, true
}

// Asked are the options, empty where nobody asked for anything.
func (r Request) Asked() Options {
	if r.Options == nil {
		return Options{}
	}
	return *r.Options
}
