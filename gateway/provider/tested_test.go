package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// What a test found out holds for the same server in the same version only.
func TestTestedHoldsForOneServer(t *testing.T) {
	version := "0.13.0"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"qwen3:8b"}]}`)
		case "/api/show":
			fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960}}`)
		case "/api/version":
			fmt.Fprintf(w, `{"version":%q}`, version)
		}
	}))
	t.Cleanup(srv.Close)
	ref := model.Ref{Provider: "ollama", Model: "qwen3:8b"}
	r := provider.New(provider.Options{HTTP: srv.Client(), Settings: provider.Settings{Providers: map[string]provider.ProviderConfig{
		"ollama": {BaseURL: srv.URL}}}})
	r.Detect(t.Context())
	if got := r.ServerVersion(t.Context(), "ollama"); got != version {
		t.Errorf("version %q", got)
	}
	check := func(what string, window int, tools, known bool) {
		t.Helper()
		c, err := r.Resolve(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := r.TestOf(ref)
		if c.ContextWindow != window || c.Tools != tools || ok != known || c.Trained != 40960 {
			t.Errorf("%s: window %d of %d, tools %v, known %v", what, c.ContextWindow, c.Trained, c.Tools, ok)
		}
	}
	check("before", 8192, true, false)
	found := provider.Tested{Window: 4096, Limit: 6144, Tools: provider.ToolsFail, Address: srv.URL, Version: version}
	r.Learn(map[model.Ref]provider.Tested{ref: found})
	check("after", 4096, false, true)
	version = "0.14.0"
	r.Detect(t.Context())
	check("with another version", 8192, true, false)
	found.Version, found.Address = version, "http://127.0.0.1:1"
	r.Learn(map[model.Ref]provider.Tested{ref: found})
	check("at another address", 8192, true, false)
	found.Address, found.Limit = srv.URL, 0
	r.Learn(map[model.Ref]provider.Tested{ref: found})
	check("when time was too short to know", 8192, false, true)
}

func TestRecognize(t *testing.T) {
	for key, want := range map[string]string{
		"sk-ant-api03-0123456789": "anthropic", "sk-proj-0123456789abc": "openai", "sk-or-v1-0123456789ab": "openrouter",
		"AIzaSy0123456789abc":  "google",
		"gsk_0123456789abcdef": "groq", "xai-0123456789abcdef": "xai", "ghu_0123456789abcdef": "github-copilot",
		"sk-0123456789abcdef": "", "": "", "sk-ant-": "", "hello": "",
	} {
		if got := provider.Recognize(key); got != want {
			t.Errorf("%q is of %q, want %q", key, got, want)
		}
	}
}

// docs/models.md has the row of every service.
func TestDocsNameEveryService(t *testing.T) {
	raw, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, s := range provider.Services(func(string) string { return "" }) {
		keys, page := "none", s.KeyPage
		if len(s.KeyEnv) > 0 {
			keys = "`" + strings.Join(s.KeyEnv, "`, `") + "`"
		}
		if s.Local {
			page = "on your computer"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", s.ID, s.Name, keys, page)
		if !strings.Contains(text, row) {
			t.Errorf("docs/models.md lacks\n%s", row)
		}
	}
}
