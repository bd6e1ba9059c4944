package gemini

import (
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// sampling is wire.Sampling under Gemini's names.
type sampling struct {
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"topP,omitempty"`
	PresencePenalty  *float64 `json:"presencePenalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequencyPenalty,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	Stop             []string `json:"stopSequences,omitempty"`
}

// options are what programs ask of the model; see model.Options.
type options struct {
	sampling
	ResponseMIMEType string          `json:"responseMimeType,omitempty"`
	ResponseSchema   json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling calling `json:"functionCallingConfig"`
}

type calling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

func optionsOf(r model.Request) options {
	o := r.Asked()
	out := options{sampling: sampling(wire.SamplingOf(o))}
	if o.Format != nil && len(r.Tools) == 0 { // the service refuses both at once
		out.ResponseMIMEType, out.ResponseSchema = "application/json", o.Format.Schema
	}
	return out
}

func toolConfigOf(r model.Request) *toolConfig {
	name, forced := r.Forced()
	if !forced {
		return nil
	}
	c := calling{Mode: "ANY"}
	if name != "" {
		c.Allowed = []string{name}
	}
	return &toolConfig{c}
}
