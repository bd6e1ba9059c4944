// Package client is a LINE Official Account. It owns the proof of what LINE sends to
// the gateway, and the requests to the Messaging API; settings and limits are package
// line's. An answer takes the token for replies that came with the question, which
// costs nothing; later ones count against the account's quota.
package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel, Called, Typer and Fetcher.
type Client struct {
	*endpoint.Receiver
	account   string
	api, data string // roots
	token     func() string
	secret    func() string
	http      *http.Client
	maxFile   int64

	mu      sync.Mutex
	replies map[string]replyToken // by conversation: of the newest message there
	quotes  map[string]string     // tokens to quote messages with, by their ids
	names   map[string]string     // of people and groups
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := line.Check(a); err != nil {
		return nil, err
	}
	token, secret, root := a.Secrets[line.KeyToken], a.Secrets[line.KeySecret], a.Texts[line.KeyRoot]
	return &Client{
		Receiver: endpoint.New(endpoint.Options{Durable: a.Durable, Now: a.Now, Logger: a.Logger}), account: a.ID,
		api: webcall.Root(root, "api.line.me"), data: webcall.Root(root, "api-data.line.me"),
		token: func() string { return token }, secret: func() string { return secret }, http: webcall.Client(), maxFile: a.MaxFile,
		replies: map[string]replyToken{}, quotes: map[string]string{}, names: map[string]string{},
	}, nil
}

// ID is the network's.
func (c *Client) ID() string { return line.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return line.Limits }

// Run takes what LINE sends until ctx ends.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	return c.Receiver.Run(ctx, inbox, c.try)
}

// try asks who we are, whether LINE knows our address, and how much may still be sent.
func (c *Client) try(ctx context.Context) (problem string, err error) {
	var bot struct {
		Name    string `json:"displayName"`
		BasicID string `json:"basicId"`
	}
	if err := c.ask(ctx, http.MethodGet, "/v2/bot/info", nil, &bot); err != nil {
		return "", err
	}
	c.Called(strings.TrimSpace(bot.Name + " " + bot.BasicID))
	var hook struct {
		Endpoint string `json:"endpoint"`
		Active   bool   `json:"active"`
	}
	switch err := c.ask(ctx, http.MethodGet, "/v2/bot/channel/webhook/endpoint", nil, &hook); {
	case isNo(err): // there is none
		return "LINE knows no address of this gateway yet: set the Webhook URL in the LINE Developers Console. " +
			"docs/channels/line.md says which.", nil
	case err != nil:
		return "", err
	case !strings.HasSuffix(hook.Endpoint, channel.CallPath(line.ID, c.account)):
		return fmt.Sprintf("LINE sends messages to %s, which is not the address of this account: it ends in %s.",
			webcall.Words(hook.Endpoint, "nowhere"), channel.CallPath(line.ID, c.account)), nil
	case !hook.Active:
		return "Use webhook is switched off in the LINE Developers Console (Messaging API): LINE sends nothing.", nil
	}
	return c.quota(ctx), nil
}

// quota says when little is left of it; "" while there is enough, or it is not known.
func (c *Client) quota(ctx context.Context) string {
	var most struct {
		Kind  string `json:"type"`
		Value int64  `json:"value"`
	}
	var used struct {
		Total int64 `json:"totalUsage"`
	}
	if c.ask(ctx, http.MethodGet, "/v2/bot/message/quota", nil, &most) != nil || most.Kind != "limited" ||
		c.ask(ctx, http.MethodGet, "/v2/bot/message/quota/consumption", nil, &used) != nil {
		return ""
	}
	if left := most.Value - used.Total; left <= most.Value/10 {
		return fmt.Sprintf("Of the %d messages that LINE allows this account in a month %d are left. Answers within a minute do not count.",
			most.Value, max(left, 0))
	}
	return ""
}

// mostKnown is how many of each are remembered.
const mostKnown = 5000

// name is what somebody or a group is called; "" when LINE does not say.
func (c *Client) name(ctx context.Context, path, key string) string {
	c.mu.Lock()
	known, ok := c.names[path]
	c.mu.Unlock()
	if ok {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	var said map[string]any
	if err := c.ask(ctx, http.MethodGet, path, nil, &said); err != nil && !isNo(err) {
		return ""
	}
	name, _ := said[key].(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= mostKnown {
		clear(c.names)
	}
	c.names[path] = name
	return name
}

// nameTime is how long a message waits for the name of its writer.
const nameTime = 2 * time.Second
