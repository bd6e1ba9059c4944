package openaiserver

import (
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// tuning is what both forms say about how the model answers.
type tuning struct {
	Temperature      *float64 `json:"temperature"`
	TopP             *float64 `json:"top_p"`
	PresencePenalty  *float64 `json:"presence_penalty"`
	FrequencyPenalty *float64 `json:"frequency_penalty"`
	Seed             *int64   `json:"seed"`
	Stop             stops    `json:"stop"`
}

// stops is one text or a list.
type stops []string

func (s *stops) UnmarshalJSON(raw []byte) error {
	var one string
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &one); err != nil {
			return Invalid("stop", "stop is a text, or a list of at most %d.", maxStops)
		}
		*s = stops{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return Invalid("stop", "stop is a text, or a list of at most %d.", maxStops)
	}
	*s = list
	return nil
}

const (
	maxStops     = 4
	maxStopBytes = 1024
)

// tune takes what tunes the model; of several limits of tokens, which are least at
// least, the lowest counts.
func (r *Request) tune(t tuning, least int, limits map[string]*int) error {
	for name, n := range limits {
		if n == nil {
			continue
		}
		if *n < least {
			return Invalid(name, "%s must be at least %d.", name, least)
		}
		if r.Options.MaxTokens == 0 || *n < r.Options.MaxTokens {
			r.Options.MaxTokens = *n
		}
	}
	for _, c := range []struct {
		name      string
		v         *float64
		from, til float64
	}{
		{"temperature", t.Temperature, 0, 2},
		{"top_p", t.TopP, 0, 1},
		{"presence_penalty", t.PresencePenalty, -2, 2},
		{"frequency_penalty", t.FrequencyPenalty, -2, 2},
	} {
		if c.v != nil && (*c.v < c.from || *c.v > c.til) {
			return Invalid(c.name, "%s must be from %g to %g.", c.name, c.from, c.til)
		}
	}
	if len(t.Stop) > maxStops {
		return Invalid("stop", "There are %d texts in stop, at most %d are allowed.", len(t.Stop), maxStops)
	}
	for _, s := range t.Stop {
		if s == "" || len(s) > maxStopBytes {
			return Invalid("stop", "A text of stop has 1 to %d bytes.", maxStopBytes)
		}
	}
	o := &r.Options
	o.Temperature, o.TopP, o.PresencePenalty, o.FrequencyPenalty, o.Seed, o.Stop = t.Temperature, t.TopP, t.PresencePenalty,
		t.FrequencyPenalty, t.Seed, t.Stop
	return nil
}

// check refuses a format that says nothing, or nothing that is known.
func (f *format) check(name string) error {
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text", "json_object":
		return nil
	case "json_schema":
		schema := f.schema()
		if len(schema) == 0 || string(schema) == "null" {
			return Invalid(name, "%s is of the type json_schema, so it needs a schema.", name)
		}
		if schema[0] != '{' {
			return Invalid(name, "The schema of %s is no object.", name)
		}
		return nil
	}
	return Invalid(name, "%s has the type %q; text, json_object and json_schema are known.", name, clip(f.Type, 40))
}

// schema is where either form has it.
func (f *format) schema() json.RawMessage {
	if len(f.Schema) > 0 {
		return f.Schema
	}
	return f.JSONSchema.Schema
}

// options is what the format says to models that can be held to it.
func (f *format) options() *model.Format {
	if f == nil {
		return nil
	}
	switch f.Type {
	case "json_object":
		return &model.Format{}
	case "json_schema":
		out := model.Format{Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}
		if j := f.JSONSchema; len(f.Schema) == 0 {
			out = model.Format{Name: j.Name, Description: j.Description, Schema: j.Schema, Strict: j.Strict}
		}
		if !validName(out.Name) {
			out.Name = ""
		}
		if len(out.Schema) == 0 || out.Schema[0] != '{' {
			out.Schema = nil
		}
		return &out
	}
	return nil
}

// Asked is what the newest request of a run asks of the model: a run has
// one for each time that the program brings results. nil = nothing.
func (h *Handler) Asked(runID string) *model.Options {
	t := h.turns.of(runID)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.options
	if t.hide {
		for _, f := range t.tools {
			o.Hide = append(o.Hide, f.Name)
		}
	}
	if o.Empty() {
		return nil
	}
	return &o
}
