// Package client is a bot on Microsoft Teams. It owns the proof of what the Bot
// Connector sends to the gateway, and the requests to that service as the bot; settings
// and limits are package msteams's. What was said while nobody listened is not known:
// Microsoft sends what happens to the bot, and keeps nothing for it.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// What Microsoft's services are called, and who signs their calls.
const (
	network      = "Microsoft Teams"
	issuer       = "https://api.botframework.com"
	metadataHost = "login.botframework.com"
	loginHost    = "login.microsoftonline.com"
	everywhere   = "https://smba.trafficmanager.net/teams" // where conversations are that nobody wrote in yet
)

// Client is an account. It implements channel.Channel, Called, Editor, Deleter, Typer,
// Fetcher and Chooser.
type Client struct {
	*endpoint.Receiver
	account             string
	app, secret, tenant string
	root                string // a proxy; "": none
	topLevel            bool   // answers in channels are posts of their own
	hosts               []string
	keys                *bearer.Keys
	http                *http.Client
	maxFile             int64
	openFile            func(path string) (fs.File, error)
	services            services
	presses             presses
	waiting             *waiting // files that wait for a yes
	site                string   // of SharePoint, for files in groups; "": none
	tokens              tokens
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := msteams.Check(a); err != nil {
		return nil, err
	}
	c := &Client{
		Receiver: endpoint.New(endpoint.Options{Durable: a.Durable, Now: a.Now, Logger: a.Logger}), account: a.ID,
		app: a.Texts[msteams.KeyApp], secret: a.Secrets[msteams.KeyPassword], tenant: a.Texts[msteams.KeyTenant],
		root: strings.TrimRight(a.Texts[msteams.KeyRoot], "/"), topLevel: a.Texts[msteams.KeyStyle] == msteams.TopLevel,
		hosts: strings.Fields(a.Texts[msteams.KeyHosts]), http: webcall.Client(), maxFile: a.MaxFile, openFile: a.OpenFile,
		services: services{durable: a.Durable}, site: a.Texts[msteams.KeySite],
	}
	c.waiting = newWaiting(a.Durable, c.Now, c.Logger)
	c.keys = bearer.NewKeys(c.publicKeys, c.Now)
	return c, nil
}

// ID is the network's.
func (c *Client) ID() string { return msteams.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return msteams.Limits }

// Run takes what Microsoft sends until ctx ends.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	if err := c.services.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if err := c.waiting.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	work.Go(func() { c.settling(ctx) })
	return c.Receiver.Run(ctx, inbox, c.try)
}

// try asks for a new token: whether the secret is accepted shows there. It comes every
// some minutes, and what waited for too long ends with it.
func (c *Client) try(ctx context.Context) (problem string, err error) {
	if c.Status().Bot == "" {
		c.Called("app " + c.app)
	}
	c.waiting.expire(ctx)
	_, err = c.grant(ctx, botScope)
	return "", err
}

// address is where something of a host is reached.
func (c *Client) address(host, path string) string { return webcall.Root(c.root, host) + path }

// reach is where an address is reached.
func (c *Client) reach(u *url.URL) string {
	if c.root == "" {
		return u.String()
	}
	out := c.root + "/" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}

// publicKeys brings the keys with which the Bot Connector signs, from where its
// description says they are: on the same host, whatever it says.
func (c *Client) publicKeys(ctx context.Context) ([]byte, error) {
	b, err := c.public(ctx, "/v1/.well-known/openidconfiguration")
	if err != nil {
		return nil, err
	}
	var said struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	u := &url.URL{}
	if err = json.Unmarshal(b, &said); err == nil {
		u, err = url.Parse(said.Keys)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read where Microsoft's keys are: %w", err)
	case u.Scheme != "https" || u.Host != metadataHost || said.Issuer != issuer:
		return nil, errors.New("Microsoft's description of its keys names another issuer, or another host")
	case len(said.Algorithms) > 0 && !slices.Contains(said.Algorithms, "RS256"):
		return nil, errors.New("Microsoft signs with RS256 no longer, and this program knows nothing else: it needs an update")
	}
	return c.public(ctx, u.EscapedPath())
}

func (c *Client) public(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequest(http.MethodGet, c.address(metadataHost, path), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	if err != nil {
		return nil, webcall.Again(err, "Microsoft", "its keys")
	}
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("Microsoft answered %d for its keys", a.Status)
	}
	return a.Body, nil
}
