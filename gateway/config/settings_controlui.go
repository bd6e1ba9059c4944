package config

// ControlUI is about pages of others that may use this gateway.
type ControlUI struct {
	// AllowedOrigins are origins besides our own page's, "https://host" or
	// "http://host:port", in lower case.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
}
