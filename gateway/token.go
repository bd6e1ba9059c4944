package gateway

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// sharedToken is the token in use now.
func (g *Gateway) sharedToken() (string, error) { return g.sharedTokenOf(g.config.Snapshot().Config) }

// sharedTokenOf is gateway.auth.token, or the generated one of the state
// folder. The file always holds the one in use: it is how the other programs of
// this user find it.
func (g *Gateway) sharedTokenOf(c config.Config) (string, error) {
	path := g.opts.Dir.Token()
	known, ok := g.refs.Known(c.Gateway.Auth.Token)
	if ok && len(known.Reveal()) < config.ShortToken && c.Gateway.Bind != config.BindLoopback {
		ok = false // it may be guessed from elsewhere
		if b, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(b)) < config.ShortToken {
			if err := os.Remove(path); err != nil {
				return "", fmt.Errorf("replacing a short token: %w", err)
			}
		}
	}
	if !ok { // nothing was set, or it is not found yet: see findSecrets
		return secretFile(path, 32)
	}
	token := known.Reveal()
	if b, err := os.ReadFile(path); err == nil && subtle.ConstantTimeCompare(bytes.TrimSpace(b), []byte(token)) == 1 {
		return token, nil
	}
	return token, statedir.WriteFile(path, []byte(token+"\n"))
}

// secretFile reads a private file with a random secret of n bytes in hex,
// making it on first use.
func secretFile(path string, n int) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		s := strings.TrimSpace(string(b))
		if len(s) < 16 {
			return "", fmt.Errorf("%s is too short to be a secret", path)
		}
		return s, os.Chmod(path, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	s := hex.EncodeToString(raw)
	return s, statedir.WriteFile(path, []byte(s+"\n"))
}
