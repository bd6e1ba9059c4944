package wire

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// The failures that the page on model failover names, and where they belong.
func TestFailoverPageWords(t *testing.T) {
	json := func(s string) string { return `{"error":{"message":"` + s + `"}}` }
	for _, c := range []struct {
		service string
		status  int
		body    string
		want    model.Class
	}{
		{"", 0, json("Too many concurrent requests"), model.ClassRateLimit},
		{"", 400, `{"__type":"ThrottlingException"}`, model.ClassRateLimit},
		{"", 0, json("concurrency limit reached"), model.ClassRateLimit},
		{"", 0, json("workers_ai account: daily quota limit exceeded"), model.ClassRateLimit},
		{"", 0, json("request was throttled"), model.ClassRateLimit},
		{"", 0, json("resource exhausted"), model.ClassRateLimit},
		{"", 0, json("weekly/monthly limit reached"), model.ClassRateLimit},
		{"", 429, json("weekly/monthly limit reached"), model.ClassRateLimit},
		{"", 402, json("weekly usage limit exhausted"), model.ClassRateLimit},
		{"", 402, json("daily limit reached, resets tomorrow"), model.ClassRateLimit},
		{"", 402, json("organization spending limit exceeded"), model.ClassRateLimit},
		{"", 402, json("workspace spend limit exceeded"), model.ClassRateLimit},
		{"", 402, json("payment required"), model.ClassBilling},
		{"", 401, json("insufficient credits"), model.ClassBilling},
		{"", 403, json("credit balance too low"), model.ClassBilling},
		{"", 400, json("Your credit balance is too low"), model.ClassBilling},
		{"openrouter", 403, json("Key limit exceeded"), model.ClassBilling},
		{"mistral", 403, json("Key limit exceeded"), model.ClassAuth},
		{"", 0, json("Unhandled stop reason: error"), model.ClassTimeout},
		{"", 0, json("stop reason: error"), model.ClassTimeout},
		{"", 0, json("reason: error"), model.ClassTimeout},
		{"", 0, json("An unknown error occurred"), model.ClassServer},
		{"", 0, `{"error":{"type":"api_error","message":"Internal server error"}}`, model.ClassServer},
		{"", 400, `{"error":{"type":"api_error","message":"unknown error, 520"}}`, model.ClassServer},
		{"", 400, `{"error":{"type":"api_error","message":"upstream error"}}`, model.ClassServer},
		{"", 400, `{"error":{"type":"api_error","message":"backend error"}}`, model.ClassServer},
		{"", 0, json("Unknown error (no error details in response)"), model.ClassServer},
		{"openrouter", 400, json("Provider returned error"), model.ClassTimeout},
		{"openrouter", 0, json("Provider returned error"), model.ClassTimeout},
		{"mistral", 400, json("Provider returned error"), model.ClassInvalid},
		{"", 0, json("LLM request failed with an unknown error."), model.ClassUnknown},
		{"", 429, `{"__type":"ModelNotReadyException"}`, model.ClassOverloaded},
		{"", 424, `{"__type":"ModelNotReadyException"}`, model.ClassOverloaded},
		{"", 400, json("request_too_large"), model.ClassContext},
		{"", 400, json("INVALID_ARGUMENT: input exceeds the maximum number of tokens"), model.ClassContext},
		{"", 400, json("input token count exceeds the maximum number of input tokens"), model.ClassContext},
		{"", 400, json("The input is too long for the model"), model.ClassContext},
		{"", 500, json("ollama error: context length exceeded"), model.ClassContext},
	} {
		if got := classifyOf(c.service, c.status, []byte(c.body)); got != c.want {
			t.Errorf("%s HTTP %d %s is %s, want %s", c.service, c.status, c.body, got, c.want)
		}
	}
}
