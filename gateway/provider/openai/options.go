package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// options are what programs ask of the model; see model.Options.
type options struct {
	wire.Sampling
	ToolChoice     any     `json:"tool_choice,omitempty"` // a word, or a named tool
	ResponseFormat *format `json:"response_format,omitempty"`
}

type named struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

type format struct {
	Type   string  `json:"type"`
	Schema *schema `json:"json_schema,omitempty"`
}

type schema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      *bool           `json:"strict,omitempty"`
}

// Reasons tells OpenAI's reasoning models, which refuse what tunes others. A
// program that asks for "hearth" cannot know which model answers.
func Reasons(id string) bool {
	for _, begin := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(id, begin) && !strings.Contains(id, "chat") {
			return true
		}
	}
	return false
}

func (p *provider) options(r model.Request) options {
	o := r.Asked()
	out := options{Sampling: wire.SamplingOf(o)}
	if p.quirks.MaxCompletionTokens && Reasons(r.Model) {
		out.Sampling = wire.Sampling{Seed: o.Seed}
	}
	switch name, forced := r.Forced(); {
	case forced && name != "" && !p.quirks.NoNamedTool:
		n := named{Type: "function"}
		n.Function.Name = name
		out.ToolChoice = n
	case forced: // it is offered no other tool
		out.ToolChoice = "required"
	}
	switch f := o.Format; {
	case f == nil, p.quirks.FormatOrTools && len(r.Tools) > 0, p.quirks.NoObject && f.Schema == nil:
	case f.Schema == nil, p.quirks.NoSchema:
		out.ResponseFormat = &format{Type: "json_object"}
	default:
		out.ResponseFormat = &format{"json_schema", &schema{cmp.Or(f.Name, "answer"), f.Description, f.Schema, f.Strict}}
	}
	return out
}
