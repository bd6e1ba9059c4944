package protocol

import "encoding/json"

// ConfigSchema is what the settings may hold: JSON Schema, and beside it what a
// form needs, by path ("*" for names that people choose, "[]" for entries of a
// list).
type ConfigSchema struct {
	Schema      json.RawMessage       `json:"schema"`
	UIHints     map[string]ConfigHint `json:"uiHints"`
	Version     string                `json:"version"`
	GeneratedAt string                `json:"generatedAt"`
}

// ConfigHint is what is told about one key.
type ConfigHint struct {
	Label       string `json:"label,omitempty"`
	Help        string `json:"help,omitempty"`
	Group       string `json:"group,omitempty"` // the pane of the page's settings
	Order       int    `json:"order,omitempty"`
	Advanced    bool   `json:"advanced,omitempty"`
	Sensitive   bool   `json:"sensitive,omitempty"`
	Placeholder string `json:"placeholder,omitempty"`
	Feature     string `json:"hearthFeature,omitempty"` // ours: the feature that it belongs to
	Model       bool   `json:"hearthModel,omitempty"`   // ours: it names a model
	On          string `json:"hearthOn,omitempty"`      // ours: the two values of a choice that is a switch
	Off         string `json:"hearthOff,omitempty"`
	Whole       string `json:"hearthWhole,omitempty"` // ours: the path without which none of the choices holds
}

// When a change of a key is put to use.
const (
	ReloadHot     = "hot"
	ReloadRestart = "restart"
)

// ConfigLookupParams names one place of the settings.
type ConfigLookupParams struct {
	Path string `json:"path"`
}

// ConfigLookup is what is known of one place, and what is directly below it.
type ConfigLookup struct {
	Path       string          `json:"path"`
	Schema     json.RawMessage `json:"schema"`
	ReloadKind string          `json:"reloadKind,omitempty"`
	Hint       *ConfigHint     `json:"hint,omitempty"`
	HintPath   string          `json:"hintPath,omitempty"`
	Children   []ConfigChild   `json:"children"`
}

// ConfigChild is a key below such a place.
type ConfigChild struct {
	Key         string          `json:"key"`
	Path        string          `json:"path"`
	Type        json.RawMessage `json:"type,omitempty"`
	Required    bool            `json:"required"`
	HasChildren bool            `json:"hasChildren"`
	ReloadKind  string          `json:"reloadKind,omitempty"`
	Hint        *ConfigHint     `json:"hint,omitempty"`
	HintPath    string          `json:"hintPath,omitempty"`
}
