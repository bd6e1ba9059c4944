package keeper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// A place that cannot be opened is not called ready by whoever looks for faults.
func TestTryOpensThePlace(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, vault, pass string)
		state string
		says  string
	}{
		"all is well":                 {func(*testing.T, string, string) {}, "ready", ""},
		"no file with the passphrase": {func(t *testing.T, _, pass string) { ok(t, os.Remove(pass)) }, Unusable, "does not exist"},
		"another passphrase": {func(t *testing.T, _, pass string) { ok(t, os.WriteFile(pass, []byte("quite another one"), 0o600)) }, Unusable,
			"not the one of the vault"},
		"cut short":    {func(t *testing.T, vault, _ string) { ok(t, os.Truncate(vault, 40)) }, Unusable, "damaged"},
		"no vault yet": {func(t *testing.T, vault, _ string) { ok(t, os.Remove(vault)) }, "ready", ""},
		"neither": {func(t *testing.T, vault, pass string) { ok(t, os.Remove(vault)); ok(t, os.Remove(pass)) }, Unusable,
			"does not exist"},
	} {
		pass := filepath.Join(t.TempDir(), "pass")
		ok(t, os.WriteFile(pass, []byte("a passphrase of mine"), 0o600))
		env := map[string]string{PassphraseFile: pass}
		k, dir := kept(t, Vault, env)
		ok(t, k.Set(t.Context(), "n", secret.New("value")))
		tc.spoil(t, filepath.Join(dir, "secrets.vault"), pass)
		again := New(Options{Dir: dir, Backend: Vault, Env: func(n string) string { return env[n] }})
		s := again.Try(t.Context())
		if s.State != tc.state || !strings.Contains(s.Message, tc.says) || s.Ready() != (tc.state == "ready") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A locked vault that is not whole is told before anybody types a passphrase.
func TestTryLooksAtALockedVault(t *testing.T) {
	k, dir := kept(t, Vault, nil)
	ok(t, k.Unlock(t.Context(), secret.New("a passphrase of mine"), true))
	again := New(Options{Dir: dir, Backend: Vault, Env: func(string) string { return "" }})
	if s := again.Try(t.Context()); s.State != "locked" {
		t.Errorf("whole: %+v", s)
	}
	ok(t, os.Truncate(filepath.Join(dir, "secrets.vault"), 40))
	if s := again.Try(t.Context()); s.State != Unusable || !strings.Contains(s.Message, "damaged") {
		t.Errorf("cut short: %+v", s)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
