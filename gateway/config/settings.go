package config

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Config is what the file says, with defaults filled in. Treat it as read-only:
// it is shared between all readers.
type Config struct {
	Gateway   Gateway            `json:"gateway"`
	Models    Models             `json:"models"`
	Agents    Agents             `json:"agents"`
	Bindings  []Binding          `json:"bindings,omitempty"`
	Session   Session            `json:"session"`
	Messages  Messages           `json:"messages"`
	Channels  Channels           `json:"channels"`
	Tools     Tools              `json:"tools"`
	Approvals Approvals          `json:"approvals"`
	Commands  Commands           `json:"commands,omitzero"`
	Surfaces  map[string]Surface `json:"surfaces,omitempty"`
	Auth      Accounts           `json:"auth"`
	Discovery Discovery          `json:"discovery"`
	Logging   Logging            `json:"logging"`
	Secrets   Secrets            `json:"secrets"`
	Hooks     Hooks              `json:"hooks"`
	// Features are those that are switched on or off by name, at the next start;
	// the others are on.
	Features map[string]bool `json:"features,omitempty"`

	// Sections are the settings of which package config knows nothing: each owner
	// asks for its own (Settings.Of).
	Sections Values `json:"-"`
}

// Commands says who may use the owner's commands.
type Commands struct {
	// OwnerAllowFrom are the owner's accounts on messaging networks:
	// "NETWORK:123", or an id on any network. Who may write is another list.
	OwnerAllowFrom []string `json:"ownerAllowFrom,omitempty"`
}

// Gateway says where the gateway listens and who may talk to it.
type Gateway struct {
	Port int    `json:"port"` // 0: 18789, or the next free port
	Bind string `json:"bind"` // one of the Bind constants
	// CustomBindHost is the address of BindCustom.
	CustomBindHost string    `json:"customBindHost,omitempty"`
	Nodes          Nodes     `json:"nodes"`
	Auth           Auth      `json:"auth"`
	HTTP           HTTP      `json:"http"`
	ControlUI      ControlUI `json:"controlUi,omitzero"`
}

// Auth is how clients prove themselves.
type Auth struct {
	Mode  string `json:"mode"`           // AuthToken
	Token Secret `json:"token,omitzero"` // empty: the generated token of the state folder
}

// AuthToken is the only mode for now: a shared token.
const AuthToken = "token"

// Models lists the model services a person configured.
type Models struct {
	Providers map[string]Provider `json:"providers"`
	Pricing   map[string]Price    `json:"pricing,omitempty"` // by "provider/model"
}

// Provider is one model service.
type Provider struct {
	BaseURL string  `json:"baseUrl,omitempty"`
	APIKey  Secret  `json:"apiKey,omitzero"`
	API     string  `json:"api,omitempty"` // one of the API constants; empty: as the catalogue says
	Models  []Model `json:"models,omitempty"`
	Reach
}

// The wire dialects of model services.
const (
	APIOpenAICompletions = "openai-completions"
	APIOpenAIResponses   = "openai-responses"
	APIAnthropic         = "anthropic-messages"
	APIGoogle            = "google-generative-ai"
	APIOllama            = "ollama"
	APIBedrock           = "bedrock-converse-stream"
)

// Model is one model of a service. Zero numbers mean "not said".
type Model struct {
	ID            string   `json:"id"`
	Name          string   `json:"name,omitempty"`
	ContextWindow int      `json:"contextWindow,omitempty"`
	MaxTokens     int      `json:"maxTokens,omitempty"`
	Reasoning     bool     `json:"reasoning,omitempty"`
	Cost          *Price   `json:"cost,omitempty"`  // nil: as models.pricing or the built-in list say
	Input         []string `json:"input,omitempty"` // text, image
}

// Agents holds what applies to every assistant.
type Agents struct {
	Defaults AgentDefaults `json:"defaults"`
	List     []Agent       `json:"list,omitempty"` // none: one agent, "main"
}

// AgentDefaults: see docs/configuration.md.
type AgentDefaults struct {
	Model          ModelChoice `json:"model"`
	Workspace      string      `json:"workspace,omitempty"` // as written, may start with ~; empty: ~/Hearth
	TimeoutSeconds int         `json:"timeoutSeconds"`
	MaxConcurrent  int         `json:"maxConcurrent,omitempty"` // answers at the same time in all sessions; 0: 1000
	MaxTokens      int         `json:"maxTokens,omitempty"`     // 0: the provider's default
	// Models may be chosen in a conversation, by "provider/model"; none: all.
	Models        map[string]CatalogueModel `json:"models,omitempty"`
	Subagents     Subagents                 `json:"subagents"`
	ImageModel    ModelChoice               `json:"imageModel,omitzero"` // describes pictures; empty: one that can
	Skills        *[]string                 `json:"skills,omitempty"`    // of agents that name none; nil: all
	ContextLimits ContextLimits             `json:"contextLimits,omitzero"`
	Conversation
	Bootstrap
}

// ModelChoice names models as "provider/model". Empty: the best that is found.
type ModelChoice struct {
	Primary   string   `json:"primary,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
}

// Logging is about the gateway's own log.
type Logging struct {
	Level string `json:"level"` // debug, info, warn, error
}

// Default is what holds without a file: the strictest and simplest settings.
func Default() Config {
	return Config{
		Discovery: Discovery{MDNS: MDNSMinimal},
		Gateway:   Gateway{Bind: BindLoopback, Auth: Auth{Mode: AuthToken}},
		Agents: Agents{Defaults: AgentDefaults{TimeoutSeconds: 600, Subagents: defaultSubagents(), Bootstrap: defaultBootstrap(),
			Conversation: defaultConversation()}},
		Session:  defaultSession(),
		Messages: defaultMessages(),
		Auth:     defaultAccounts(),
		Tools:    defaultTools(), Approvals: defaultApprovals(),
		Logging: Logging{Level: "info"},
		Secrets: Secrets{Backend: SecretsAuto},
		Hooks:   defaultHooks(),
	}
}

// Clone copies everything that can be changed.
func (c Config) Clone() Config {
	c.Models.Providers = maps.Clone(c.Models.Providers)
	for id, p := range c.Models.Providers {
		p.Models = slices.Clone(p.Models)
		for i := range p.Models {
			if cost := p.Models[i].Cost; cost != nil {
				p.Models[i].Cost = new(*cost)
			}
			p.Models[i].Input = slices.Clone(p.Models[i].Input)
		}
		c.Models.Providers[id] = p
	}
	c.Agents.Defaults.Models = maps.Clone(c.Agents.Defaults.Models)
	if s := c.Agents.Defaults.Skills; s != nil {
		c.Agents.Defaults.Skills = new(slices.Clone(*s))
	}
	c.Agents.Defaults.Model.Fallbacks = slices.Clone(c.Agents.Defaults.Model.Fallbacks)
	c.Agents.Defaults.ImageModel.Fallbacks = slices.Clone(c.Agents.Defaults.ImageModel.Fallbacks)
	c.Session, c.Messages, c.Surfaces = c.Session.clone(), c.Messages.clone(), maps.Clone(c.Surfaces)
	c.Features = maps.Clone(c.Features)
	c.Channels, c.Auth, c.Secrets = c.Channels.clone(), c.Auth.clone(), c.Secrets.clone()
	c.Gateway.Nodes.Allow, c.Gateway.Nodes.Deny = slices.Clone(c.Gateway.Nodes.Allow), slices.Clone(c.Gateway.Nodes.Deny)
	c.Tools = c.Tools.clone()
	c.Hooks = c.Hooks.clone()
	c.Agents.List, c.Bindings = cloneAgents(c.Agents.List), cloneBindings(c.Bindings)
	return c
}

// SlogLevel is the level as log/slog counts it.
func (l Logging) SlogLevel() slog.Level {
	switch l.Level {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Secret is a key, token or password as the file says it: the text itself or
// where it is found. It shows neither when it is printed.
type Secret = secret.Setting

// FeatureOn reports whether a feature is to be started.
func (c *Config) FeatureOn(name string) bool {
	on, said := c.Features[name]
	return on || !said
}
