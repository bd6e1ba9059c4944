package web

import (
	"github.com/hearth-assistant/hearth/gateway/config"
)

// Fetching is about web_fetch.
type Fetching struct {
	Enabled  bool
	MaxBytes int // of a page; 0: 5 MB
}

// FetchSection are the settings of web_fetch.
var FetchSection = &config.Settings[Fetching]{
	Path:    "tools.web.fetch",
	Default: Fetching{Enabled: true},
	Fields: func(f *Fetching) []config.Field {
		return []config.Field{
			config.Switch{
				Key: "enabled", To: &f.Enabled, Hint: config.Hint{Pane: "tools"},
				Help: "whether the assistant may fetch public web pages (`web_fetch`)",
			},
			config.Number{
				Key: "maxResponseBytes", To: &f.MaxBytes, Min: 32 << 10, Max: 10 << 20, Hint: config.Hint{Default: "5 MB"},
				Help: "how much of a page is read, 32 KB to 10 MB",
			},
			config.Later("provider", "maxChars", "maxCharsCap", "timeoutSeconds", "cacheTtlMinutes", "maxRedirects", "userAgent", "readability",
				"firecrawl", "ssrfPolicy"),
		}
	},
}

// Searching is about web_search.
type Searching struct {
	Enabled  bool
	Provider string
	APIKey   config.Secret
	BaseURL  string // of a SearXNG server
}

// SearchSection are the settings of web_search.
var SearchSection = &config.Settings[Searching]{
	Path:    "tools.web.search",
	Default: Searching{Enabled: true, Provider: "duckduckgo"},
	Fields: func(s *Searching) []config.Field {
		return []config.Field{
			config.Switch{
				Key: "enabled", To: &s.Enabled, Hint: config.Hint{Pane: "tools"},
				Help: "whether it may search the web (`web_search`)",
			},
			config.Choice{
				Key: "provider", To: &s.Provider, Among: []string{"duckduckgo", "brave", "tavily", "searxng"},
				Help: "`brave`, `tavily` (both need `apiKey`), `searxng` (needs `baseUrl`) or `duckduckgo`",
				Hint: config.Hint{Pane: "tools"},
			},
			config.Hidden{Key: "apiKey", To: &s.APIKey, Help: "the service's key"},
			config.Text{
				Key: "baseUrl", To: &s.BaseURL, Max: 2048, Is: config.WebAddress,
				Help: "another address of the service; a SearXNG server may stand in your own network",
			},
			config.Later("maxResults", "timeoutSeconds", "cacheTtlMinutes", "brave", "tavily", "searxng", "perplexity", "gemini", "grok", "kimi"),
		}
	},
	Check: func(s *Searching) error {
		if s.Provider == "searxng" && s.BaseURL == "" {
			return config.Notice("SearXNG needs the address of a server, and nothing is found until then: set baseUrl beside provider, " +
				"for example \"https://searx.example\"")
		}
		return nil
	},
}
