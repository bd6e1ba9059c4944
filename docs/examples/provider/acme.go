// Package acme is the example of docs/add-a-provider.md: a made-up model service
// that speaks OpenAI's dialect, first as the entry of models.providers that a
// person can write today. No program contains it.
package acme

import "github.com/hearth-assistant/hearth/gateway/provider"

// ID is what stands before the slash in the names of its models.
const ID = "acme"

// Service is the entry: where it answers, how it speaks, what its models are.
// The row of gateway/provider/table_remote.go holds the same facts.
func Service() provider.ProviderConfig {
	return provider.ProviderConfig{
		BaseURL: "https://api.acme.example/v1", API: provider.APIOpenAI, APIKey: "${ACME_API_KEY}",
		Models: []provider.ModelConfig{{ID: "echo", Name: "Acme Echo", ContextWindow: 128_000, Input: []string{"text"}}},
	}
}
