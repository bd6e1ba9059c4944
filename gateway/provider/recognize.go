package provider

import "strings"

// prefixes are how keys of services begin. A key that begins with "sk-" alone may
// be of several.
func prefixes() [][2]string {
	return [][2]string{
		{"sk-ant-", "anthropic"}, {"sk-or-", "openrouter"}, {"sk-proj-", "openai"}, {"sk-svcacct-", "openai"}, {"sk-admin-", "openai"},
		{"AIza", "google"}, {"gsk_", "groq"}, {"xai-", "xai"}, {"hf_", "huggingface"}, {"nvapi-", "nvidia"}, {"pplx-", "perplexity"},
		{"csk-", "cerebras"}, {"fw_", "fireworks"}, {"tgp_v1_", "together"}, {"vck_", "vercel-ai-gateway"},
		{"ghu_", "github-copilot"}, {"gho_", "github-copilot"}, {"github_pat_", "github-copilot"},
	}
}

// Recognize tells of which service a key is by how it begins; "" when that does
// not say.
func Recognize(key string) string {
	for _, p := range prefixes() {
		if strings.HasPrefix(key, p[0]) && len(key) > len(p[0])+8 {
			return p[1]
		}
	}
	return ""
}
