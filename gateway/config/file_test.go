package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

const sample = `// my settings
{
  gateway: { port: 18800, auth: { token: 'a-token-of-some-length' } },
  models: {
    providers: {
      // the big one
      anthropic: { apiKey: "sk-ant-0123456789abcdef", api: "anthropic-messages" },
      local: { baseUrl: "http://127.0.0.1:8080/v1/", models: [ { id: "llama", contextWindow: 0x2000, input: ["text"] } ] },
    },
  },
  agents: { defaults: { model: { primary: "anthropic/claude", fallbacks: ["local/llama"] }, timeoutSeconds: 60 } },
}
`

// place makes a private folder with a settings file in it; no text, no file.
func place(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearth.json")
	if text != "" {
		put(t, path, text)
	}
	return path
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func open(t *testing.T, path string, opts Options) *File {
	t.Helper()
	if opts.Sections == nil {
		opts.Sections = standSections()
	}
	f, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOpenMissing(t *testing.T) {
	path := place(t, "")
	s := open(t, path, Options{}).Snapshot()
	if s.Exists || !s.Valid || s.Origin != FromDefaults || len(s.Problems()) != 0 {
		t.Errorf("snapshot of a missing file: %+v", s)
	}
	if diff := cmp.Diff(standing(), s.Config); diff != "" {
		t.Error(diff)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 0 {
		t.Errorf("reading wrote %v", names)
	}
}

func TestOpenGood(t *testing.T) {
	path := place(t, sample)
	f := open(t, path, Options{})
	want := standing()
	want = standIns.door.With(want, standDoor{Port: 18800, Bind: "loopback", Mode: "token", Token: secret.Literal("a-token-of-some-length")})
	if d := cmp.Diff(standIns.door.Of(want), door(f.Snapshot().Config)); d != "" {
		t.Error(d)
	}
	want = standIns.models.With(want, standModels{map[string]standService{
		"anthropic": {APIKey: secret.Literal("sk-ant-0123456789abcdef")},
		"local":     {BaseURL: "http://127.0.0.1:8080/v1", Models: []standModel{{ID: "llama", Window: 8192, Input: []string{"text"}}}},
	}})
	model := ModelChoice{Primary: "anthropic/claude", Fallbacks: []string{"local/llama"}}
	want = standIns.runs.With(want, standRuns{TimeoutSeconds: 60, Model: model})
	if d := cmp.Diff(standIns.models.Of(want), standIns.models.Of(f.Snapshot().Config)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(standIns.runs.Of(want), standIns.runs.Of(f.Snapshot().Config)); d != "" {
		t.Error(d)
	}
	want.Sections = f.Snapshot().Config.Sections
	if diff := cmp.Diff(want, f.Snapshot().Config); diff != "" {
		t.Error(diff)
	}
	if len(f.Problems()) != 0 {
		t.Errorf("problems: %v", f.Problems())
	}
	if got := get(t, path+".last-good"); got != sample {
		t.Errorf("last good copy: %q", got)
	}
	if info, _ := os.Stat(path + ".last-good"); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the last good copy: %v", info.Mode())
	}
}

func TestOpenBroken(t *testing.T) {
	path := place(t, sample)
	open(t, path, Options{})
	broken := strings.Replace(sample, "port: 18800,", "port: 18800", 1)
	put(t, path, broken)
	s := open(t, path, Options{}).Snapshot()
	if s.Valid || s.Origin != FromLastGood || door(s.Config).Port != 18800 {
		t.Errorf("valid %v, origin %s, port %d", s.Valid, s.Origin, door(s.Config).Port)
	}
	if get(t, path) != broken {
		t.Error("the broken file was changed")
	}
	p := s.Problems()
	if len(p) != 1 || p[0].Code != ProblemBroken || !strings.Contains(p[0].Message, "line 3, column 26 (gateway)") ||
		!strings.Contains(p[0].Message, "comma") {
		t.Errorf("problems: %+v", p)
	}
	put(t, path+".last-good", "{ gateway: { port: 'x' } }")
	s = open(t, path, Options{}).Snapshot()
	if diff := cmp.Diff(standing(), s.Config); diff != "" || s.Origin != FromDefaults {
		t.Errorf("with a broken last good copy: origin %s %s", s.Origin, diff)
	}
	if err := os.Remove(path + ".last-good"); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{}).Snapshot()
	if diff := cmp.Diff(standing(), s.Config); diff != "" || s.Origin != FromDefaults || s.Valid {
		t.Errorf("without a last good copy: origin %s %s", s.Origin, diff)
	}
}

func TestUnknownKeysAreKeptAndReported(t *testing.T) {
	path := place(t, "{ gatway: {}, plugins: { x: 1 }, gateway: { prot: 1 }, agents: { defaults: { zzz: [null] } } }")
	f := open(t, path, Options{})
	var got []string
	for _, w := range f.Snapshot().Warnings {
		got = append(got, w.String())
	}
	want := []string{
		"line 1, column 3 (gatway): this key is not known and has no effect; did you mean gateway?",
		"line 1, column 15 (plugins): this version of Hearth does not use this key yet; it is kept as it is",
		"line 1, column 45 (gateway.prot): this key is not known and has no effect; did you mean port?",
		"line 1, column 78 (agents.defaults.zzz): this key is not known and has no effect; it is kept as it is",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !f.Snapshot().Valid {
		t.Error("unknown keys made the file invalid")
	}
	if _, err := f.SetPath(t.Context(), "gateway.port", "18801"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, path); got != "{ gatway: {}, plugins: { x: 1 }, gateway: { prot: 1, port: 18801 }, agents: { defaults: { zzz: [null] "+
		"} } }" {
		t.Errorf("after an edit: %s", got)
	}
}

func TestSetPathOnAMissingFile(t *testing.T) {
	path := place(t, "")
	f := open(t, path, Options{})
	if _, err := f.UnsetPath(t.Context(), "gateway.port"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("removing nothing made a file")
	}
	if _, err := f.SetPath(t.Context(), "models.providers.ollama.baseUrl", `"http://127.0.0.1:11434"`); err != nil {
		t.Fatal(err)
	}
	want := `// Settings of Hearth. Comments are kept. Every key: docs/configuration.md
{
  models: {
    providers: {
      ollama: {
        baseUrl: "http://127.0.0.1:11434",
      },
    },
  },
}
`
	if diff := cmp.Diff(want, get(t, path)); diff != "" {
		t.Error(diff)
	}
}
