package config

// Own holds the keys that are Hearth's alone.
type Own struct {
	Allowance Allowance `json:"allowance"`
	Desktop   Desktop   `json:"desktop"`
}

// Allowance bounds what models may cost; 0 is without a limit.
type Allowance struct {
	Daily      float64 `json:"daily,omitempty"`
	Monthly    float64 `json:"monthly,omitempty"`
	Currency   string  `json:"currency"`
	CheapModel string  `json:"cheapModel,omitempty"` // empty: one on this computer, if there is one
}

// DefaultCurrency is that of the built-in prices.
const DefaultCurrency = "USD"

// Price is what a million tokens cost.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}
