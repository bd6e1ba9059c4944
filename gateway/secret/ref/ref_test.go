package ref

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// oneStore holds one secret and counts who asks.
type oneStore struct {
	mu    sync.Mutex
	name  string
	value string
	err   error
	asked int
}

func (s *oneStore) Get(_ context.Context, name string) (secret.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.err != nil || name != s.name {
		return secret.Secret{}, errors.Join(s.err, secret.ErrNotFound)
	}
	return secret.New(s.value), nil
}
func (*oneStore) Set(context.Context, string, secret.Secret) error { return nil }
func (*oneStore) Delete(context.Context, string) error             { return nil }
func (*oneStore) List(context.Context) ([]secret.Entry, error)     { return nil, nil }

func file(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSources(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	plain := file(t, "key", " from-a-file\n", 0o600)
	js := file(t, "keys.json", `{"a":{"b/c":["x","from-json"]}}`, 0o600)
	open := file(t, "open", "readable", 0o644)
	prog := file(t, "prog", "#!/bin/sh\necho from-a-program $1\n", 0o700)
	speaks := file(t, "speaks", "#!/bin/sh\ncat >/dev/null; echo '{\"protocolVersion\":1,\"values\":{\"k\":\"by-protocol\"}}'\n", 0o700)
	loud := file(t, "loud", "#!/bin/sh\nhead -c 3000000 /dev/zero\n", 0o700)
	fails := file(t, "fails", "#!/bin/sh\necho canary-stderr >&2; echo canary-stdout; exit 3\n", 0o700)
	slow := file(t, "slow", "#!/bin/sh\nexec sleep 30\n", 0o700)
	env := file(t, "env", "#!/bin/sh\necho \"k=$LEAK$PASSED\"\n", 0o700)

	var found []string
	r := New(Options{
		Store: &oneStore{name: "n", value: "from-the-store"},
		Env: func(n string) string {
			return map[string]string{"KEY": "from-env", "LEAK": "leaked", "PASSED": "passed", "PATH": os.Getenv("PATH")}[n]
		},
		Home:  func() (string, error) { return filepath.Dir(plain), nil },
		Found: func(v secret.Secret) { found = append(found, v.Reveal()) },
	})
	r.Configure(map[string]Provider{
		"js": {Source: "file", Path: js, JSON: true}, "p": {Source: "exec", Argv: []string{speaks}},
		"slow": {Source: "exec", Argv: []string{slow}, Timeout: 50 * time.Millisecond},
		"few":  {Source: "env", Allowlist: []string{"OTHER"}}, "env": {Source: "exec", Argv: []string{env}, PassEnv: []string{"PASSED"}},
	}, map[string]string{"file": "js"})
	for _, tc := range []struct {
		ref  secret.Ref
		want string // or, after "!", words of the error
	}{
		{secret.Ref{Source: "keychain", ID: "n"}, "from-the-store"},
		{secret.Ref{Source: "env", ID: "KEY"}, "from-env"},
		{secret.Ref{Source: "env", Provider: "default", ID: "KEY"}, "from-env"},
		{secret.Ref{Source: "file", Path: plain}, "from-a-file"},
		{secret.Ref{Source: "file", Path: "~/key"}, "from-a-file"},
		{secret.Ref{Source: "file", Provider: "js", ID: "/a/b~1c/1"}, "from-json"},
		{secret.Ref{Source: "file", Provider: "default", ID: "/a/b~1c/1"}, "from-json"},
		{secret.Ref{Source: "exec", Command: prog + "\x00arg"}, "from-a-program arg"},
		{secret.Ref{Source: "exec", Provider: "p", ID: "k"}, "by-protocol"},
		{secret.Ref{Source: "exec", Provider: "env", ID: "k"}, "k=passed"},
		{secret.Ref{Source: "keychain", ID: "other"}, "!no secret of this name"},
		{secret.Ref{Source: "env", ID: "NOPE"}, "!NOPE is not set"},
		{secret.Ref{Source: "env", Provider: "few", ID: "KEY"}, "!allowlist"},
		{secret.Ref{Source: "file", Path: open}, "!chmod 600"},
		{secret.Ref{Source: "file", Path: filepath.Dir(open)}, "!not a file"},
		{secret.Ref{Source: "file", Path: "/nowhere/x"}, "!no file"},
		{secret.Ref{Source: "file", Provider: "js", ID: "/a"}, "!no text"},
		{secret.Ref{Source: "file", Provider: "js", ID: "a"}, "!begins with /"},
		{secret.Ref{Source: "exec", Provider: "p", ID: "other"}, "!no secret of this id"},
		{secret.Ref{Source: "exec", Command: loud}, "!more than"},
		{secret.Ref{Source: "exec", Command: fails}, "!exit status 3"},
		{secret.Ref{Source: "exec", Provider: "slow", ID: "k"}, "!within 50ms"},
		{secret.Ref{Source: "exec", Command: "sh"}, "!whole path"},
		{secret.Ref{Source: "exec", Provider: "js", ID: "k"}, "!of the kind file"},
		{secret.Ref{Source: "exec", Provider: "gone", ID: "k"}, "!secrets.providers.gone"},
	} {
		v, err := r.Value(t.Context(), "models.providers.x.apiKey", secret.Reference(tc.ref))
		if words, ok := strings.CutPrefix(tc.want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "models.providers.x.apiKey") ||
				strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v, want %q", tc.ref, err, words)
			}
			if r.Problem("f", secret.Reference(tc.ref)) == nil {
				t.Errorf("%s: no problem is kept", tc.ref)
			}
			continue
		}
		if err != nil || v.Reveal() != tc.want {
			t.Errorf("%s: %q %v, want %q", tc.ref, v.Reveal(), err, tc.want)
		}
		if known, ok := r.Known(secret.Reference(tc.ref)); !ok || known != v {
			t.Errorf("%s is not remembered", tc.ref)
		}
	}
	if len(found) != 10 {
		t.Errorf("%d secrets were announced", len(found))
	}
}

func TestRemembersUntilToldToForget(t *testing.T) {
	s := &oneStore{name: "n", value: "one"}
	now := time.Unix(0, 0)
	r := New(Options{Store: s, Now: func() time.Time { return now }})
	set := secret.Reference(secret.Ref{Source: "keychain", ID: "n"})
	if _, ok := r.Known(set); ok {
		t.Error("known before anybody looked")
	}
	var work sync.WaitGroup
	for range 20 {
		work.Go(func() { _, _ = r.Value(t.Context(), "f", set) })
	}
	work.Wait()
	s.value = "two"
	if v, err := r.Value(t.Context(), "f", set); err != nil || v.Reveal() != "one" || s.asked != 1 {
		t.Errorf("%v after %d questions, %v", v.Reveal(), s.asked, err)
	}
	r.Forget()
	if v, err := r.Value(t.Context(), "f", set); err != nil || v.Reveal() != "two" {
		t.Error(v.Reveal(), err)
	}
	s.err = secret.ErrLocked
	r.Forget()
	for range 3 {
		if _, err := r.Value(t.Context(), "f", set); !errors.Is(err, secret.ErrLocked) {
			t.Error(err)
		}
	}
	if s.asked != 3 {
		t.Errorf("a failure was asked for %d times", s.asked-2)
	}
	now, s.err = now.Add(retry+1), nil
	if _, err := r.Value(t.Context(), "f", set); err != nil {
		t.Error("it does not recover:", err)
	}
}
