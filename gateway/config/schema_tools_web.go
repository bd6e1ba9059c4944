package config

func (d *decoder) toolsWeb(n *node, w *ToolsWeb) {
	d.object(n,
		field{"proxy", func(n *node) { w.Proxy = d.webURL(n) }},
		field{"fetch", func(n *node) { d.webFetch(n, &w.Fetch) }},
		field{"search", func(n *node) { d.webSearch(n, &w.Search) }},
	)
}

func (d *decoder) webFetch(n *node, f *WebFetch) {
	fields := []field{
		{"enabled", func(n *node) { f.Enabled = d.boolean(n) }},
		{"maxResponseBytes", func(n *node) { f.MaxBytes = d.integer(n, 32<<10, 10<<20) }},
	}
	d.object(n, append(fields, later("provider", "maxChars", "maxCharsCap", "timeoutSeconds", "cacheTtlMinutes", "maxRedirects", "userAgent",
		"readability", "firecrawl", "ssrfPolicy")...)...)
}

func (d *decoder) webSearch(n *node, s *WebSearch) {
	fields := []field{
		{"enabled", func(n *node) { s.Enabled = d.boolean(n) }},
		{"provider", func(n *node) { s.Provider = d.choice(n, "brave", "searxng", "duckduckgo", "tavily") }},
		{"apiKey", func(n *node) { s.APIKey = d.key(n) }},
		{"baseUrl", func(n *node) { s.BaseURL = d.webURL(n) }},
	}
	before := len(d.issues)
	d.object(n, append(fields, later("maxResults", "timeoutSeconds", "cacheTtlMinutes", "brave", "tavily", "searxng", "perplexity", "gemini",
		"grok", "kimi")...)...)
	if len(d.issues) == before && s.Provider == "searxng" && s.BaseURL == "" {
		d.issue(n.start, "SearXNG needs the address of a server: set baseUrl beside provider, for example \"https://searx.example\"")
	}
}
