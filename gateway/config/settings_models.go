package config

// Reach is how a provider wants to be spoken to beyond its address and dialect.
type Reach struct {
	Headers    map[string]Secret `json:"headers,omitempty"`    // sent with every request
	AuthHeader bool              `json:"authHeader,omitempty"` // the key goes as Authorization: Bearer
	// TimeoutSeconds: how long it may be silent; 0: as its kind of service may.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
}
