package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// What tokens are for. One for the Bot Connector is none for Graph.
const (
	botScope   = "https://api.botframework.com/.default"
	graphScope = "https://graph.microsoft.com/.default"
)

// tokens are what requests carry, by what they are for.
type tokens struct {
	mu sync.Mutex
	m  map[string]token
}

type token struct {
	text  string
	until time.Time
}

// held is a token that holds still.
func (t *tokens) held(scope string, now time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	have := t.m[scope]
	return have.text, have.text != "" && now.Before(have.until)
}

func (t *tokens) keep(scope string, have token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = map[string]token{}
	}
	t.m[scope] = have
}

// forget throws a token away that is not accepted any more.
func (t *tokens) forget(scope, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m[scope].text == text {
		delete(t.m, scope)
	}
}

// bearerToken is what requests carry, asked for before the last one ends.
func (c *Client) bearerToken(ctx context.Context, scope string) (string, error) {
	if text, ok := c.tokens.held(scope, c.Now()); ok {
		return text, nil
	}
	return c.grant(ctx, scope)
}

// grant gets a new token for the secret.
func (c *Client) grant(ctx context.Context, scope string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.app}, "client_secret": {c.secret}, "scope": {scope}}.Encode()
	where := c.address(loginHost, "/"+cmp.Or(c.tenant, "botframework.com")+"/oauth2/v2.0/token")
	req, err := http.NewRequest(http.MethodPost, where, strings.NewReader(form))
	if err != nil {
		return "", fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	asked := c.Now()
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	if err != nil {
		return "", webcall.Again(err, "Microsoft", "a token")
	}
	var said struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int64  `json:"expires_in"`
	}
	if a.Status != http.StatusOK {
		return "", noToken(a)
	}
	if json.Unmarshal(a.Body, &said) != nil || said.Token == "" || !strings.EqualFold(said.Type, "bearer") {
		return "", errors.New("Microsoft's answer has no token")
	}
	holds := time.Duration(min(max(said.Expires-300, 30), 24*60*60)) * time.Second
	c.tokens.keep(scope, token{said.Token, asked.Add(holds)})
	return said.Token, nil
}
