package responses

import (
	"cmp"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// leastTokens is the smallest limit that the service takes.
const leastTokens = 16

// options are what programs ask of the model; see model.Options. This dialect
// has no words for stops, penalties and seeds.
type options struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	ToolChoice  any      `json:"tool_choice,omitempty"` // a word, or a named tool
	Text        *form    `json:"text,omitempty"`
}

type named struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type form struct {
	Format format `json:"format"`
}

type format struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
}

func optionsOf(r model.Request, reasons bool) options {
	o := r.Asked()
	out := options{Temperature: o.Temperature, TopP: o.TopP}
	if reasons { // such models refuse both
		out = options{}
	}
	if name, forced := r.Forced(); name != "" {
		out.ToolChoice = named{"function", name}
	} else if forced {
		out.ToolChoice = "required"
	}
	switch f := o.Format; {
	case f == nil:
	case f.Schema == nil:
		out.Text = &form{format{Type: "json_object"}}
	default:
		out.Text = &form{format{"json_schema", cmp.Or(f.Name, "answer"), f.Description, f.Schema, f.Strict}}
	}
	return out
}
