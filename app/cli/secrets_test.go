package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

// hereWith runs a command without a gateway.
func hereWith(t *testing.T, env map[string]string, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), args, World{In: strings.NewReader(in), Out: &o, Err: &e, Version: "test",
		Env: func(k string) string { return env[k] }})
	return code, o.String(), e.String()
}

// vaultHome is a state folder with a vault, and the file that opens it.
func vaultHome(t *testing.T) (env map[string]string, vault, pass string) {
	t.Helper()
	home, pass := t.TempDir(), filepath.Join(t.TempDir(), "pass")
	files := map[string]string{filepath.Join(home, "hearth.json"): `{"secrets": {"backend": "vault"}}`, pass: "words of mine"}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env = map[string]string{"HEARTH_HOME": home, "HOME": home, keeper.PassphraseFile: pass}
	if code, _, errs := hereWith(t, env, "sk-value", "secrets", "set", "foo"); code != exitOK {
		t.Fatal(errs)
	}
	return env, filepath.Join(home, "secrets.vault"), pass
}

// Both doctors say what keeps the vault closed, and fail.
func TestDoctorsTryTheVault(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(vault, pass string) error
		says  string
	}{
		"the passphrase is another one": {func(_, pass string) error { return os.WriteFile(pass, []byte("other words"), 0o600) },
			"not the one of"},
		"its file is gone":       {func(_, pass string) error { return os.Remove(pass) }, "does not exist"},
		"the vault is cut short": {func(vault, _ string) error { return os.Truncate(vault, 30) }, "damaged"},
	} {
		env, vault, pass := vaultHome(t)
		if code, out, _ := hereWith(t, env, "", "secrets", "doctor"); code != exitOK || !strings.Contains(out, "ok") {
			t.Errorf("before: %d, %s", code, out)
		}
		if err := tc.spoil(vault, pass); err != nil {
			t.Fatal(err)
		}
		code, out, errs := hereWith(t, env, "", "secrets", "doctor")
		if code != exitFailure || !strings.Contains(out, tc.says) || strings.Contains(out, "ok") || strings.Contains(out, "(ready)") {
			t.Errorf("%s: secrets doctor: %d, %s%s", name, code, out, errs)
		}
		code, out, _ = hereWith(t, env, "", "secrets", "doctor", "--json")
		if code != exitFailure || !strings.Contains(out, `"ready": false`) {
			t.Errorf("%s: secrets doctor --json: %d, %s", name, code, out)
		}
		if code, out, _ := hereWith(t, env, "", "doctor"); code != exitFailure || !strings.Contains(out, tc.says) {
			t.Errorf("%s: doctor: %d, %s", name, code, out)
		}
	}
}

// What was unlocked is said, and nothing else.
func TestUnlockSaysWhatIsTrue(t *testing.T) {
	plain := map[string]string{}
	plain["HEARTH_HOME"], _ = plainHome(t)
	plain["HOME"] = plain["HEARTH_HOME"]
	code, out, errs := hereWith(t, plain, "", "secrets", "unlock")
	if code != exitOK || !strings.Contains(out, "nothing to unlock") || strings.Contains(out, "Unlocked") {
		t.Errorf("a private file: %d, %s%s", code, out, errs)
	}
	env, vault, _ := vaultHome(t)
	delete(env, keeper.PassphraseFile)
	code, out, errs = hereWith(t, env, "words of mine\n", "secrets", "unlock")
	if code != exitNotRunning || out != "" || !strings.Contains(errs, "nothing was unlocked") || !strings.Contains(errs, "hearth gateway") {
		t.Errorf("without a gateway: %d, %s%s", code, out, errs)
	}
	code, _, errs = hereWith(t, env, "other words\n", "secrets", "unlock")
	if code != exitFailure || !strings.Contains(errs, "not the one of") {
		t.Errorf("another passphrase: %d, %s", code, errs)
	}
	if err := os.Remove(vault); err != nil {
		t.Fatal(err)
	}
	code, out, errs = hereWith(t, env, "words of mine\n", "secrets", "unlock")
	if code != exitOK || !strings.Contains(out, "The vault is made") || strings.Contains(out, "Unlocked") {
		t.Errorf("a new vault: %d, %s%s", code, out, errs)
	}
}

// Without a gateway the settings file says what uses a secret.
func TestWhatUsesASecretWithoutAGateway(t *testing.T) {
	env, _, _ := vaultHome(t)
	if code, _, errs := hereWith(t, env, "", "config", "set", "models.providers.openai.apiKey", "keychain:foo"); code != exitOK {
		t.Fatal(errs)
	}
	if _, out, errs := hereWith(t, env, "", "secrets", "list"); !strings.Contains(out, "models.providers.openai.apiKey") {
		t.Error(out, errs)
	}
}
