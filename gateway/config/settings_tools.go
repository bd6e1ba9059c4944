package config

// Tools is what the assistant may use, and how.
type Tools struct {
	Web ToolsWeb `json:"web"`
}
