package config

// MemorySearch is about finding what is remembered.
type MemorySearch struct {
	Enabled  bool           `json:"enabled"`
	Provider string         `json:"provider,omitempty"` // the service that makes vectors; empty: none, only words are compared
	Model    string         `json:"model,omitempty"`    // of vectors
	Remote   MemoryRemote   `json:"remote,omitzero"`
	Chunking MemoryChunking `json:"chunking"`
	Query    MemoryQuery    `json:"query"`
}

// MemoryRemote is where vectors are made, when it is not where the provider is.
type MemoryRemote struct {
	BaseURL string `json:"baseUrl,omitempty"`
	APIKey  Secret `json:"apiKey,omitzero"`
}

// MemoryChunking is how notes are cut, in tokens.
type MemoryChunking struct {
	Tokens  int `json:"tokens"`
	Overlap int `json:"overlap"`
}

// MemoryQuery is about the answers.
type MemoryQuery struct {
	MaxResults int          `json:"maxResults"`
	MinScore   float64      `json:"minScore"`
	Hybrid     MemoryHybrid `json:"hybrid"`
}

// MemoryHybrid is what the two ways of finding weigh.
type MemoryHybrid struct {
	VectorWeight float64 `json:"vectorWeight"`
	TextWeight   float64 `json:"textWeight"`
}

// Memory is about what is told of it.
type Memory struct {
	Citations string `json:"citations"` // auto, on, off
}

func defaultMemorySearch() MemorySearch {
	return MemorySearch{
		Enabled: true, Chunking: MemoryChunking{Tokens: 400, Overlap: 80},
		Query: MemoryQuery{MaxResults: 6, Hybrid: MemoryHybrid{VectorWeight: 0.7, TextWeight: 0.3}},
	}
}

func defaultMemory() Memory { return Memory{Citations: "auto"} }
