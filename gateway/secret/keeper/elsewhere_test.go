package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Keys that were kept before the backend was changed are named, and moved when a person
// says so; nothing is lost of a name that has two values.
func TestKeysOfAnotherPlace(t *testing.T) {
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("a passphrase of mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	k, dir := kept(t, Plain, env)
	for name, v := range map[string]string{"a": "one", "b": "two", "both": "of the file"} {
		if err := k.Set(t.Context(), name, secret.New(v)); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.Elsewhere(t.Context()); len(got) != 0 {
		t.Fatalf("the place in use is another one: %v", got)
	}
	k.Use(Vault)
	others := k.Elsewhere(t.Context())
	if len(others) != 1 || !slices.Equal(others[0].Names, []string{"a", "b", "both"}) ||
		!strings.Contains(others[0].Words(), "secrets migrate") || !strings.Contains(others[0].Words(), "secrets.backend plain") {
		t.Fatalf("%+v", others)
	}
	if _, err := k.Gather(t.Context()); err == nil {
		t.Error("keys were moved into a vault that there is not")
	}
	env[PassphraseFile] = pass
	if err := k.Set(t.Context(), "both", secret.New("of the vault")); err != nil {
		t.Fatal(err)
	}
	moved, err := k.Gather(t.Context())
	if err != nil || !slices.Equal(moved, []string{"a", "b"}) {
		t.Fatal(moved, err)
	}
	for name, want := range map[string]string{"a": "one", "b": "two", "both": "of the vault"} {
		if v, err := k.Get(t.Context(), name); err != nil || v.Reveal() != want {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if others = k.Elsewhere(t.Context()); len(others) != 1 || !slices.Equal(others[0].Names, []string{"both"}) {
		t.Errorf("a name with two values is not left: %+v", others)
	}
	k.Use(Plain)
	if err := k.Delete(t.Context(), "both"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "secrets.plain.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of keys stays when it holds none: %v", err)
	}
	// A vault that nobody can open is named without what is in it.
	env[PassphraseFile] = ""
	shut := New(Options{Dir: dir, Backend: Plain, Env: func(n string) string { return env[n] }})
	others = shut.Elsewhere(t.Context())
	if len(others) != 1 || others[0].Open || len(others[0].Names) != 0 || !strings.Contains(others[0].Words(), "secrets.backend vault") {
		t.Errorf("%+v", others)
	}
	if moved, err := shut.Gather(t.Context()); err != nil || len(moved) != 0 {
		t.Error(moved, err)
	}
}
