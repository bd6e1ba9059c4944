package provider_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

// wiretap keeps the requests that went out and answers each in its dialect.
type wiretap struct {
	mu   sync.Mutex
	got  []*http.Request
	body []string
}

func (w *wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	w.got, w.body = append(w.got, r), append(w.body, body)
	typ, answer := "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	if strings.Contains(r.URL.Path, "copilot_internal") {
		typ, answer = "application/json",
			`{"token":"tid=short-lived","expires_at":1000003600,"endpoints":{"api":"https://api.business.githubcopilot.com"}}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {typ}}, Body: io.NopCloser(strings.NewReader(answer)),
		Request: r}, nil
}

// Services that want more than an address and a key get it.
func TestServicesOfTheirOwnKind(t *testing.T) {
	now := func() time.Time { return time.Unix(1_000_000_000, 0) }
	tests := []struct {
		name, ref string
		cfg       map[string]provider.ProviderConfig
		env       []string
		url       string
		headers   map[string]string // "" = must not be there
	}{
		{name: "azure", ref: "azure-openai/my-gpt", env: []string{"AZURE_OPENAI_ENDPOINT", "https://res.openai.azure.com", "AZURE_OPENAI_API_KEY",
			"az-key"},
			url: "https://res.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", headers: map[string]string{
				"Api-Key": "az-key", "Authorization": ""}},
		{name: "azure, new address", ref: "azure-openai/my-gpt", env: []string{"AZURE_OPENAI_ENDPOINT", "https://res.openai.azure.com/openai/v1",
			"AZURE_OPENAI_API_KEY", "az-key"},
			url: "https://res.openai.azure.com/openai/v1/chat/completions", headers: map[string]string{"Api-Key": "az-key"}},
		{name: "cloudflare", ref: "cloudflare-ai-gateway/openai/gpt-5-mini", env: []string{"CLOUDFLARE_ACCOUNT_ID", "acc",
			"CLOUDFLARE_GATEWAY_ID", "gw", "CLOUDFLARE_AI_GATEWAY_API_KEY", "cf-key"},
			url: "https://gateway.ai.cloudflare.com/v1/acc/gw/compat/chat/completions", headers: map[string]string{
				"Cf-Aig-Authorization": "Bearer cf-key", "Authorization": ""}},
		{name: "copilot", ref: "github-copilot/gpt-4.1", env: []string{"COPILOT_GITHUB_TOKEN", "ghu_long_lived"},
			url: "https://api.business.githubcopilot.com/chat/completions", headers: map[string]string{"Authorization": "Bearer tid=short-lived",
				"Copilot-Integration-Id": "vscode-chat"}},
		{name: "bedrock", ref: "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", env: []string{"AWS_REGION", "eu-west-3", "AWS_ACCESS_KEY_ID",
			"AKIAABCDEFGHIJKLMNOP", "AWS_SECRET_ACCESS_KEY", "s", "AWS_SESSION_TOKEN", "tok"},
			url:     "https://bedrock-runtime.eu-west-3.amazonaws.com/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/converse-stream",
			headers: map[string]string{"X-Amz-Security-Token": "tok"}},
		{name: "bedrock, api key", ref: "bedrock/us.amazon.nova-pro-v1:0", env: []string{"AWS_BEARER_TOKEN_BEDROCK", "br-key"},
			url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-pro-v1%3A0/converse-stream", headers: map[string]string{
				"Authorization": "Bearer br-key"}},
		{name: "gemini", ref: "google/gemini-2.5-flash", env: []string{"GEMINI_API_KEY", "g-key"},
			url:     "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
			headers: map[string]string{"X-Goog-Api-Key": "g-key", "Authorization": ""}},
		{name: "gemini through the old address", ref: "google/gemini-2.5-flash", env: []string{"GEMINI_API_KEY", "g-key"},
			cfg: map[string]provider.ProviderConfig{"google": {BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}},
			url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", headers: map[string]string{
				"Authorization": "Bearer g-key"}},
		{name: "openai", ref: "openai/gpt-5", env: []string{"OPENAI_API_KEY", "o-key"}, url: "https://api.openai.com/v1/responses",
			headers: map[string]string{"Authorization": "Bearer o-key"}},
		{name: "openai elsewhere", ref: "openai/gpt-5", env: []string{"OPENAI_API_KEY", "o-key"}, cfg: map[string]provider.ProviderConfig{
			"openai": {BaseURL: "https://proxy.test/v1"}},
			url: "https://proxy.test/v1/chat/completions", headers: map[string]string{"Authorization": "Bearer o-key"}},
		{name: "own headers", ref: "mine/m", env: []string{"TEAM", "home"},
			cfg: map[string]provider.ProviderConfig{"mine": {BaseURL: "https://mine.test", API: provider.APIAnthropic, APIKey: "k", AuthHeader: true,
				Headers: map[string]string{"x-team": "${TEAM}", "Host": "evil.test", "Content-Length": "1"}}},
			url: "https://mine.test/v1/messages", headers: map[string]string{"X-Team": "home", "Authorization": "Bearer k", "X-Api-Key": "",
				"Anthropic-Version": "2023-06-01"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tap := &wiretap{}
			r := provider.New(provider.Options{Settings: provider.Settings{Providers: tt.cfg}, Env: env(tt.env...),
				HTTP: &http.Client{Transport: tap}, Now: now})
			ref, _ := model.ParseRef(tt.ref)
			r.Detect(t.Context())
			c, err := r.Resolve(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a token is exchanged once
				for range c.Provider.Stream(t.Context(), ask(ref.Model, "hi")) {
				}
			}
			last, exchanges := tap.got[len(tap.got)-1], 0
			for _, req := range tap.got {
				if strings.Contains(req.URL.Path, "copilot_internal") {
					exchanges++
				}
			}
			if last.URL.String() != tt.url || last.Host == "evil.test" {
				t.Errorf("asked %s at %q", last.URL, last.Host)
			}
			got := map[string]string{}
			for name := range tt.headers {
				got[name] = last.Header.Get(name)
			}
			if diff := cmp.Diff(tt.headers, got); diff != "" {
				t.Error(diff)
			}
			if exchanges > 1 || (tt.name == "copilot") != (exchanges == 1) {
				t.Errorf("%d exchanges", exchanges)
			}
			for _, req := range tap.got {
				if u := req.URL.String(); strings.Contains(u, "key") && !strings.Contains(u, "/api/") {
					t.Errorf("a key in the address %s", u)
				}
			}
		})
	}
}

// Amazon's keys are for other things too: they are used when a person chose
// Bedrock, never because they are there.
func TestSec_A_EXFIL_cloud_keys_do_not_choose(t *testing.T) {
	r := provider.New(provider.Options{Env: env("AWS_ACCESS_KEY_ID", "AKIAABCDEFGHIJKLMNOP", "AWS_SECRET_ACCESS_KEY", "s"),
		HTTP: newMachine().client()})
	r.Detect(t.Context())
	if ref, _ := r.Default(); ref.Provider == "bedrock" {
		t.Errorf("the default is %s", ref)
	}
}

// Every service that the product names is known, with an address, a dialect, and
// where a key comes from.
func TestTable(t *testing.T) {
	var have []string
	r := provider.New(provider.Options{Env: env("CLOUDFLARE_ACCOUNT_ID", "a", "CLOUDFLARE_GATEWAY_ID", "g", "AZURE_OPENAI_ENDPOINT",
		"https://r.test"), HTTP: newMachine().client()})
	r.Detect(t.Context())
	for _, id := range strings.Fields(`anthropic openai google ollama lmstudio llamacpp vllm sglang jan openrouter groq mistral deepseek xai together
		fireworks cerebras moonshot zai minimax nvidia huggingface venice litellm vercel-ai-gateway cloudflare-ai-gateway perplexity
		github-copilot azure-openai bedrock`) {
		_, err := r.Resolve(t.Context(), model.Ref{Provider: id, Model: "m"})
		if err == nil {
			t.Errorf("%s needs neither a key nor a server", id)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, "needs an API key. Get one at") &&
			!strings.Contains(msg, "is not running on this computer") {
			t.Errorf("%s: %s", id, msg)
		}
		have = append(have, id)
	}
	if len(have) != 30 {
		t.Errorf("%d services", len(have))
	}
	r = provider.New(provider.Options{Env: env("CLOUDFLARE_AI_GATEWAY_API_KEY", "k"), HTTP: newMachine().client()})
	r.Detect(t.Context())
	if _, err := r.Resolve(t.Context(), model.Ref{Provider: "cloudflare-ai-gateway", Model: "m"}); err == nil ||
		!strings.Contains(err.Error(), "CLOUDFLARE_ACCOUNT_ID") {
		t.Errorf("got %v", err)
	}
}

// The window of a local model is what the server really gives, and it is asked
// for no more than the model was made for.
func TestContextTruthOfOllama(t *testing.T) {
	m := newMachine()
	m.set("127.0.0.1:11434", scripted.New()) // made for 32768, gives 4096
	r := provider.New(provider.Options{HTTP: m.client(), Settings: provider.Settings{Providers: map[string]provider.ProviderConfig{
		"ollama": {Models: []provider.ModelConfig{{ID: "echo", ContextWindow: 100_000}}}}}})
	r.Detect(t.Context())
	ref := model.Ref{Provider: "ollama", Model: "echo"}
	c, err := r.Resolve(t.Context(), ref)
	if err != nil || c.ContextWindow != 32768 {
		t.Fatalf("window %d, %v", c.ContextWindow, err)
	}
	for range 2 {
		if o := collect(t, t.Context(), c.Provider, ask("echo", "hi")); o.err != nil || o.text != "echo: hi" {
			t.Fatal(o)
		}
		if c, err = r.Resolve(t.Context(), ref); err != nil || c.ContextWindow != 4096 {
			t.Fatalf("window %d, %v", c.ContextWindow, err)
		}
	}
	asked := 0
	for _, a := range m.asked {
		if strings.HasSuffix(a, "/api/ps") {
			asked++
		}
	}
	if asked != 1 || r.Models()[0].ContextWindow != 4096 {
		t.Errorf("asked %d times; shown %d", asked, r.Models()[0].ContextWindow)
	}
}
