package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// small is an Ollama with one model, whose own file says how it is run.
func small(t *testing.T, parameters string) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"tiny:latest","model":"tiny:latest"}]}`)
		case "/api/show":
			fmt.Fprintf(w, `{"capabilities":["completion","tools"],"model_info":{"llama.context_length":32768},"parameters":%q}`, parameters)
		case "/api/version":
			fmt.Fprint(w, `{"version":"0.17.4"}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// What the Modelfile of a model says of its window is its person's choice.
func TestOllamasModelfileSaysTheWindow(t *testing.T) {
	for _, c := range []struct {
		name, parameters string
		configured, want int
	}{
		{"nothing", "", 0, 8192},
		{"less", "stop                           \"<|im_end|>\"\nnum_ctx                        4096\ntemperature                    0.6", 0,
			4096},
		{"more", "num_ctx                        16384", 0, 16384},
		{"more than it was made for", "num_ctx 65536", 0, 32768},
		{"the settings", "num_ctx 4096", 10000, 10000},
		{"a word in another's value", "stop \"num_ctx 4096\"\nstop num_ctx", 0, 8192},
		{"no number", "num_ctx -1", 0, 8192},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := small(t, c.parameters)
			own := provider.ProviderConfig{BaseURL: srv.URL}
			if c.configured > 0 {
				own.Models = []provider.ModelConfig{{ID: "tiny", ContextWindow: c.configured}}
			}
			r := provider.New(provider.Options{HTTP: srv.Client(), Settings: provider.Settings{Providers: map[string]provider.ProviderConfig{
				"ollama": own}}})
			r.Detect(t.Context())
			got, err := r.Resolve(t.Context(), model.Ref{Provider: "ollama", Model: "tiny"})
			if err != nil || got.ContextWindow != c.want || got.Trained != 32768 {
				t.Errorf("window %d of %d, want %d (%v)", got.ContextWindow, got.Trained, c.want, err)
			}
		})
	}
}

// A model has one name: the default tag may be left away, and it is listed once.
func TestOllamasDefaultTagIsNoOtherModel(t *testing.T) {
	for _, primary := range []string{"ollama/tiny", "ollama/tiny:latest", "tiny"} {
		srv := small(t, "")
		r := provider.New(provider.Options{HTTP: srv.Client(), Settings: provider.Settings{Primary: primary,
			Providers: map[string]provider.ProviderConfig{"ollama": {BaseURL: srv.URL}}}})
		r.Detect(t.Context())
		var names []string
		for _, e := range r.Models() {
			names = append(names, e.Ref.String())
		}
		if got := strings.Join(names, " "); got != "ollama/tiny:latest guide/guide" {
			t.Errorf("%s: %s", primary, got)
		}
	}
}
