package provider

import (
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

// The wire dialects, as configuration names them.
const (
	APIOpenAI    = "openai-completions"
	APIResponses = "openai-responses"
	APIAnthropic = "anthropic-messages"
	APIGoogle    = "google-generative-ai"
	APIOllama    = "ollama"
	APIBedrock   = "bedrock-converse-stream"
)

// apis lists the dialects.
func apis() []string {
	return []string{APIOpenAI, APIResponses, APIAnthropic, APIGoogle, APIOllama, APIBedrock}
}

// service is a row of the table of known model services.
type service struct {
	id, name string
	baseURL  string // may hold ${NAME} of the environment; ${A|B|=text} takes the first that is set
	api      string
	otherAPI string        // spoken in place of api at an address that a person set; "" = api
	keyEnv   []string      // where people keep its key, best first
	header   string        // where the key goes; "" = where the dialect wants it
	local    bool          // runs on this computer and needs no key
	probe    bool          // looked for at start
	sees     bool          // its models take pictures unless they say otherwise
	models   []ModelConfig // the first is used when nobody chose
	quirks   quirks
	keyPage  string // where a person gets a key
	start    string // what starts a local one
}

// quirks are what a service does differently from its dialect.
type quirks struct {
	maxCompletionTokens bool
	noStreamUsage       bool
	reasoningBack       bool
	noNamedTool         bool // see openai.Quirks
	noSchema            bool
	noObject            bool
	formatOrTools       bool
	shape               shape
}

// shape is a service that wants more than an address and a key.
type shape int

const (
	plainShape   shape = iota
	azureShape         // a deployment in the path, the version in the query
	copilotShape       // a GitHub token is exchanged for a short-lived one
)

// services returns the table. For services with a key in the environment, its
// order is the order of preference.
func services() []service {
	return append(localServices(), remoteServices()...)
}

func known(id, name string, window int) ModelConfig {
	return ModelConfig{ID: id, Name: name, ContextWindow: window}
}

// reasoner is a model that reasons before it answers.
func reasoner(id, name string, window int) ModelConfig {
	m := known(id, name, window)
	m.Reasoning = true
	return m
}

// seeing is a model that takes pictures.
func seeing(m ModelConfig) ModelConfig {
	m.Input = []string{"text", "image"}
	return m
}

// nameOf is how people call a service.
func nameOf(id string) string {
	if s, ok := lookup(id); ok {
		return s.name
	}
	if id == guide.Ref().Provider {
		return "Hearth's guide"
	}
	return id
}

// lookup finds a row of the table.
func lookup(id string) (service, bool) {
	for _, s := range services() {
		if s.id == id {
			return s, true
		}
	}
	return service{}, false
}

// KeyNames lists the environment variables that hold keys of known services,
// for whoever must keep their values out of a log.
func KeyNames() (names []string) {
	for _, s := range services() {
		names = append(names, s.keyEnv...)
	}
	return append(names, "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
}
