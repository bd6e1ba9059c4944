package provider

import "strings"

// remoteServices are reached over the internet and want a key. Their facts were
// last looked over by hand: docs/models.md says how.
func remoteServices() []service {
	remote := func(id, name, baseURL, keyEnv, keyPage string, models ...ModelConfig) service {
		return service{id: id, name: name, baseURL: baseURL, api: APIOpenAI, keyEnv: strings.Fields(keyEnv), keyPage: keyPage, models: models}
	}
	return append(largeServices(remote),
		eitherFormatOrTools(remote("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "console.groq.com",
			known("llama-3.3-70b-versatile", "Llama 3.3 70B", 131_072), known("openai/gpt-oss-120b", "gpt-oss 120B", 131_072))),
		withoutSchemas(thoughtful(remote("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "platform.deepseek.com",
			known("deepseek-chat", "DeepSeek Chat", 128_000), reasoner("deepseek-reasoner", "DeepSeek Reasoner", 128_000)))),
		remote("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", "console.x.ai", seeing(reasoner("grok-4", "Grok 4", 256_000))),
		remote("together", "Together AI", "https://api.together.xyz/v1", "TOGETHER_API_KEY TOGETHER_AI_API_KEY", "api.together.ai",
			known("meta-llama/Llama-3.3-70B-Instruct-Turbo", "Llama 3.3 70B", 131_072)),
		remote("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "fireworks.ai",
			known("accounts/fireworks/models/llama-v3p3-70b-instruct", "Llama 3.3 70B", 131_072)),
		remote("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "cloud.cerebras.ai",
			known("gpt-oss-120b", "gpt-oss 120B", 131_072)),
		thoughtful(remote("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "platform.moonshot.ai",
			known("kimi-latest", "Kimi", 128_000), reasoner("kimi-k2-thinking", "Kimi K2 Thinking", 256_000))),
		thoughtful(remote("zai", "Z.AI", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY Z_AI_API_KEY", "z.ai",
			reasoner("glm-4.6", "GLM 4.6", 200_000), seeing(known("glm-4.5v", "GLM 4.5V", 64_000)))),
		remote("minimax", "MiniMax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", "platform.minimax.io",
			known("MiniMax-M2", "MiniMax M2", 200_000)),
		remote("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "build.nvidia.com",
			known("meta/llama-3.3-70b-instruct", "Llama 3.3 70B", 128_000)),
		remote("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN HUGGINGFACE_HUB_TOKEN",
			"huggingface.co/settings/tokens", known("openai/gpt-oss-120b", "gpt-oss 120B", 131_072)),
		remote("venice", "Venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY", "venice.ai",
			known("llama-3.3-70b", "Llama 3.3 70B", 128_000)),
		remote("perplexity", "Perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", "perplexity.ai", known("sonar", "Sonar", 128_000)),
		remote("vercel-ai-gateway", "Vercel AI Gateway", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", "vercel.com/ai-gateway",
			known("openai/gpt-5-mini", "GPT-5 mini", 400_000), known("anthropic/claude-sonnet-4.5", "Claude Sonnet 4.5", 200_000)),
		cloudflare(remote),
		copilotService(remote),
		azureService(remote),
		bedrockService(),
	)
}

type row func(id, name, baseURL, keyEnv, keyPage string, models ...ModelConfig) service

// largeServices come first when several have a key.
func largeServices(remote row) []service {
	anthropic := remote("anthropic", "Anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "console.anthropic.com",
		reasoner("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000), reasoner("claude-opus-4-5", "Claude Opus 4.5", 200_000),
		reasoner("claude-haiku-4-5", "Claude Haiku 4.5", 200_000))
	anthropic.api, anthropic.sees = APIAnthropic, true
	openai := remote("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "platform.openai.com",
		reasoner("gpt-5-mini", "GPT-5 mini", 400_000), reasoner("gpt-5", "GPT-5", 400_000), known("gpt-4.1", "GPT-4.1", 1_047_576))
	openai.api, openai.otherAPI, openai.sees = APIResponses, APIOpenAI, true
	openai.quirks.maxCompletionTokens = true
	google := remote("google", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY GOOGLE_API_KEY",
		"aistudio.google.com",
		reasoner("gemini-2.5-flash", "Gemini 2.5 Flash", 1_048_576), reasoner("gemini-2.5-pro", "Gemini 2.5 Pro", 1_048_576))
	google.api, google.sees = APIGoogle, true
	mistral := remote("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "console.mistral.ai",
		seeing(known("mistral-medium-latest", "Mistral Medium", 128_000)), seeing(known("mistral-small-latest", "Mistral Small", 128_000)))
	mistral.quirks.noStreamUsage = true
	return []service{anthropic, openai, google,
		remote("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter.ai/keys",
			known("openrouter/auto", "Auto", 128_000)), mistral}
}

// thoughtful wants its reasoning back while a tool's result is waited for.
func thoughtful(s service) service {
	s.quirks.reasoningBack = true
	return s
}

// eitherFormatOrTools refuses response_format in requests with tools.
func eitherFormatOrTools(s service) service {
	s.quirks.formatOrTools = true
	return s
}

// withoutSchemas takes JSON as the form of an answer, but no schema of it.
func withoutSchemas(s service) service {
	s.quirks.noSchema = true
	return s
}

func cloudflare(remote row) service {
	s := remote("cloudflare-ai-gateway", "Cloudflare AI Gateway",
		"https://gateway.ai.cloudflare.com/v1/${CLOUDFLARE_ACCOUNT_ID}/${CLOUDFLARE_GATEWAY_ID}/compat", "CLOUDFLARE_AI_GATEWAY_API_KEY",
		"dash.cloudflare.com",
		known("openai/gpt-5-mini", "GPT-5 mini", 400_000))
	s.header = "Cf-Aig-Authorization"
	return s
}

func copilotService(remote row) service {
	s := remote("github-copilot", "GitHub Copilot", "https://api.githubcopilot.com", "COPILOT_GITHUB_TOKEN", "github.com/settings/copilot",
		known("gpt-4.1", "GPT-4.1", 128_000), known("gpt-4o", "GPT-4o", 128_000), known("claude-sonnet-4.5", "Claude Sonnet 4.5", 128_000))
	s.quirks.shape, s.sees = copilotShape, true
	return s
}

func azureService(remote row) service {
	s := remote("azure-openai", "Azure OpenAI", "${AZURE_OPENAI_ENDPOINT|AZURE_OPENAI_BASE_URL}", "AZURE_OPENAI_API_KEY", "portal.azure.com")
	s.quirks.shape, s.quirks.maxCompletionTokens, s.header, s.sees = azureShape, true, "Api-Key", true
	return s
}

func bedrockService() service {
	return service{
		id: "bedrock", name: "Amazon Bedrock", baseURL: "https://bedrock-runtime.${AWS_REGION|AWS_DEFAULT_REGION|=us-east-1}.amazonaws.com",
		api:    APIBedrock,
		keyEnv: []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"}, keyPage: "console.aws.amazon.com/bedrock",
		models: []ModelConfig{
			seeing(reasoner("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "Claude Sonnet 4.5", 200_000)),
			seeing(known("us.amazon.nova-pro-v1:0", "Nova Pro", 300_000)),
		},
	}
}
