// Package client is a Google Chat app. It owns the proof of what Google sends to the
// gateway, and the requests to the Chat API as the app's service account; settings and
// limits are package googlechat's. Google sends what happens to the app once: what was
// said while nobody listened is not known.
package client

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// chatAccount signs Google's calls to apps.
const chatAccount = "chat@system.gserviceaccount.com"

// Client is an account. It implements channel.Channel, Called, Editor, Deleter, Typer
// and Fetcher.
type Client struct {
	*endpoint.Receiver
	account     string
	api, tokens string // roots
	service     googlechat.Service
	key         *rsa.PrivateKey
	audience    string
	byURL       bool
	bot         string // "": any app that is mentioned
	shows       bool   // a message while an answer is made
	keys        *bearer.Keys
	http        *http.Client
	maxFile     int64

	mu      sync.Mutex
	token   string
	until   time.Time
	pending map[string]*pending // by conversation and thread: where an answer is waited for
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := googlechat.Check(a); err != nil {
		return nil, err
	}
	root := a.Texts[googlechat.KeyRoot]
	c := &Client{
		Receiver: endpoint.New(endpoint.Options{Durable: a.Durable, Now: a.Now, Logger: a.Logger}), account: a.ID,
		api: webcall.Root(root, "chat.googleapis.com"), tokens: webcall.Root(root, "oauth2.googleapis.com"),
		audience: a.Texts[googlechat.KeyAudience], byURL: strings.HasPrefix(a.Texts[googlechat.KeyAudience], "https://"),
		bot: a.Texts[googlechat.KeyBot], shows: cmp.Or(a.Texts[googlechat.KeyTyping], "message") == "message", http: webcall.Client(),
		maxFile: a.MaxFile, pending: map[string]*pending{},
	}
	if err := json.Unmarshal([]byte(a.Secrets[googlechat.KeyService]), &c.service); err != nil {
		return nil, errors.New("channels.googlechat.serviceAccount is no JSON key of a service account")
	}
	key, err := privateKey(c.service.Key)
	if err != nil {
		return nil, err
	}
	c.key = key
	where := webcall.Root(root, "www.googleapis.com") + "/service_accounts/v1/jwk/" + chatAccount
	if c.byURL {
		where = webcall.Root(root, "www.googleapis.com") + "/oauth2/v3/certs"
	}
	c.keys = bearer.NewKeys(func(ctx context.Context) ([]byte, error) { return c.public(ctx, where) }, c.Now)
	return c, nil
}

func privateKey(text string) (*rsa.PrivateKey, error) {
	wrong := errors.New("channels.googlechat.serviceAccount holds no private key that can be read: download a new JSON key from Google")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, wrong
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, wrong
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, wrong
	}
	return key, nil
}

// ID is the network's.
func (c *Client) ID() string { return googlechat.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return googlechat.Limits }

// Run takes what Google sends until ctx ends.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	return c.Receiver.Run(ctx, inbox, c.try)
}

// try asks whether the service account is accepted and the API is switched on.
func (c *Client) try(ctx context.Context) (problem string, err error) {
	c.Called(c.service.Email)
	c.sweep(ctx)
	return "", c.ask(ctx, http.MethodGet, "/v1/spaces?pageSize=1", nil, nil)
}

// bearerToken is what requests carry, asked for before the last one ends.
func (c *Client) bearerToken(ctx context.Context) (string, error) {
	c.mu.Lock()
	token, until := c.token, c.until
	c.mu.Unlock()
	if token != "" && c.Now().Before(until) {
		return token, nil
	}
	now := c.Now()
	signed, err := bearer.Sign(c.key, c.service.KeyID, map[string]any{
		"iss": c.service.Email, "scope": "https://www.googleapis.com/auth/chat.bot", "aud": "https://oauth2.googleapis.com/token",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return "", err
	}
	var said struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"`
	}
	if err := c.exchange(ctx, signed, &said); err != nil {
		return "", err
	}
	if said.Token == "" {
		return "", errors.New("Google's answer has no token")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.until = said.Token, now.Add(time.Duration(min(max(said.Expires-300, 30), 24*60*60))*time.Second)
	return said.Token, nil
}

// forget throws a token away that is not accepted any more.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

func (c *Client) public(ctx context.Context, where string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, where, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	if err != nil {
		return nil, webcall.Again(err, network, "its keys")
	}
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("Google answered %d for its keys", a.Status)
	}
	return a.Body, nil
}
