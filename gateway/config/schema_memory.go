package config

func (d *decoder) memorySearch(n *node, m *MemorySearch) {
	fields := []field{
		{"enabled", func(n *node) { m.Enabled = d.boolean(n) }},
		{"provider", func(n *node) {
			before := len(d.issues)
			if m.Provider = d.filled(n, 64); len(d.issues) == before && !providerID(m.Provider) {
				d.issue(n.start, "write the name of a model service, for example \"openai\" or \"ollama\", or \"none\"")
			}
		}},
		{"model", func(n *node) { m.Model = d.filled(n, 256) }},
		{"remote", func(n *node) {
			fields := []field{
				{"baseUrl", func(n *node) { m.Remote.BaseURL = d.webURL(n) }},
				{"apiKey", func(n *node) { m.Remote.APIKey = d.key(n) }},
			}
			d.object(n, append(fields, later("headers", "batch", "nonBatchConcurrency")...)...)
		}},
		{"chunking", func(n *node) {
			d.object(n, field{"tokens", func(n *node) { m.Chunking.Tokens = d.integer(n, 50, 4000) }},
				field{"overlap", func(n *node) { m.Chunking.Overlap = d.integer(n, 0, 2000) }})
		}},
		{"query", func(n *node) { d.memoryQuery(n, &m.Query) }},
	}
	before := len(d.issues)
	d.object(n, append(fields, later("sources", "extraPaths", "rememberAcrossConversations", "multimodal", "experimental", "fallback", "local",
		"store", "sync", "cache", "outputDimensionality", "inputType", "queryInputType", "documentInputType")...)...)
	if len(d.issues) == before && m.Provider != "" && m.Provider != "none" && m.Model == "" {
		d.issue(n.start, "vectors need a model as well: set model beside provider, for example \"text-embedding-3-small\" or \"nomic-embed-text\"")
	}
}

func (d *decoder) memoryQuery(n *node, q *MemoryQuery) {
	share := func(to *float64) func(*node) { return func(n *node) { *to = d.number(n, anyMoney, 1) } }
	d.object(n,
		field{"maxResults", func(n *node) { q.MaxResults = d.integer(n, 1, 50) }},
		field{"minScore", share(&q.MinScore)},
		field{"hybrid", func(n *node) {
			fields := []field{{"vectorWeight", share(&q.Hybrid.VectorWeight)}, {"textWeight", share(&q.Hybrid.TextWeight)}}
			d.object(n, append(fields, later("enabled", "candidateMultiplier", "mmr", "temporalDecay")...)...)
		}},
	)
}

func (d *decoder) memory(n *node, m *Memory) {
	fields := []field{
		{"citations", func(n *node) { m.Citations = d.choice(n, "auto", "on", "off") }},
		{"backend", func(n *node) { d.choice(n, "builtin") }},
	}
	d.object(n, append(fields, later("qmd")...)...)
}
