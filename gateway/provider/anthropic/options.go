package anthropic

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// options are what programs ask of the model; see model.Options. This dialect
// has no words for penalties and seeds, and only some models take a schema.
type options struct {
	Temperature   *float64 `json:"temperature,omitempty"`
	TopP          *float64 `json:"top_p,omitempty"`
	StopSequences []string `json:"stop_sequences,omitempty"`
	ToolChoice    *choice  `json:"tool_choice,omitempty"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

func optionsOf(r model.Request, thinks bool) options {
	o := r.Asked()
	var out options
	switch { // newer models refuse both at once, and either beside reasoning
	case thinks, since(r.Model, 7): // and the newest either at all
	case o.Temperature != nil:
		t := min(*o.Temperature, 1) // the scale ends there
		out.Temperature = &t
	default:
		out.TopP = o.TopP
	}
	for _, s := range o.Stop {
		if strings.TrimSpace(s) != "" { // blank ones are refused
			out.StopSequences = append(out.StopSequences, s)
		}
	}
	if name, forced := r.Forced(); name != "" {
		out.ToolChoice = &choice{"tool", name}
	} else if forced {
		out.ToolChoice = &choice{Type: "any"}
	}
	return out
}
