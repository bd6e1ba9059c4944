package config

import "slices"

// ModelChoice names models as "provider/model". Empty: the best that is found.
type ModelChoice struct {
	Primary   string   `json:"primary,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
}

// Clone copies it with its list.
func (m ModelChoice) Clone() ModelChoice {
	m.Fallbacks = slices.Clone(m.Fallbacks)
	return m
}

// Field is the key of a choice of models: "provider/model", or an object with the
// ones that follow. The pane of hint shows the first model.
func (m *ModelChoice) Field(key, help string, hint Hint) Object {
	pane := hint.Pane
	hint.Pane = ""
	return Object{
		Key: key, Help: help, Hint: hint,
		Fields: []Field{
			Text{Key: "primary", To: &m.Primary, Max: 512, Is: ModelName, Hint: Hint{Pane: pane, Model: true}},
			Texts{Key: "fallbacks", To: &m.Fallbacks, Max: 512, Is: ModelName, Unset: true},
		},
		Short: func(v Value) bool {
			if _, ok := v.Word(); !ok {
				v.Expected("a text like \"provider/model\" or an object { primary, fallbacks }")
				return true
			}
			Text{To: &m.Primary, Max: 512, Is: ModelName}.read(v)
			return true
		},
	}
}
