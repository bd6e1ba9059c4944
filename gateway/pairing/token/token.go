// Package token owns the token that all programs of this user share with the
// gateway: gateway.auth.token of the settings, or a generated one in a file of
// the state folder. What the token lets in is package pairing's.
package token

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// field is the setting.
const field = "gateway.auth.token"

// Secrets finds what settings refer to; *lookup.Secrets does.
type Secrets interface {
	Value(ctx context.Context, field string, v secret.Setting) (secret.Secret, error)
	Known(v secret.Setting) (secret.Secret, bool)
	// Subscribe has told called when the settings, or what they refer to, have changed.
	Subscribe(told func(config.Config))
	// Hide keeps a secret out of the log.
	Hide(v ...secret.Secret)
}

// Shared is the token that is shared. The file always holds the one in use: it
// is how the other programs of this user find it.
type Shared struct {
	path    string // of the file
	secrets Secrets
	chosen  string // the last one of the settings
}

// Open looks for the token where that takes no time, and returns it. From the
// keychain or a program it comes later; until then the last one holds.
func Open(ctx context.Context, path string, settings *config.File, secrets Secrets, logger *slog.Logger) (s *Shared, now string,
	err error) {
	c := settings.Snapshot().Config
	if r, ok := Section.Of(c).Token.Ref(); ok && (r.Source == secret.SourceEnv || r.Source == secret.SourceFile) {
		if _, err := secrets.Value(ctx, field, Section.Of(c).Token); err != nil {
			logger.Warn("the access token of the settings is missing; the last one holds", "err", err)
		}
	}
	s = &Shared{path: path, secrets: secrets}
	now, err = s.of(c)
	return s, now, err
}

// Follow has use called with the token whenever the settings or what they refer
// to have changed; it may be the same one.
func (s *Shared) Follow(use func(token string) error, logger *slog.Logger) {
	s.secrets.Subscribe(func(c config.Config) {
		token, err := s.of(c)
		if err == nil {
			err = use(token)
		}
		if err != nil {
			logger.Error("the access token of the settings is not in use", "err", err)
		}
	})
}

// of is gateway.auth.token, or the generated one.
func (s *Shared) of(c config.Config) (token string, err error) {
	defer func() { s.secrets.Hide(secret.New(token)) }()
	known, ok := s.secrets.Known(Section.Of(c).Token)
	if ok && len(known.Reveal()) < short && reach.Section.Of(c).Bind != reach.Loopback {
		ok = false // it may be guessed from elsewhere
	}
	if !ok { // nothing was set, or it is not found yet
		return s.made(Section.Of(c).Token.IsZero())
	}
	token = known.Reveal()
	s.chosen = token
	if b, err := os.ReadFile(s.path); err == nil && subtle.ConstantTimeCompare(bytes.TrimSpace(b), []byte(token)) == 1 {
		return token, nil
	}
	return token, statedir.WriteFile(s.path, []byte(token+"\n"))
}

// madeLength is that of a token that Hearth made, in bytes.
const madeLength = 32

// made is the token of the file; one that was chosen, and no longer stands in the
// settings, is let go: whoever took it out wants it to let nobody in.
func (s *Shared) made(unset bool) (string, error) {
	if b, err := os.ReadFile(s.path); err == nil {
		old := string(bytes.TrimSpace(b))
		if raw, err := hex.DecodeString(old); len(old) < short || unset && (old == s.chosen || err != nil || len(raw) != madeLength) {
			if err := os.Remove(s.path); err != nil {
				return "", fmt.Errorf("replacing the token that was chosen before: %w", err)
			}
		}
	}
	return statedir.Random(s.path, madeLength)
}
