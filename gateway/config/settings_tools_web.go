package config

// ToolsWeb is about reading the web.
type ToolsWeb struct {
	Proxy  string    `json:"proxy,omitempty"` // a proxy that the owner trusts; empty: none, whatever the environment says
	Fetch  WebFetch  `json:"fetch"`
	Search WebSearch `json:"search"`
}

// WebFetch is about web_fetch.
type WebFetch struct {
	Enabled  bool `json:"enabled"`
	MaxBytes int  `json:"maxResponseBytes,omitempty"` // of a page; 0: 5 MB
}

// WebSearch is about web_search.
type WebSearch struct {
	Enabled  bool   `json:"enabled"`
	Provider string `json:"provider,omitempty"` // brave, searxng, duckduckgo, tavily; empty: duckduckgo
	APIKey   Secret `json:"apiKey,omitzero"`
	BaseURL  string `json:"baseUrl,omitempty"` // of a SearXNG server
}

func defaultToolsWeb() ToolsWeb {
	return ToolsWeb{Fetch: WebFetch{Enabled: true}, Search: WebSearch{Enabled: true}}
}
