package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

func kept(t *testing.T, backend string, env map[string]string) (*Keeper, string) {
	t.Helper()
	dir := t.TempDir()
	return New(Options{Dir: dir, Backend: backend, Env: func(n string) string { return env[n] }}), dir
}

func needsNoDesktop(t *testing.T, k *Keeper) {
	t.Helper()
	if k.keychain.State(t.Context()) == "ready" {
		t.Skip("this system has a keychain that needs no session")
	}
}

func TestAutoIsNeverPlain(t *testing.T) {
	k, dir := kept(t, "", nil)
	needsNoDesktop(t, k)
	err := k.Set(t.Context(), "n", secret.New("canary-keeper"))
	if !errors.Is(err, secret.ErrUnavailable) {
		t.Fatal(err)
	}
	for _, words := range []string{"hearth secrets unlock", "secrets.backend plain", "${NAME}"} {
		if !strings.Contains(err.Error(), words) || !strings.Contains(k.Status(t.Context()).Message, words) {
			t.Errorf("the choice %q is not named: %v", words, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("something was written: %v", files)
	}
	if list, err := k.List(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

func TestVaultByPassphraseFile(t *testing.T) {
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("a passphrase of mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{PassphraseFile: pass}
	k, dir := kept(t, Auto, env)
	needsNoDesktop(t, k)
	if _, err := k.Get(t.Context(), "n"); err == nil {
		t.Error("an open passphrase file was read")
	}
	if err := os.Chmod(pass, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("before the first secret: %v", err)
	}
	if err := k.Set(t.Context(), "n", secret.New("value")); err != nil {
		t.Fatal(err)
	}
	again := New(Options{Dir: dir, Env: func(n string) string { return env[n] }})
	if v, err := again.Get(t.Context(), "n"); err != nil || v.Reveal() != "value" {
		t.Error("after a restart:", err)
	}
	locked := New(Options{Dir: dir, Env: func(string) string { return "" }})
	if _, err := locked.Get(t.Context(), "n"); !errors.Is(err, secret.ErrLocked) {
		t.Error("without the passphrase:", err)
	}
	if err := locked.Unlock(t.Context(), secret.New("another one, wrong"), true); !errors.Is(err, secret.ErrPassphrase) {
		t.Error("a wrong passphrase:", err)
	}
	if err := locked.Unlock(t.Context(), secret.New("a passphrase of mine"), false); err != nil {
		t.Error(err)
	}
}

func TestPlainOnlyByChoice(t *testing.T) {
	k, dir := kept(t, Plain, nil)
	if err := k.Set(t.Context(), "n", secret.New("value")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "secrets.plain.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Error(info.Mode(), err)
	}
	if s := k.Status(t.Context()); !s.Ready() || s.Message == "" {
		t.Errorf("it does not say what it is: %+v", s)
	}
	if err := k.Delete(t.Context(), "n"); err != nil {
		t.Error(err)
	}
	if err := k.Delete(t.Context(), "n"); !errors.Is(err, secret.ErrNotFound) {
		t.Error(err)
	}
}

func TestNamesAndValuesThatNoStoreTakes(t *testing.T) {
	k, _ := kept(t, Plain, nil)
	for _, name := range []string{"", "-x", "a b", "a\nb", strings.Repeat("n", 300), "sk\x00"} {
		var bad *secret.NameError
		if err := k.Set(t.Context(), name, secret.New("v")); !errors.As(err, &bad) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := k.Set(t.Context(), "n", secret.Secret{}); err == nil {
		t.Error("an empty secret was kept")
	}
}
