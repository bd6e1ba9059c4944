package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const canary = "canary-type-91b2"

func TestSec_A_SEC_02_NoWayOfPrintingShowsIt(t *testing.T) {
	type holder struct {
		S Secret
		P *Secret
		F Setting
		m map[string]Secret
	}
	s := New(canary)
	h := holder{s, &s, Literal(canary), map[string]Secret{"k": s}}
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%10.3s", "%p"} {
		fmt.Fprintf(&b, verb+verb+verb, s, h.F, h.m)
		fmt.Fprintf(&b, verb, h)
	}
	log := slog.New(slog.NewJSONHandler(&b, nil))
	log.Info("x", "s", s, "h", h.F, "any", []Secret{s})
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "s", s, "h", h.F, "m", h.m)
	for _, v := range []any{s, &s, h, h.F, map[Setting]int{h.F: 1}, []any{s}} {
		if j, err := json.Marshal(v); err == nil {
			b.Write(j)
		}
	}
	b.WriteString(fmt.Errorf("wrapped %v %w", s, errors.New(s.String())).Error())
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), "canary"} {
		if strings.Contains(strings.ToLower(b.String()), form) {
			t.Fatalf("shown: %s", b.String())
		}
	}
	if s.Reveal() != canary {
		t.Error("Reveal does not give the text")
	}
}

func TestCleanKey(t *testing.T) {
	const key = "sk-abcDEF0123456789"
	for _, pasted := range []string{key, "  " + key + "\n", "\r\n\t" + key + " \r\n", "\"" + key + "\"", "'" + key + "'", "\ufeff" + key,
		"sk-abcDEF\n0123456789", "Bearer " + key, "\u200b" + key} {
		if got, err := CleanKey(pasted); err != nil || got.Reveal() != key {
			t.Errorf("%q: %q %v", pasted, got.Reveal(), err)
		}
	}
	for pasted, words := range map[string]string{
		"": "empty", " \n": "empty", "my key is sk-1": "spaces", "https://platform.example/keys": "web address", "sk-abc…xyz123": "shortened",
		"sk-ab**********": "shortened",
		"short":           "too short", "sk-abc\x00def0123": "cannot be typed", Marker: "hidden", "schlüssel-123456": "letters",
		strings.Repeat("k", maxClean+1): "64 KB",
	} {
		_, err := CleanKey(pasted)
		var bad *InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), words) || len(pasted) > 5 && strings.Contains(err.Error(), pasted) {
			t.Errorf("%.20q: %v", pasted, err)
		}
	}
	pem := "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
	if got, err := Clean(pem + "\n"); err != nil || got.Reveal() != pem {
		t.Errorf("a PEM key: %v", err)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(" sk-abc \n")
	f.Add("\"\"")
	f.Add("Bearer Bearer x")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := CleanKey(s)
		if err == nil && (len(v.Reveal()) < 8 || strings.TrimSpace(v.Reveal()) != v.Reveal()) {
			t.Fatalf("%q became %q", s, v.Reveal())
		}
	})
}

func TestRefs(t *testing.T) {
	if r, ok := KeychainRef("keychain:models.providers.x.apiKey"); !ok || r.ID != "models.providers.x.apiKey" || r.Check() != nil {
		t.Error(r, ok)
	}
	for _, s := range []string{"keychain:", "keychain:a b", "keychainx:a", "sk-1"} {
		if _, ok := KeychainRef(s); ok {
			t.Errorf("%q is taken for a reference", s)
		}
	}
	for _, bad := range []Ref{
		{}, {Source: "magic", ID: "x"}, {Source: SourceEnv, ID: "A B"}, {Source: SourceFile}, {Source: SourceFile, Path: "relative"},
		{Source: SourceExec}, {Source: SourceExec, Command: "pass"}, {Source: SourceKeychain, ID: "a b"},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
