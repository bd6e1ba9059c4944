package provider

// localServices run on a person's own computer.
func localServices() []service {
	return []service{
		{id: "ollama", name: "Ollama", baseURL: "http://127.0.0.1:11434", api: APIOllama, local: true, probe: true, start: "`ollama serve`"},
		{id: "lmstudio", name: "LM Studio", baseURL: "http://127.0.0.1:1234/v1", api: APIOpenAI, local: true, probe: true,
			quirks: quirks{noNamedTool: true, noObject: true}, start: "LM Studio's server (Developer → Start Server, or `lms server start`)"},
		{id: "llamacpp", name: "llama.cpp", baseURL: "http://127.0.0.1:8080/v1", api: APIOpenAI, local: true, probe: true,
			quirks: quirks{noNamedTool: true}, start: "`llama-server -m model.gguf`"},
		{id: "jan", name: "Jan", baseURL: "http://127.0.0.1:1337/v1", api: APIOpenAI, keyEnv: []string{"JAN_API_KEY"}, local: true, probe: true,
			quirks: quirks{noNamedTool: true}, start: "Jan's local API server (Settings → Local API Server)"},
		{id: "vllm", name: "vLLM", baseURL: "http://127.0.0.1:8000/v1", api: APIOpenAI, keyEnv: []string{"VLLM_API_KEY"}, local: true,
			start: "`vllm serve`"},
		{id: "sglang", name: "SGLang", baseURL: "http://127.0.0.1:30000/v1", api: APIOpenAI, keyEnv: []string{"SGLANG_API_KEY"}, local: true,
			start: "`python -m sglang.launch_server --model-path MODEL`"},
		{id: "litellm", name: "LiteLLM", baseURL: "http://127.0.0.1:4000/v1", api: APIOpenAI,
			keyEnv: []string{"LITELLM_API_KEY", "LITELLM_MASTER_KEY"}, local: true, start: "`litellm`"},
	}
}
