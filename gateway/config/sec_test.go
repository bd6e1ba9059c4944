package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/internal/seed"
)

const canary = "canary-7f3a9c-secret-value"

const secretive = `// old key: apiKey: "canary-7f3a9c-secret-value-0"
{
  gateway: { auth: { token: "canary-7f3a9c-secret-value-1" } },
  models: { providers: {
    a: { apiKey: 'canary-7f3a9c-secret-value-2', baseUrl: "http://h", headers: { Authorization: "Bearer canary-7f3a9c-secret-value-3" } },
    b: { apiKey: "${SOME_KEY}", models: [{ id: "m", maxTokens: 5 }] },
    /* password = canary-7f3a9c-secret-value-4 */
  } },
  env: { OPENAI_API_KEY: "canary-7f3a9c-secret-value-5", list: ["sk-canary-7f3a9c-secret-value-6"] },
  channels: { x: { botToken: "canary-7f3a9c-secret-value-7", accounts: [
    { id: "one", password: "canary-7f3a9c-secret-value-8" },
    { id: "two", password: "canary-7f3a9c-secret-value-9", pin: { secret: ["canary-7f3a9c-secret-value-10"] } },
  ] } },
  web: { proxy: "http://me:canary-7f3a9c-secret-value-11@proxy:1" },
}
`

func TestSec_A_CFG_02_InvalidIsNeverLooser(t *testing.T) {
	base := "{ gateway: { port: 18800, bind: 'loopback', auth: { mode: 'token', token: 'a-token-of-some-length' } } }"
	wrong := []string{"null", "true", "0", "-1", "1.5", "[]", "{}", "''", "'auto'", "'none'", "'LOOPBACK'", "'0.0.0.0'", "'off'", "1e10",
		"['loopback']", "{x:1}"}
	for _, key := range []string{"gateway", "gateway.port", "gateway.bind", "gateway.auth", "gateway.auth.mode", "gateway.auth.token"} {
		for _, value := range wrong {
			if value == "{}" || value == "{x:1}" || key == "gateway.port" && value == "0" {
				continue // valid: defaults, which are the strictest
			}
			if key == "gateway" || key == "gateway.auth" {
				if value[0] == '{' {
					continue
				}
			}
			p, err := ParsePath(key)
			if err != nil {
				t.Fatal(err)
			}
			text, err := edited(base, []op{{p, mustParse(t, value).root}})
			if err != nil {
				t.Fatal(err)
			}
			checkNotLooser(t, base, text)
		}
	}
	for _, typo := range []string{"{gatway:{bind:'lan'}}", "{gateway:{Bind:'lan'}}", "{gateway:{auth:{moed:'none', tokn:''}}}",
		"{gateway:{auth:{}}}", "{}"} {
		s := open(t, place(t, typo), Options{}).Snapshot()
		if door(s.Config).Bind != "loopback" || door(s.Config).Mode != "token" {
			t.Errorf("%s: %+v", typo, door(s.Config))
		}
	}
}

// checkNotLooser tries a text at start with and without a last good copy, as
// a hand edit while running, and as an edit through the API.
func checkNotLooser(t *testing.T, base, text string) {
	t.Helper()
	if s := open(t, place(t, text), Options{}).Snapshot(); s.Valid { // known elsewhere: said, and read as the strict value
		if g := door(s.Config); len(s.Warnings) == 0 || g.Bind != "loopback" || g.Mode != "token" {
			t.Errorf("%s: %+v, %v", text, g, s.Warnings)
		}
		return
	}
	path := place(t, base)
	f := open(t, path, Options{})
	want := f.Snapshot().Config
	if _, err := f.Set(t.Context(), f.Snapshot().Hash, text); err == nil {
		t.Errorf("%s was saved", text)
	}
	put(t, path, text)
	if err := f.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.Snapshot().Config); diff != "" || f.Snapshot().Valid {
		t.Errorf("%s changed the running settings: %s", text, diff)
	}
	if diff := cmp.Diff(want, open(t, path, Options{}).Snapshot().Config); diff != "" {
		t.Errorf("%s changed the settings at start: %s", text, diff)
	}
	if err := os.Remove(path + ".last-good"); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{}).Snapshot()
	g := door(s.Config)
	if g.Bind != "loopback" || g.Mode != "token" || len(s.Problems()) == 0 {
		t.Errorf("%s without a last good copy: %+v, %v", text, g, s.Problems())
	}
}

func TestSec_A_CFG_03_Tricks(t *testing.T) {
	for name, text := range map[string]string{
		"duplicate":        `{"gateway":{"port":1},"gateway":{"port":2}}`,
		"escaped double":   `{"gateway":{"port":1,"p\u006frt":2}}`,
		"proto":            `{"gateway":{"__proto__":{"bind":"lan"}}}`,
		"on":               `{models:{providers:{a:{models:[{id:'x',reasoning:on}]}}}}`,
		"yes":              `{models:{providers:{a:{models:[{id:'x',reasoning:'yes'}]}}}}`,
		"huge":             `{gateway:{port:1e999}}`,
		"NaN":              `{gateway:{port:NaN}}`,
		"nul":              "{gateway:{port:1}\x00}",
		"nul in a text":    `{session:{mainKey:"a\0b"}}`,
		"line break":       `{session:{mainKey:"a\nb"}}`,
		"text as a number": `{gateway:{port:"18789"}}`,
		"file in address":  `{models:{providers:{a:{baseUrl:"file:///etc/passwd"}}}}`,
		"key in address":   `{models:{providers:{a:{baseUrl:"https://me:pw@h"}}}}`,
		"slash in a name":  `{models:{providers:{"a/b":{}}}}`,
		"empty token":      `{gateway:{auth:{token:""}}}`,
	} {
		s := open(t, place(t, text), Options{}).Snapshot()
		if s.Valid || len(s.Issues) == 0 {
			t.Errorf("%s was accepted", name)
		}
	}
	if s := open(t, place(t, "\ufeff{gateway:{port:1}}"), Options{}).Snapshot(); !s.Valid || door(s.Config).Port != 1 {
		t.Errorf("a byte order mark: %v", s.Issues)
	}
}

// Settings are one file. What other programs take for the name of another one to
// read in is a key that nobody knows, or words: the other file is not opened.
func TestSec_A_CFG_01_NoIncludes(t *testing.T) {
	other := place(t, `{gateway:{port:4711},tools:{exec:{ask:"off"}}}`)
	for _, text := range []string{
		`{"$include":%q}`, `{"$include":["./%[2]s",%[1]q]}`, `{include:%q}`, `{"$ref":%q}`, `{extends:%q}`, `{"!include":%q}`,
		`{gateway:{"$include":%q}}`, `{tools:{exec:{"$include":%q}}}`, `{session:{mainKey:"@%[1]s"}}`, `{session:{mainKey:"file://%[1]s"}}`,
	} {
		raw := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "%[1]q", strconv.Quote(other)), "%q",
			strconv.Quote(other)), "%[1]s", other), "%[2]s", filepath.Base(other))
		s := open(t, place(t, raw), Options{}).Snapshot()
		if door(s.Config).Port == 4711 || standIns.exec.Of(s.Config).Ask == "off" ||
			strings.Contains(standIns.chats.Of(s.Config).MainKey, "4711") {
			t.Errorf("%s was read in", raw)
		}
		if s.Valid && len(s.Warnings) == 0 && !strings.Contains(raw, "mainKey") {
			t.Errorf("%s is not told of", raw)
		}
	}
}

func TestSec_A_CFG_04_EditableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	refused := func(path, fix string) {
		t.Helper()
		_, err := Open(path, Options{Sections: standSections()})
		var pe *PermissionError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), fix) {
			t.Errorf("got %v, want the fix %q", err, fix)
		}
	}
	path := place(t, sample)
	for _, mode := range []os.FileMode{0o666, 0o602, 0o646} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		refused(path, "run: chmod go-w "+path)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{}).Snapshot()
	if p := s.Problems(); !s.Valid || len(p) != 1 || !strings.Contains(p[0].Message, "chmod 600 "+path) {
		t.Errorf("readable by others: %v", p)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	refused(path, "chmod go-w "+filepath.Dir(path))
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(path, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		refused(path, "chown 0 "+path)
	}
}

func TestSec_A_CFG_04_BecomesEditableWhileRunning(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	path := place(t, portText(1))
	f := open(t, path, Options{})
	put(t, path, portText(2))
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.Snapshot(); s.Valid || door(s.Config).Port != 1 || !strings.Contains(s.Problems()[0].Message, "chmod") {
		t.Errorf("in use: %+v %v", door(s.Config), s.Problems())
	}
	var pe *PermissionError
	if _, err := f.SetPath(t.Context(), "gateway.port", "3"); !errors.As(err, &pe) {
		t.Errorf("an edit: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(t.Context()); err != nil || door(f.Snapshot().Config).Port != 2 {
		t.Errorf("after the fix: %v %+v", err, f.Snapshot())
	}
}

func TestSec_A_CFG_04_NotAFile(t *testing.T) {
	s := open(t, t.TempDir(), Options{LastGoodPath: filepath.Join(t.TempDir(), "lg")}).Snapshot()
	if s.Valid || len(s.Issues) != 1 || !strings.Contains(s.Issues[0].Message, "is not a file") {
		t.Errorf("a folder as the file: %+v", s)
	}
}

func TestSec_A_SEC_02_SecretsAreNeverPrinted(t *testing.T) {
	var log bytes.Buffer
	opts := Options{Sections: standSections(), Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	path := place(t, secretive)
	f := open(t, path, opts)
	c := f.Snapshot().Config
	opts.Logger.Info("x", "config", c, "token", door(c).Token)
	fmt.Fprintf(&log, "%v %+v %#v %s %x %q", c, c, c, door(c).Token, door(c).Token, standIns.models.Of(c).Services["a"].APIKey)
	rng := seed.Fixed(t, 7)
	for range 500 {
		put(t, path, mutate(rng, secretive))
		f, err := Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&log, f.Problems(), f.Snapshot().Issues, f.Snapshot().Warnings)
		_, err = f.SetPath(t.Context(), "gateway.port", "1")
		fmt.Fprintln(&log, err)
	}
	if i := strings.Index(log.String(), "7f3a9c"); i >= 0 {
		t.Errorf("printed: …%s…", log.String()[max(0, i-300):i+60])
	}
}

func TestSec_A_SEC_03_RedactedShowsNoSecret(t *testing.T) {
	s := open(t, place(t, secretive), Options{}).Snapshot()
	r, err := s.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"raw": *r.Raw, "parsed": string(r.Parsed), "config": string(r.Config)} {
		if strings.Contains(text, "7f3a9c") {
			t.Errorf("%s shows a secret: %s", name, text)
		}
	}
	for _, keep := range []string{"${SOME_KEY}", "maxTokens: 5", `baseUrl: "http://h"`, `id: "two"`} {
		if !strings.Contains(*r.Raw, keep) {
			t.Errorf("%s was hidden without need: %s", keep, *r.Raw)
		}
	}
	v, ok, err := s.Get("models.providers.a")
	if err != nil || !ok || strings.Contains(string(v), canary) || !json.Valid(v) {
		t.Errorf("Get: %s %v %v", v, ok, err)
	}
	broken := open(t, place(t, secretive+"}"), Options{}).Snapshot()
	if r, err := broken.Redacted(); err != nil || r.Raw != nil || string(r.Parsed) != "null" {
		t.Errorf("a file that does not parse is shown: %+v %v", r, err)
	}
}

func TestSec_A_SEC_04_SavingWhatWasShown(t *testing.T) {
	path := place(t, secretive)
	f := open(t, path, Options{})
	r, err := f.Snapshot().Redacted()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Set(t.Context(), f.Snapshot().Hash, *r.Raw); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secretive, get(t, path)); diff != "" {
		t.Fatalf("saving what was shown changed the file: %s", diff)
	}
	// Elements of a list move: each keeps its own secret.
	one := `{ id: "one", password: "` + RedactedMarker + `" },`
	moved := strings.Replace(strings.Replace(*r.Raw, one, "", 1), "  ] } },", "    "+one+"\n  ] } },", 1)
	s, err := f.Set(t.Context(), f.Snapshot().Hash, strings.Replace(moved, "http://h", "http://h2", 1))
	if err != nil {
		t.Fatal(err)
	}
	if i, ok := s.doc.find(Path{Key("channels"), Key("x"), Key("accounts"), Index(1), Key("password")}); !ok || i.text != canary+"-8" {
		t.Errorf("the moved secret: %v", i)
	}
	if a := standIns.models.Of(s.Config).Services["a"]; a.APIKey != secret.Literal(canary+"-2") || a.BaseURL != "http://h2" {
		t.Error("the secret beside a changed value is gone")
	}
	if strings.Contains(s.Raw, RedactedMarker) {
		t.Error("a marker was saved")
	}
	if _, err := f.MergePatch(t.Context(), "", `{gateway:{port:1,auth:{token:"`+RedactedMarker+`"}}}`); err != nil {
		t.Errorf("a patch with the marker at its place: %v", err)
	}
	if got := door(f.Snapshot().Config).Token; got != secret.Literal(canary+"-1") {
		t.Error("the patch destroyed the token")
	}
}

func TestSec_A_SEC_04_MarkerIsRefused(t *testing.T) {
	path := place(t, secretive)
	f := open(t, path, Options{})
	for name, edit := range map[string]string{
		"new place": `{models:{providers:{c:{apiKey:"` + RedactedMarker + `"}}}}`,
		"part":      `{models:{providers:{a:{apiKey:"x` + RedactedMarker + `"}}}}`,
		"key":       `{models:{providers:{"` + RedactedMarker + `":{}}}}`,
		"object":    `{gateway:{auth:"` + RedactedMarker + `"}}`,
	} {
		if _, err := f.MergePatch(t.Context(), "", edit); !errors.Is(err, ErrRedacted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.SetPath(t.Context(), "gateway.newToken", quote(RedactedMarker)); !errors.Is(err, ErrRedacted) {
		t.Errorf("SetPath: %v", err)
	}
	if _, err := f.Set(t.Context(), f.Snapshot().Hash, "// apiKey: "+RedactedMarker+" now\n{}"); !errors.Is(err, ErrRedacted) {
		t.Errorf("a changed comment: %v", err)
	}
	if get(t, path) != secretive {
		t.Error("the file was changed")
	}
	put(t, path, `{gateway:{auth:{token:"`+RedactedMarker+`"}}}`)
	if err := f.Reload(t.Context()); err != nil || f.Snapshot().Valid {
		t.Errorf("a marker pasted by hand is in use: %v", err)
	}
}

func TestEnvironmentReferences(t *testing.T) {
	env := func(name string) (string, bool) { return map[string]string{"MY_KEY": "k-1"}[name], name == "MY_KEY" }
	text := `{models:{providers:{a:{apiKey:"${MY_KEY}"},b:{apiKey:"${NOPE}"},c:{apiKey:"$${MY_KEY} ${x} $"},d:{apiKey:"a${MY_KEY}b"}}}}`
	s := open(t, place(t, text), Options{Env: env}).Snapshot()
	got := map[string]string{}
	for id, p := range standIns.models.Of(s.Config).Services {
		key, _ := p.APIKey.Literal()
		got[id] = key.Reveal()
	}
	if diff := cmp.Diff(map[string]string{"a": "k-1", "b": "", "c": "${MY_KEY} ${x} $", "d": "ak-1b"}, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].String(), "NOPE is not set") {
		t.Errorf("warnings: %v", s.Warnings)
	}
	guarded := open(t, place(t, `{gateway:{auth:{token:"${NOPE}"}}}`), Options{Env: env}).Snapshot()
	if guarded.Valid {
		t.Error("a token from a missing variable was accepted")
	}
}
