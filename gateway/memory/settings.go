package memory

import (
	"errors"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// SearchSettings are about finding what is remembered.
type SearchSettings struct {
	Enabled  bool
	Provider string // the service that makes vectors; empty: none, only words are compared
	Model    string // of vectors
	Remote   Remote
	Tokens   int // how notes are cut
	Overlap  int

	MaxResults   int
	MinScore     float64
	VectorWeight float64 // what the two ways of finding weigh
	TextWeight   float64
}

// Remote is where vectors are made, when it is not where the provider is.
type Remote struct {
	BaseURL string
	APIKey  config.Secret
}

// RemoteKeyPath is the setting of Remote.APIKey.
const RemoteKeyPath = "agents.defaults.memorySearch.remote.apiKey"

// SearchSection are the settings of what is found.
var SearchSection = &config.Settings[SearchSettings]{
	Path:    "agents.defaults.memorySearch",
	Default: SearchSettings{Enabled: true, Tokens: 400, Overlap: 80, MaxResults: 6, VectorWeight: 0.7, TextWeight: 0.3},
	Fields:  (*SearchSettings).fields,
	Check: func(s *SearchSettings) error {
		if s.Provider != "" && s.Provider != "none" && s.Model == "" {
			return errors.New("vectors need a model as well: set model beside provider, for example \"text-embedding-3-small\" or " +
				"\"nomic-embed-text\"")
		}
		return nil
	},
}

func (s *SearchSettings) fields() []config.Field {
	return []config.Field{
		config.Switch{
			Key: "enabled", To: &s.Enabled, Hint: config.Hint{Pane: "memory"},
			Help: "whether the assistant may use `memory_search`, `memory_get` and `memory_note`",
		},
		config.Text{
			Key: "provider", To: &s.Provider, Max: 64, Is: serviceName, Hint: config.Hint{Default: "none"},
			Help: "the model service that makes vectors, as in `models.providers` (`openai`, `ollama`…), or `none`. Its account or key is used. " +
				"Your notes go there: with a service outside of this computer they leave it",
		},
		config.Text{
			Key: "model", To: &s.Model, Max: 256,
			Help: "its model for vectors, for example `text-embedding-3-small` or `nomic-embed-text`",
		},
		config.Object{Key: "remote", Fields: []config.Field{
			config.Text{
				Key: "baseUrl", To: &s.Remote.BaseURL, Max: 2048, Is: config.WebAddress, Hint: config.Hint{Default: "the provider's"},
				Help: "another address, with its version: `https://host/v1`",
			},
			config.Hidden{Key: "apiKey", To: &s.Remote.APIKey, Help: "the key for that address"},
			config.Later("headers", "batch", "nonBatchConcurrency"),
		}},
		config.Object{Key: "chunking", Fields: []config.Field{
			config.Number{Key: "tokens", To: &s.Tokens, Min: 50, Max: 4000, Help: "how large the passages are, 50 to 4,000"},
			config.Number{Key: "overlap", To: &s.Overlap, Min: 0, Max: 2000, Help: "how much of a passage the next one repeats"},
		}},
		config.Object{Key: "query", Fields: s.query()},
		config.Later("sources", "extraPaths", "rememberAcrossConversations", "multimodal", "experimental", "fallback", "local", "store", "sync",
			"cache", "outputDimensionality", "inputType", "queryInputType", "documentInputType"),
	}
}

func (s *SearchSettings) query() []config.Field {
	return []config.Field{
		config.Number{Key: "maxResults", To: &s.MaxResults, Min: 1, Max: 50, Help: "how many passages a search returns, 1 to 50"},
		config.Amount{Key: "minScore", To: &s.MinScore, Max: 1, Help: "leaves out what fits less, 0 to 1"},
		config.Object{Key: "hybrid", Fields: []config.Field{
			config.Amount{Key: "vectorWeight", To: &s.VectorWeight, Max: 1, Help: "what meaning weighs"},
			config.Amount{Key: "textWeight", To: &s.TextWeight, Max: 1, Help: "what words weigh"},
			config.Later("enabled", "candidateMultiplier", "mmr", "temporalDecay"),
		}},
	}
}

func serviceName(s string) (string, error) {
	if !config.ProviderName(s) {
		return "", errors.New("write the name of a model service, for example \"openai\" or \"ollama\", or \"none\"")
	}
	return s, nil
}

// CitationSettings are about what is told of memory.
type CitationSettings struct {
	Citations string // auto, on, off
}

// Section are the settings of memory as such.
var Section = &config.Settings[CitationSettings]{
	Path:    "memory",
	Default: CitationSettings{Citations: "auto"},
	Fields: func(s *CitationSettings) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "citations", To: &s.Citations, Among: []string{"auto", "on", "off"}, Hint: config.Hint{Pane: "memory"},
				Help: "whether passages name their lines: `on`, `off`, or `auto` (not in groups)",
			},
			config.Choice{Key: "backend", Among: []string{"builtin"}, Help: "the only one"},
			config.Later("qmd"),
		}
	},
}

// StartupSettings are about the notes of the last days that a session begins with
// after a bare /new or /reset.
type StartupSettings struct {
	Enabled         bool
	ApplyOn         []string // new, reset
	DailyMemoryDays int
	MaxFileChars    int
	MaxTotalChars   int
}

// StartupSection are the settings of such notes.
var StartupSection = &config.Settings[StartupSettings]{
	Path:    "agents.defaults.startupContext",
	Default: StartupSettings{Enabled: true, ApplyOn: []string{"new", "reset"}, DailyMemoryDays: 2, MaxFileChars: 1200, MaxTotalChars: 2800},
	Fields: func(s *StartupSettings) []config.Field {
		return []config.Field{
			config.Switch{
				Key: "enabled", To: &s.Enabled, Hint: config.Hint{Pane: "chat"},
				Help: "`false`: it begins without them",
			},
			config.Texts{Key: "applyOn", To: &s.ApplyOn, Among: []string{"new", "reset"}, Help: "after which of the two"},
			config.Number{Key: "dailyMemoryDays", To: &s.DailyMemoryDays, Min: 1, Max: 14, Help: "how many days, today among them; 1 to 14"},
			config.Number{Key: "maxFileChars", To: &s.MaxFileChars, Min: 1, Max: 10_000, Help: "how many characters of one file"},
			config.Number{Key: "maxTotalChars", To: &s.MaxTotalChars, Min: 1, Max: 50_000, Help: "of all of them"},
			config.Later("maxFileBytes"),
		}
	},
}
