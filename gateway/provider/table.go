package provider

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

// The wire dialects, as configuration names them.
const (
	APIOpenAI    = "openai-completions"
	APIAnthropic = "anthropic-messages"
	APIOllama    = "ollama"
	APIResponses = "openai-responses"     // not spoken yet
	APIGoogle    = "google-generative-ai" // not spoken yet
)

// service is a row of the table of known model services.
type service struct {
	id, name string
	baseURL  string
	api      string
	keyEnv   []string      // where people keep its key, best first
	local    bool          // runs on this computer and needs no key
	probe    bool          // looked for at start
	models   []ModelConfig // the first is used when nobody chose
	quirks   quirks
	keyPage  string // where a person gets a key
	start    string // what starts a local one
}

// quirks are what a service does differently from its dialect.
type quirks struct {
	maxCompletionTokens bool
	noStreamUsage       bool
}

// services returns the table. For services with a key in the environment, its
// order is the order of preference.
func services() []service {
	return append(localServices(), remoteServices()...)
}

func localServices() []service {
	return []service{
		{id: "ollama", name: "Ollama", baseURL: "http://127.0.0.1:11434", api: APIOllama, local: true, probe: true, start: "`ollama serve`"},
		{id: "lmstudio", name: "LM Studio", baseURL: "http://127.0.0.1:1234/v1", api: APIOpenAI, local: true, probe: true, start: "LM Studio's server (Developer → Start Server, or `lms server start`)"},
		{id: "llamacpp", name: "llama.cpp", baseURL: "http://127.0.0.1:8080/v1", api: APIOpenAI, local: true, probe: true, start: "`llama-server -m model.gguf`"},
		{id: "jan", name: "Jan", baseURL: "http://127.0.0.1:1337/v1", api: APIOpenAI, keyEnv: []string{"JAN_API_KEY"}, local: true, probe: true, start: "Jan's local API server (Settings → Local API Server)"},
		{id: "vllm", name: "vLLM", baseURL: "http://127.0.0.1:8000/v1", api: APIOpenAI, keyEnv: []string{"VLLM_API_KEY"}, local: true, start: "`vllm serve`"},
		{id: "litellm", name: "LiteLLM", baseURL: "http://127.0.0.1:4000/v1", api: APIOpenAI, keyEnv: []string{"LITELLM_API_KEY", "LITELLM_MASTER_KEY"}, local: true, start: "`litellm`"},
	}
}

func remoteServices() []service {
	remote := func(id, name, baseURL, keyEnv, keyPage string, models ...ModelConfig) service {
		return service{id: id, name: name, baseURL: baseURL, api: APIOpenAI, keyEnv: strings.Fields(keyEnv), keyPage: keyPage, models: models}
	}
	anthropic := remote("anthropic", "Anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "console.anthropic.com",
		known("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000), known("claude-opus-4-5", "Claude Opus 4.5", 200_000), known("claude-haiku-4-5", "Claude Haiku 4.5", 200_000))
	anthropic.api = APIAnthropic
	openai := remote("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "platform.openai.com",
		known("gpt-5-mini", "GPT-5 mini", 400_000), known("gpt-5", "GPT-5", 400_000), known("gpt-4.1", "GPT-4.1", 1_047_576))
	openai.quirks.maxCompletionTokens = true
	mistral := remote("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "console.mistral.ai",
		known("mistral-medium-latest", "Mistral Medium", 128_000), known("mistral-small-latest", "Mistral Small", 128_000))
	mistral.quirks.noStreamUsage = true
	return []service{
		anthropic,
		openai,
		remote("google", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY GOOGLE_API_KEY", "aistudio.google.com",
			known("gemini-2.5-flash", "Gemini 2.5 Flash", 1_048_576), known("gemini-2.5-pro", "Gemini 2.5 Pro", 1_048_576)),
		remote("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter.ai/keys", known("openrouter/auto", "Auto", 128_000)),
		mistral,
		remote("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "console.groq.com", known("llama-3.3-70b-versatile", "Llama 3.3 70B", 131_072), known("openai/gpt-oss-120b", "gpt-oss 120B", 131_072)),
		remote("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "platform.deepseek.com", known("deepseek-chat", "DeepSeek Chat", 128_000), known("deepseek-reasoner", "DeepSeek Reasoner", 128_000)),
		remote("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", "console.x.ai", known("grok-4", "Grok 4", 256_000)),
		remote("together", "Together AI", "https://api.together.xyz/v1", "TOGETHER_API_KEY TOGETHER_AI_API_KEY", "api.together.ai", known("meta-llama/Llama-3.3-70B-Instruct-Turbo", "Llama 3.3 70B", 131_072)),
		remote("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "fireworks.ai", known("accounts/fireworks/models/llama-v3p3-70b-instruct", "Llama 3.3 70B", 131_072)),
		remote("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "cloud.cerebras.ai", known("gpt-oss-120b", "gpt-oss 120B", 131_072)),
		remote("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "platform.moonshot.ai", known("kimi-latest", "Kimi", 128_000)),
		remote("zai", "Z.AI", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY Z_AI_API_KEY", "z.ai", known("glm-4.6", "GLM 4.6", 200_000)),
		remote("minimax", "MiniMax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", "platform.minimax.io", known("MiniMax-M2", "MiniMax M2", 200_000)),
		remote("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "build.nvidia.com", known("meta/llama-3.3-70b-instruct", "Llama 3.3 70B", 128_000)),
		remote("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN HUGGINGFACE_HUB_TOKEN", "huggingface.co/settings/tokens", known("openai/gpt-oss-120b", "gpt-oss 120B", 131_072)),
		remote("venice", "Venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY", "venice.ai", known("llama-3.3-70b", "Llama 3.3 70B", 128_000)),
		remote("perplexity", "Perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", "perplexity.ai", known("sonar", "Sonar", 128_000)),
	}
}

func known(id, name string, window int) ModelConfig {
	return ModelConfig{ID: id, Name: name, ContextWindow: window}
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
	return names
}
