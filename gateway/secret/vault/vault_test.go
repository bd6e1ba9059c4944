package vault

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

const (
	pass   = "four words of mine"
	canary = "canary-vault-5d1e"
)

func made(t *testing.T) (*Vault, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v")
	v := New(path, time.Now)
	if err := v.Create(secret.New(pass)); err != nil {
		t.Fatal(err)
	}
	if err := v.Set(t.Context(), "a/b", secret.New(canary)); err != nil {
		t.Fatal(err)
	}
	return v, path
}

func TestSec_A_SEC_01_VaultOnDisk(t *testing.T) {
	v, path := made(t)
	b, err := os.ReadFile(path)
	if err != nil || bytes.Contains(b, []byte(canary)) || bytes.Contains(b, []byte("a/b")) {
		t.Fatalf("the file shows what it keeps: %v", err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	list, err := v.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "a/b" {
		t.Fatal(list, err)
	}

	again := New(path, time.Now)
	if _, err := again.Get(t.Context(), "a/b"); !errors.Is(err, secret.ErrLocked) {
		t.Fatalf("a locked vault: %v", err)
	}
	if err := again.Unlock(secret.New("another passphrase")); !errors.Is(err, ErrPassphrase) {
		t.Fatalf("a wrong passphrase: %v", err)
	}
	if err := again.Unlock(secret.New(pass)); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Get(t.Context(), "a/b"); err != nil || got.Reveal() != canary {
		t.Fatal("the secret is not there", err)
	}
	if err := again.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{second(v.Get(t.Context(), "a/b")), v.Delete(t.Context(), "a/b")} {
		if !errors.Is(err, secret.ErrNotFound) {
			t.Errorf("after a removal by another process: %v", err)
		}
	}
}

func second(_ secret.Secret, err error) error { return err }

func TestSec_A_SEC_01_DamagedVaultIsRefusedAndKept(t *testing.T) {
	v, path := made(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"truncated": whole[:len(whole)/2], "empty": {}, "not JSON": []byte("hello"), "other version": bytes.Replace(whole, []byte(`"v":1`),
			[]byte(`"v":2`), 1),
		"weaker": bytes.Replace(whole, []byte(`"t":3`), []byte(`"t":2`), 1), "greedy": bytes.Replace(whole, []byte(`"m":65536`),
			[]byte(`"m":99999999`), 1),
		"flipped": flipped(whole),
	} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		err := v.Set(t.Context(), "x", secret.New("y"))
		if err == nil {
			t.Errorf("%s: written over", name)
		}
		err = New(path, time.Now).Unlock(secret.New(pass))
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrPassphrase) {
			t.Errorf("%s: %v", name, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, bad) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// flipped changes one sign within the sealed part.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	i := bytes.Index(b, []byte(`"sealed":"`)) + 60
	if b[i]++; b[i] == '"' || b[i] == '\\' || b[i] == ':' {
		b[i] = 'A'
	}
	return b
}

func TestSec_A_SEC_08_OpenVaultIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes on Windows")
	}
	v, path := made(t)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := second(v.Get(t.Context(), "a/b")); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("world-readable: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := New(link, time.Now).Unlock(secret.New(pass)); err == nil {
		t.Error("a link was followed")
	}
}

func TestCreateRefuses(t *testing.T) {
	v, path := made(t)
	if err := v.Create(secret.New("another passphrase")); err == nil {
		t.Error("a vault was replaced")
	}
	if err := New(path+"2", time.Now).Create(secret.New("short")); err == nil {
		t.Error("a short passphrase was taken")
	}
	if err := New(path+"3", time.Now).Unlock(secret.New(pass)); !errors.Is(err, ErrNone) || !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("no file: %v", err)
	}
}

func TestKeyed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v")
	v := New(path, time.Now)
	if err := v.UnlockKey(bytes.Repeat([]byte{7}, 32)); err != nil {
		t.Fatal(err)
	}
	if err := v.Set(t.Context(), "large", secret.New(strings.Repeat(canary, 1000))); err != nil {
		t.Fatal(err)
	}
	other := New(path, time.Now)
	if err := other.UnlockKey(bytes.Repeat([]byte{8}, 32)); !errors.Is(err, ErrPassphrase) {
		t.Errorf("another key: %v", err)
	}
	if err := other.UnlockKey(bytes.Repeat([]byte{7}, 32)); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Get(t.Context(), "large"); err != nil || len(got.Reveal()) != 1000*len(canary) {
		t.Error("the large secret is not whole", err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"kdf":"key","salt":"AAAAAAAAAAAAAAAAAAAAAA==","check":"AAAAAAAAAAAAAAAAAAAAAA==","sealed":"AAAA"}`))
	f.Add([]byte(`{"v":1,"kdf":"argon2id","t":0,"m":0,"p":0}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		v := New(path, time.Now)
		if err := v.UnlockKey(make([]byte, 32)); err == nil {
			t.Fatal("a made-up file was opened")
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
			t.Fatal("the file was changed")
		}
	})
}
