package provider

import (
	"errors"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured are the model services of the file.
type Configured struct {
	Services map[string]ConfiguredService
}

// ConfiguredService is a model service as the file says it.
type ConfiguredService struct {
	BaseURL        string
	APIKey         config.Secret
	API            string // one of the API constants, "": as the table says
	Models         []ServiceModel
	Headers        map[string]config.Secret // sent with every request
	AuthHeader     bool                     // the key goes as Authorization: Bearer
	TimeoutSeconds int                      // how long it may be silent; 0: as its kind may
}

// ServiceModel is one model of a service. Zero numbers mean "not said".
type ServiceModel struct {
	ModelConfig
	Cost *Price // nil: as models.pricing or the built-in list say
}

// Section are the settings of the model services.
var Section = &config.Settings[Configured]{
	Path: "models",
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Map[ConfiguredService]{
				Key: "providers", To: &c.Services, Name: "<id>", Is: serviceName,
				One: func(_ string, s *ConfiguredService) config.Field { return config.Object{Fields: s.fields()} },
			},
			config.Later("mode", "bedrockDiscovery"),
		}
	},
}

func serviceName(id string) error {
	if !config.ProviderName(id) {
		return errors.New("a provider's name has 1 to 64 letters, digits, - _ . and no / or spaces")
	}
	return nil
}

func (s *ConfiguredService) fields() []config.Field {
	return []config.Field{
		config.Text{
			Key: "baseUrl", To: &s.BaseURL, Max: 2048, Is: config.WebAddress, Hint: config.Hint{Default: "known providers: built in"},
			Help: "the address, starting with `http://` or `https://`",
		},
		config.Hidden{
			Key: "apiKey", To: &s.APIKey, Hint: config.Hint{Default: "none"},
			Help: "the key; `\"${NAME}\"` takes it from the environment, other ways: [Secrets](#secrets)",
		},
		config.Choice{
			Key: "api", To: &s.API, Among: []string{APIOpenAI, APIResponses, APIAnthropic, APIGoogle, APIOllama, APIBedrock},
			Hint: config.Hint{Default: "known providers: built in"},
			Help: "the dialect: `openai-completions`, `openai-responses`, `anthropic-messages`, `google-generative-ai`, `ollama` or " +
				"`bedrock-converse-stream`",
		},
		config.Map[config.Secret]{
			Key: "headers", To: &s.Headers, Name: "<header>", Is: config.HeaderName, Hint: config.Hint{Default: "none"},
			One: func(_ string, v *config.Secret) config.Field {
				return config.Hidden{To: v, Perhaps: true, Covered: true}
			},
			Help: "headers to send with every request, for example `{ \"X-Team\": \"home\" }`; values may be references to secrets",
		},
		config.Switch{
			Key: "authHeader", To: &s.AuthHeader,
			Help: "send the key as `Authorization: Bearer` where the dialect would put it elsewhere",
		},
		config.Number{
			Key: "timeoutSeconds", To: &s.TimeoutSeconds, Min: 1, Max: 3600,
			Hint: config.Hint{Default: "30 before the first word, 180 on this computer, 45 after it"},
			Help: "how long the service may be silent, 1 to 3600; time in which the computer sleeps does not count",
		},
		config.List[ServiceModel]{
			Key: "models", To: &s.Models, Hint: config.Hint{Default: "known of the service, or found on this computer"},
			One: func(m *ServiceModel) config.Field {
				return config.Object{Fields: m.fields(), Check: func() error {
					if m.ID == "" {
						return errors.New("a model needs an id, for example { id: \"llama3.2\" }")
					}
					return nil
				}}
			},
			Help: "a list of models",
		},
		config.Later("auth", "injectNumCtxForOpenAICompat", "request", "region"),
	}
}

func (m *ServiceModel) fields() []config.Field {
	return []config.Field{
		config.Text{Key: "id", To: &m.ID, Max: 256, Hint: config.Hint{Default: "required"}, Help: "the name that the server uses"},
		config.Text{Key: "name", To: &m.Name, Max: 256, Empty: true, Hint: config.Hint{Default: "the id"}, Help: "the name that you see"},
		config.Number{
			Key: "contextWindow", To: &m.ContextWindow, Min: 1, Max: 100_000_000, Hint: config.Hint{Default: "not known"},
			Help: "how many tokens a conversation may have",
		},
		config.Number{
			Key: "maxTokens", To: &m.MaxTokens, Min: 1, Max: 100_000_000, Hint: config.Hint{Default: "not known"},
			Help: "how many tokens one answer may have",
		},
		config.Switch{Key: "reasoning", To: &m.Reasoning, Help: "whether the model thinks aloud first"},
		config.Texts{
			Key: "input", To: &m.Input, Among: []string{"text", "image", "audio", "video", "document"}, Unset: true,
			Hint: config.Hint{Default: "`[\"text\"]`"}, Help: "what it reads: `text`, `image`, `audio`, `video`, `document`",
		},
		config.Any{
			Key: "cost", Help: "what it costs, as in `models.pricing`, which it goes before", Like: new(Price).Field("", ""),
			Read: func(v config.Value) {
				m.Cost = new(Price)
				m.Cost.read(v)
			},
			Show: func() (any, bool) {
				if m.Cost == nil {
					return nil, false
				}
				return m.Cost.shown()
			},
		},
		config.Later("api", "headers", "compat", "contextTokens", "params"),
	}
}
