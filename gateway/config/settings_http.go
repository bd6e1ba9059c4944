package config

// HTTP is about programs that come in over HTTP.
type HTTP struct {
	Endpoints HTTPEndpoints `json:"endpoints"`
}

// HTTPEndpoints are those in the form of OpenAI's API.
type HTTPEndpoints struct {
	ChatCompletions HTTPEndpoint `json:"chatCompletions"`
	Responses       HTTPEndpoint `json:"responses"`
}

// HTTPEndpoint is off unless somebody turns it on.
type HTTPEndpoint struct {
	Enabled bool `json:"enabled"`
}
