package bedrock

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// What programs ask of the model; see model.Options. This dialect has no words
// for penalties, seeds and forms of an answer.

// choice holds one of its fields.
type choice struct {
	Any  *struct{}   `json:"any,omitempty"`
	Tool *toolChoice `json:"tool,omitempty"`
}

type toolChoice struct {
	Name string `json:"name"`
}

// choiceOf forces a call at the models that take that.
func choiceOf(r model.Request) *choice {
	name, forced := r.Forced()
	takes := func(makers ...string) bool {
		for _, m := range makers {
			if strings.Contains(r.Model, m) {
				return true
			}
		}
		return false
	}
	switch {
	case forced && name != "" && takes("anthropic.", "amazon.nova"):
		return &choice{Tool: &toolChoice{name}}
	case forced && takes("anthropic.", "amazon.nova", "mistral."):
		return &choice{Any: &struct{}{}}
	}
	return nil
}

// inferenceOf is nil where nothing is asked for.
func inferenceOf(r model.Request, limit int, thinks bool) *inference {
	o := r.Asked()
	out := inference{MaxTokens: limit, StopSequences: o.Stop}
	switch { // Claude refuses both at once, and either beside reasoning
	case thinks:
	case o.Temperature != nil:
		t := min(*o.Temperature, 1) // the scale ends there
		out.Temperature = &t
		if !strings.Contains(r.Model, "anthropic.") {
			out.TopP = o.TopP
		}
	default:
		out.TopP = o.TopP
	}
	if out.MaxTokens == 0 && out.Temperature == nil && out.TopP == nil && len(out.StopSequences) == 0 {
		return nil
	}
	return &out
}
