package config

// Reach is how a provider wants to be spoken to beyond its address and dialect.
type Reach struct {
	Headers    map[string]Secret `json:"headers,omitempty"`    // sent with every request
	AuthHeader bool              `json:"authHeader,omitempty"` // the key goes as Authorization: Bearer
}
