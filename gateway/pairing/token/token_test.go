package token

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// literals are secrets that stand in the settings themselves.
type literals struct{}

func (literals) Value(context.Context, string, secret.Setting) (secret.Secret, error) {
	return secret.Secret{}, nil
}
func (literals) Known(v secret.Setting) (secret.Secret, bool) { return v.Literal() }
func (literals) Subscribe(func(config.Config))                {}
func (literals) Hide(...secret.Secret)                        {}

// opened is the token that a gateway begins with, in a folder with these settings.
func opened(t *testing.T, dir, settings string) (*Shared, string) {
	t.Helper()
	file := filepath.Join(dir, "hearth.json")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Open(file, config.Options{Sections: config.Sections{Section, reach.Section}})
	if err != nil {
		t.Fatal(err)
	}
	s, now, err := Open(t.Context(), filepath.Join(dir, "gateway.token"), f, literals{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("with %s: %v", settings, err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "gateway.token"))
	if err != nil || strings.TrimSpace(string(kept)) != now {
		t.Errorf("with %s: the file holds %q (%v), in use is %q", settings, kept, err, now)
	}
	return s, now
}

// Who takes a token out of the settings wants it to let nobody in any more.
func TestATokenThatIsTakenOutIsLetGo(t *testing.T) {
	for _, chosen := range []string{"short", "a long one that somebody chose"} {
		dir := t.TempDir()
		if _, now := opened(t, dir, `{gateway: {auth: {token: "`+chosen+`"}}}`); now != chosen {
			t.Errorf("in use is %q", now)
		}
		_, made := opened(t, dir, `{}`)
		if made == chosen || len(made) != 2*madeLength {
			t.Errorf("without %q in use is %q", chosen, made)
		}
		if _, again := opened(t, dir, `{}`); again != made {
			t.Errorf("at the next start it is another one")
		}
	}
}

// While it runs also one that looks like those that Hearth makes is let go.
func TestATokenIsTakenOutWhileItRuns(t *testing.T) {
	dir, chosen := t.TempDir(), strings.Repeat("0a", madeLength)
	s, now := opened(t, dir, `{gateway: {auth: {token: "`+chosen+`"}}}`)
	if now != chosen {
		t.Fatalf("in use is %q", now)
	}
	f, err := config.Open(filepath.Join(t.TempDir(), "none.json"), config.Options{Sections: config.Sections{Section, reach.Section}})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := s.of(f.Snapshot().Config); err != nil || now == chosen || len(now) != 2*madeLength {
		t.Errorf("in use is %q, %v", now, err)
	}
}

// A short one does not serve other machines, nor one that is not found yet.
func TestAShortTokenServesThisMachine(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir, `{gateway: {auth: {token: "short"}}}`)
	_, made := opened(t, dir, `{gateway: {bind: "lan", auth: {token: "short"}}}`)
	if len(made) != 2*madeLength {
		t.Errorf("on the network in use is %q", made)
	}
	if _, now := opened(t, dir, `{gateway: {bind: "lan", auth: {token: {source: "env", id: "NONE"}}}}`); now != made {
		t.Errorf("while the chosen one is not found in use is %q", now)
	}
}
