// Package copilot exchanges a GitHub token for the short-lived one that GitHub
// Copilot's model service wants. It owns that exchange, the tokens it got and the
// headers of the service; the conversation itself is another dialect's.
package copilot

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	// DefaultTokenURL is where tokens are exchanged.
	DefaultTokenURL = "https://api.github.com/copilot_internal/v2/token"

	early    = 2 * time.Minute // a token is renewed before its end
	patience = 15 * time.Second
	maxBody  = 64 << 10
)

// Exchange holds the short-lived tokens. Its zero value is not usable; see New.
type Exchange struct {
	o      Options
	mu     sync.Mutex // held while a token is exchanged: one exchange at a time
	tokens map[[sha256.Size]byte]token
}

// Options build an Exchange.
type Options struct {
	HTTP     *http.Client
	Now      func() time.Time
	TokenURL string // "" = DefaultTokenURL
}

// token is what the service gave for a key, which is remembered as its sum.
type token struct {
	value, host string
	until       time.Time
}

// New returns an Exchange without tokens.
func New(o Options) *Exchange {
	if o.TokenURL == "" {
		o.TokenURL = DefaultTokenURL
	}
	return &Exchange{o: o, tokens: map[[sha256.Size]byte]token{}}
}

// Prepare returns a wire.Service's Prepare for one GitHub token.
func (x *Exchange) Prepare(key func() string) func(*http.Request, []byte) error {
	return func(r *http.Request, body []byte) error {
		t, err := x.token(r.Context(), strings.TrimSpace(key()))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+t.value)
		r.Header.Set("Editor-Version", "vscode/1.99.0")
		r.Header.Set("Editor-Plugin-Version", "copilot-chat/0.26.0")
		r.Header.Set("Copilot-Integration-Id", "vscode-chat")
		r.Header.Set("Openai-Intent", "conversation-edits")
		r.Header.Set("X-Initiator", "user")
		if strings.Contains(string(body), `"image_url"`) {
			r.Header.Set("Copilot-Vision-Request", "true")
		}
		if t.host != "" && strings.HasSuffix(r.URL.Host, ".githubcopilot.com") {
			r.URL.Host, r.Host = t.host, t.host // business accounts have a host of their own
		}
		return nil
	}
}

// token returns a token that is still good, exchanging the key when needed.
func (x *Exchange) token(ctx context.Context, key string) (token, error) {
	if key == "" {
		return token{}, &model.Error{Class: model.ClassAuth, Detail: "there is no GitHub token"}
	}
	sum := sha256.Sum256([]byte(key))
	x.mu.Lock()
	defer x.mu.Unlock()
	if t := x.tokens[sum]; x.o.Now().Before(t.until.Add(-early)) {
		return t, nil
	}
	t, err := x.exchange(ctx, key)
	if err != nil {
		return token{}, err
	}
	x.tokens[sum] = t
	return t, nil
}

func (x *Exchange) exchange(ctx context.Context, key string) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.o.TokenURL, nil)
	if err != nil {
		return token{}, fmt.Errorf("exchanging the GitHub token: %w", err)
	}
	r.Header.Set("Authorization", "token "+key)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Hearth")
	r.Header.Set("Editor-Version", "vscode/1.99.0")
	c := *x.o.HTTP
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token goes nowhere else
	resp, err := c.Do(r)
	if err != nil {
		return token{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return token{}, fmt.Errorf("reading the Copilot token: %w", err)
	}
	return x.read(resp.StatusCode, body)
}

func (x *Exchange) read(status int, body []byte) (token, error) {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return token{}, &model.Error{Class: model.ClassAuth, Status: status, Detail: "GitHub did not give a Copilot token: is the token " +
			"right, and does the account have Copilot?"}
	case status == http.StatusTooManyRequests:
		return token{}, &model.Error{Class: model.ClassRateLimit, Status: status, Detail: "GitHub limits how often a Copilot token may be " +
			"asked for"}
	case status != http.StatusOK:
		return token{}, &model.Error{Class: model.ClassServer, Status: status, Detail: "GitHub did not give a Copilot token"}
	}
	var got struct {
		Token     string `json:"token"`
		ExpiresAt int64  `json:"expires_at"`
		Endpoints struct {
			API string `json:"api"`
		} `json:"endpoints"`
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Token == "" ||
		strings.ContainsFunc(got.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return token{}, &model.Error{Class: model.ClassMalformed, Detail: "GitHub's answer holds no Copilot token"}
	}
	t := token{value: got.Token, until: time.Unix(got.ExpiresAt, 0)}
	if host, ok := strings.CutPrefix(got.Endpoints.API, "https://"); ok && strings.HasSuffix(host, ".githubcopilot.com") &&
		!strings.ContainsAny(host, "/@:?#") {
		t.host = host
	}
	return t, nil
}
