package acme_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	acme "github.com/hearth-assistant/hearth/docs/examples/provider"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
)

// TestAddAProvider: a model of the service is found by its name and answers, and
// the key of the environment goes with the request.
func TestAddAProvider(t *testing.T) {
	script := scripted.New()
	var key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		script.ServeHTTP(w, r)
	}))
	defer server.Close()
	service := acme.Service()
	service.BaseURL = server.URL + "/v1"
	registry := provider.New(provider.Options{
		Settings: provider.Settings{Providers: map[string]provider.ProviderConfig{acme.ID: service}},
		Env: func(name string) string {
			if name == "ACME_API_KEY" {
				return "acme-key"
			}
			return ""
		},
	})
	choice, err := registry.Resolve(t.Context(), model.Ref{Provider: acme.ID, Model: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	if choice.ContextWindow != 128_000 || choice.BuiltIn || choice.Source != provider.SourceConfigured {
		t.Errorf("%+v", choice)
	}
	var text strings.Builder
	hello := []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "hi"}}}}
	for e, err := range choice.Provider.Stream(t.Context(), model.Request{Model: "echo", Messages: hello}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == model.EventText {
			text.WriteString(e.Text)
		}
	}
	if text.String() != "echo: hi" || key != "Bearer acme-key" {
		t.Errorf("it said %q; the key was sent as %q", &text, key)
	}
}
