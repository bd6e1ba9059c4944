package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// served is what a list of models says.
type served struct {
	kind   string
	models []ModelConfig
}

// mostServed is how many models of a server are taken.
const mostServed = 500

// servedModels reads an answer of /models; ok is false for anything else.
func servedModels(body []byte) (out served, ok bool) {
	var list struct {
		Object string            `json:"object"`
		Data   []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil {
		return served{}, false
	}
	ok = list.Object == "list"
	seen := map[string]bool{}
	for _, raw := range list.Data {
		var m servedModel
		if json.Unmarshal(raw, &m) != nil || !m.usable() {
			continue
		}
		ok = true
		if out.kind == "" {
			out.kind = kindOfOwner(m.OwnedBy)
		}
		if talks(m.ID) && !seen[m.ID] && len(out.models) < mostServed {
			seen[m.ID] = true
			out.models = append(out.models, m.config())
		}
	}
	return out, ok
}

// servedModel is what servers say of a model, each a part of it.
type servedModel struct {
	ID           string  `json:"id"`
	OwnedBy      string  `json:"owned_by"`
	MaxModelLen  jsonInt `json:"max_model_len"`  // vLLM, SGLang
	Context      jsonInt `json:"context_length"` // OpenRouter, Together
	ContextSize  jsonInt `json:"context_window"` // Groq
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
}

// jsonInt is a number that servers also write as text or leave out; what is no number is 0.
type jsonInt int

func (n *jsonInt) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal([]byte(strings.Trim(string(b), `"`)), &f) == nil && f >= 1 && f <= 100_000_000 {
		*n = jsonInt(f)
	}
	return nil
}

func (m servedModel) usable() bool {
	return m.ID != "" && len(m.ID) <= 256 && !strings.ContainsFunc(m.ID, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd })
}

func (m servedModel) config() ModelConfig {
	c := ModelConfig{ID: m.ID, Name: displayName(m.ID), ContextWindow: int(max(m.MaxModelLen, m.Context, m.ContextSize))}
	if slices.Contains(m.Architecture.Input, "image") {
		c.Input = []string{"text", "image"}
	}
	return c
}

// kindOfOwner is the known service whose models say so.
func kindOfOwner(owner string) string {
	switch owner {
	case "vllm", "sglang", "llamacpp":
		return owner
	case "organization_owner":
		return "lmstudio"
	case "library":
		return "ollama"
	}
	return ""
}

// describe adds what LM Studio or LiteLLM say of models in a list of their own.
func describe(models []ModelConfig, body []byte) bool {
	var list struct {
		Data []struct {
			ID      string  `json:"id"`
			Name    string  `json:"model_name"`
			Type    string  `json:"type"`
			Most    jsonInt `json:"max_context_length"`
			Loaded  jsonInt `json:"loaded_context_length"`
			Details struct {
				Most jsonInt `json:"max_input_tokens"`
				Sees bool    `json:"supports_vision"`
			} `json:"model_info"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return false
	}
	found := false
	for _, d := range list.Data {
		i := slices.IndexFunc(models, func(m ModelConfig) bool { return m.ID == d.ID || m.ID == d.Name })
		if i < 0 {
			continue
		}
		found = true
		models[i].ContextWindow = int(d.Most)
		if d.Loaded > 0 {
			models[i].ContextWindow = int(d.Loaded)
		}
		if d.Details.Most > 0 {
			models[i].ContextWindow = int(d.Details.Most)
		}
		if d.Type == "vlm" || d.Details.Sees {
			models[i].Input = []string{"text", "image"}
		}
	}
	return found
}
