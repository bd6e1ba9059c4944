package protocol

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func goodSetup() SetupCode {
	return SetupCode{URL: "wss://192.168.1.5:18789", URLs: []string{"wss://192.168.1.5:18789", "wss://gw-0123456789ab.local:18789"},
		BootstrapToken: "secret", ExpiresAtMs: 1, Pin: strings.Repeat("a", 64), ID: "0123456789abcdef"}
}

func TestSetupCode(t *testing.T) {
	want := goodSetup()
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text, " " + text + "\n", SetupScheme + text, text + "==", text[:20] + "\n" + text[20:]} {
		got, err := ParseSetupCode(s)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", s, err, diff)
		}
	}
	if got := want.Addresses(); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// A code that would lead to an open connection, or to whoever answers, is not
// taken.
func TestSec_A_NET_17_UnsafeSetupCodes(t *testing.T) {
	for name, change := range map[string]func(*SetupCode){
		"plaintext":  func(s *SetupCode) { s.URL = "ws://192.168.1.5:18789" },
		"second":     func(s *SetupCode) { s.URLs = append(s.URLs, "ws://gw.local:1") },
		"other":      func(s *SetupCode) { s.URL = "file:///etc/passwd" },
		"user":       func(s *SetupCode) { s.URL = "wss://a:b@192.168.1.5" },
		"no address": func(s *SetupCode) { s.URL, s.URLs = "", nil },
		"no secret":  func(s *SetupCode) { s.BootstrapToken = "" },
		"nobody's":   func(s *SetupCode) { s.Pin = "" },
		"no host":    func(s *SetupCode) { s.URL = "wss:///x" },
	} {
		s := goodSetup()
		change(&s)
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSetupCode(text); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	for _, s := range []string{"", "hello", SetupScheme, strings.Repeat("A", 10_000), base64.RawURLEncoding.EncodeToString([]byte("[]"))} {
		if _, err := ParseSetupCode(s); err == nil {
			t.Errorf("%.20q was taken", s)
		}
	}
}

func FuzzSetupCode(f *testing.F) {
	s := goodSetup()
	text, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("oc-pair://e30")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSetupCode(text)
		if err != nil {
			return
		}
		for _, a := range s.Addresses() {
			if !strings.HasPrefix(a, "wss:") && !strings.HasPrefix(strings.ToLower(a), "wss:") {
				t.Errorf("%q", a)
			}
		}
	})
}
