package lookup_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
)

// open returns the secrets of a settings file, kept in a plain file.
func open(t *testing.T, settings string) (*lookup.Secrets, *config.File, *redact.Redactor) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "hearth.json")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		if name == "KEY_OF_ACME" {
			return "sk-acme-0123456789"
		}
		return ""
	}
	f, err := config.Open(path, config.Options{Sections: config.Sections{provider.Section, lookup.Section}})
	if err != nil {
		t.Fatal(err)
	}
	work, r := background.New(t.Context()), new(redact.Redactor)
	t.Cleanup(work.Close)
	return lookup.Open(lookup.Options{
		Settings: f, Dir: dir, Env: env, Redactor: r, Work: work, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}), f, r
}

const acme = `{ models: { providers: { acme: { baseUrl: "http://127.0.0.1:1", apiKey: { source: "env", provider: "default", id: "KEY_OF_ACME" } } } } }`

// Who uses secrets is told when they were looked for, and after every change of
// the settings; what was found is hidden, and Await returns.
func TestUsersAreTold(t *testing.T) {
	s, f, r := open(t, acme)
	known := func(c config.Config) string {
		v, _ := s.Known(provider.Section.Of(c).Services["acme"].APIKey)
		return v.Reveal()
	}
	var told []string
	s.Subscribe(func(c config.Config) { told = append(told, known(c)) })
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Await(t.Context())
	if len(told) != 1 || told[0] != "sk-acme-0123456789" || !r.Has("it is sk-acme-0123456789") {
		t.Errorf("told %q", told)
	}
	if _, err := f.SetPath(t.Context(), "models.providers.acme.apiKey", `"another-key-98765"`); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[1] != "another-key-98765" || !r.Has("another-key-98765") {
		t.Errorf("told %q", told)
	}
}

// A key that an edit brings goes into the store, and the file only refers to it;
// an edit that fails leaves neither.
func TestEditsKeepTheirKeys(t *testing.T) {
	s, f, _ := open(t, `{ secrets: { backend: "plain" } }`)
	patch := `{ models: { providers: { acme: { baseUrl: "http://127.0.0.1:1", apiKey: "sk-typed-0123456789" } } } }`
	if _, _, err := s.Patch(t.Context(), "stale", patch); err == nil {
		t.Fatal("an edit of older settings went through")
	}
	if list, err := s.Store().List(context.WithoutCancel(t.Context())); err != nil || len(list) != 0 {
		t.Fatalf("after an edit that failed: %v %v", list, err)
	}
	snap, notes, err := s.Patch(t.Context(), f.Snapshot().Hash, patch)
	if err != nil || len(notes) != 1 || strings.Contains(snap.Raw, "sk-typed") {
		t.Fatalf("%v %q\n%s", err, notes, snap.Raw)
	}
	if v, ok := s.Known(provider.Section.Of(snap.Config).Services["acme"].APIKey); !ok || v.Reveal() != "sk-typed-0123456789" {
		t.Errorf("%v", ok)
	}
}
