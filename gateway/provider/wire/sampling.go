package wire

import "github.com/hearth-assistant/hearth/gateway/model"

// Sampling is what programs ask of how a model chooses its words (model.Options),
// under the names that OpenAI gave them. A dialect with other names has a type
// with the same fields and its own tags, and converts.
type Sampling struct {
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	Stop             []string `json:"stop,omitempty"`
}

// SamplingOf takes it out of what a program asks.
func SamplingOf(o model.Options) Sampling {
	return Sampling{o.Temperature, o.TopP, o.PresencePenalty, o.FrequencyPenalty, o.Seed, o.Stop}
}
