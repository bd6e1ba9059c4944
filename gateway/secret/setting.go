package secret

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
)

// Sources of a secret that a setting only refers to.
const (
	SourceKeychain = "keychain" // what Hearth keeps: the system's keychain, or the vault
	SourceEnv      = "env"
	SourceFile     = "file"
	SourceExec     = "exec"
)

// keychainPrefix begins the short form of a reference, "keychain:NAME".
const keychainPrefix = SourceKeychain + ":"

// Ref says where a secret is found. It can be compared.
type Ref struct {
	Source   string
	Provider string // a name under secrets.providers; "" = what the reference says itself
	ID       string // the name of it there
	Path     string // SourceFile without a provider
	Command  string // SourceExec without a provider: words joined with a zero byte
}

// Argv is the command of an exec reference.
func (r Ref) Argv() []string {
	if r.Command == "" {
		return nil
	}
	return strings.Split(r.Command, "\x00")
}

// String names the reference for people: nothing in it is secret.
func (r Ref) String() string {
	switch {
	case r.Provider != "":
		return r.Source + ":" + r.Provider + ":" + r.ID
	case r.Path != "":
		return r.Source + ":" + r.Path
	case r.Command != "":
		return r.Source + ":" + r.Argv()[0]
	}
	return r.Source + ":" + r.ID
}

// KeychainRef reads the short form; ok is false for any other text.
func KeychainRef(s string) (Ref, bool) {
	name, ok := strings.CutPrefix(s, keychainPrefix)
	if !ok || CheckName(name) != nil {
		return Ref{}, false
	}
	return Ref{Source: SourceKeychain, ID: name}, true
}

// Check says what is wrong with a reference, in words.
func (r Ref) Check() error {
	bad := func(format string, args ...any) error { return fmt.Errorf(format, args...) }
	switch r.Source {
	case SourceKeychain:
		if CheckName(r.ID) != nil {
			return bad("id must name a secret of Hearth's, as `hearth secrets list` shows it")
		}
	case SourceEnv:
		if !envName(r.ID) {
			return bad("id must name an environment variable, for example OPENAI_API_KEY")
		}
	case SourceFile:
		if r.Provider == "" && r.Path == "" {
			return bad("path must say which file, or provider which one of secrets.providers")
		}
		if r.Path != "" && !filepath.IsAbs(r.Path) && !strings.HasPrefix(r.Path, "~/") {
			return bad("path must be a whole path, or begin with ~/")
		}
	case SourceExec:
		argv := r.Argv()
		if r.Provider == "" && len(argv) == 0 {
			return bad("command must be a list, the program first, or provider one of secrets.providers")
		}
		if len(argv) > 0 && !filepath.IsAbs(argv[0]) {
			return bad("the program of command must be a whole path, for example /usr/bin/pass")
		}
	default:
		return bad("source must be keychain, env, file or exec")
	}
	return nil
}

func envName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// Setting is a secret as a settings file says it: the text itself, or where it
// is found. It can be compared and prints like a Secret.
type Setting struct {
	literal Secret
	ref     Ref
}

// Literal is a setting that holds the text.
func Literal(text string) Setting { return Setting{literal: New(text)} }

// Reference is a setting that says where the text is found.
func Reference(r Ref) Setting { return Setting{ref: r} }

// Literal returns the text when the setting holds it.
func (s Setting) Literal() (Secret, bool) { return s.literal, !s.literal.IsZero() }

// Ref returns where the text is found when the setting does not hold it.
func (s Setting) Ref() (Ref, bool) { return s.ref, s.ref != Ref{} }

// Equal says that two settings say the same; go-cmp asks it too.
func (s Setting) Equal(o Setting) bool { return s.ref == o.ref && s.literal.Equal(o.literal) }

// IsZero: nothing was set.
func (s Setting) IsZero() bool { return s == Setting{} }

func (s Setting) String() string {
	if r, ok := s.Ref(); ok {
		return r.String()
	}
	return s.literal.String()
}

// GoString covers %#v.
func (s Setting) GoString() string { return s.String() }

// Format covers every verb of fmt.
func (s Setting) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.String()) }

// LogValue is what log/slog prints.
func (s Setting) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON shows that there is a secret, not where: the file does that.
func (s Setting) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte(`""`), nil
	}
	return []byte(`"` + Marker + `"`), nil
}

// MarshalText does so for encodings that ask for text.
func (s Setting) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
