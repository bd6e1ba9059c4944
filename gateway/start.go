package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	// DefaultPort is OpenClaw's, so that its clients find us.
	DefaultPort = 18789
	// portTries is how many ports after the default one are tried.
	portTries = 20
)

// StartError is a reason not to start that a restart does not mend.
type StartError struct {
	What string // what happened
	Err  error  // why
	Fix  string // what to do, without a full stop
}

func (e *StartError) Error() string {
	s := e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + ". " + e.Fix + "."
}

func (e *StartError) Unwrap() error { return e.Err }

// listen opens the port: the one that was asked for, or the first free one
// from the default on.
func (g *Gateway) listen(ctx context.Context) error {
	port, tries := g.opts.Port, 1
	if port == 0 {
		port = g.config.Snapshot().Config.Gateway.Port
	}
	if port == 0 {
		port, tries = DefaultPort, portTries
	}
	var lc net.ListenConfig
	var err error
	for p := port; p < port+tries; p++ {
		g.ln, err = lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	g.ln = nil
	return &StartError{What: fmt.Sprintf("Port %d on this machine cannot be used", port), Err: err, Fix: "Stop the program that holds it, or choose another port with gateway.port or --port"}
}

// sharedToken is the token in use now.
func (g *Gateway) sharedToken() (string, error) { return g.sharedTokenOf(g.config.Snapshot().Config) }

// sharedTokenOf is gateway.auth.token, or the generated one of the state
// folder. The file always holds the one in use: it is how the other programs of
// this user find it.
func (g *Gateway) sharedTokenOf(c config.Config) (string, error) {
	path := g.opts.Dir.Token()
	known, ok := g.refs.Known(c.Gateway.Auth.Token)
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

// providerSettings is the part of the settings that the models need.
func (g *Gateway) providerSettings(c config.Config) provider.Settings {
	s := provider.Settings{
		Providers: make(map[string]provider.ProviderConfig, len(c.Models.Providers)),
		Primary:   c.Agents.Defaults.Model.Primary, Fallbacks: c.Agents.Defaults.Model.Fallbacks,
	}
	for id, p := range c.Models.Providers {
		key, _ := g.refs.Known(p.APIKey)
		pc := provider.ProviderConfig{BaseURL: p.BaseURL, APIKey: key.Reveal(), API: p.API, AuthHeader: p.AuthHeader}
		for name, value := range p.Headers {
			if pc.Headers == nil {
				pc.Headers = make(map[string]string, len(p.Headers))
			}
			v, _ := g.refs.Known(value)
			pc.Headers[name] = v.Reveal()
		}
		for _, m := range p.Models {
			pc.Models = append(pc.Models, provider.ModelConfig{
				ID: m.ID, Name: m.Name, ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Input: m.Input,
			})
		}
		s.Providers[id] = pc
	}
	return s
}

// millis is a time on the wire.
func millis(ms int64) time.Time { return time.UnixMilli(ms) }
