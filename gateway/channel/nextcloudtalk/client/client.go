// Package client is a bot on a Nextcloud server's Talk. It owns the proof of what the
// server sends to the gateway, and the requests to the server; settings and limits are
// package nextcloudtalk's. Nextcloud sends every message once: what was written while
// nobody listened is not known.
package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Client is an account. It implements channel.Channel, Called and Reactor.
type Client struct {
	*endpoint.Receiver
	account  string
	base     string // without a slash at its end
	name     string
	user     string // "": kinds of conversations cannot be asked for
	secret   func() string
	password func() string
	http     *http.Client

	mu    sync.Mutex
	rooms map[string]room     // by token
	signs map[string][]string // that we put on messages, by conversation and message
}

// New makes the client of an account without connecting it.
func New(a channel.Account) (*Client, error) {
	if err := nextcloudtalk.Check(a); err != nil {
		return nil, err
	}
	secret, password := a.Secrets[nextcloudtalk.KeySecret], a.Secrets[nextcloudtalk.KeyPassword]
	return &Client{
		Receiver: endpoint.New(endpoint.Options{Durable: a.Durable, Now: a.Now, Logger: a.Logger}), account: a.ID,
		base: strings.TrimRight(a.Texts[nextcloudtalk.KeyBase], "/"), name: cmp.Or(a.Texts[nextcloudtalk.KeyName], "Hearth"),
		user: a.Texts[nextcloudtalk.KeyUser], secret: func() string { return secret }, password: func() string { return password },
		http: webcall.Client(), rooms: map[string]room{}, signs: map[string][]string{},
	}, nil
}

// ID is the network's.
func (c *Client) ID() string { return nextcloudtalk.ID }

// Account is the account's name.
func (c *Client) Account() string { return c.account }

// Limits of a message.
func (c *Client) Limits() channel.Limits { return nextcloudtalk.Limits }

// Run takes what the server sends until ctx ends.
func (c *Client) Run(ctx context.Context, inbox channel.Inbox) error {
	return c.Receiver.Run(ctx, inbox, c.try)
}

// try asks the server whether it is there, and whether it accepts our account. A bot's
// secret is only tried by a message.
func (c *Client) try(ctx context.Context) (problem string, err error) {
	var status struct {
		Installed   bool `json:"installed"`
		Maintenance bool `json:"maintenance"`
	}
	if err := c.plain(ctx, "/status.php", &status); err != nil {
		return "", err
	}
	switch {
	case !status.Installed:
		return "", fmt.Errorf("%s does not answer as a Nextcloud server: check channels.nextcloud-talk.baseUrl", c.base)
	case status.Maintenance:
		return "", fmt.Errorf("%s is in maintenance", c.base)
	}
	c.Called(c.name)
	if c.user == "" {
		return "", nil
	}
	var rooms []struct{}
	return "", c.asUser(ctx, "/ocs/v2.php/apps/spreed/api/v4/room", &rooms)
}

// room is a conversation, as the server tells the account that we ask with.
type room struct {
	Type int    `json:"type"`
	Name string `json:"displayName"`
}

// Kinds of conversations.
const (
	oneToOne       = 1
	oneToOneFormer = 5
)

// mostRooms is how many are remembered.
const mostRooms = 5000

// place is a conversation by its token. What cannot be asked for counts as a group,
// where less is allowed.
func (c *Client) place(ctx context.Context, token string) (conversation string, kind channel.ChatType) {
	if c.user == "" {
		return token, channel.Group
	}
	c.mu.Lock()
	r, ok := c.rooms[token]
	c.mu.Unlock()
	if !ok {
		if err := c.asUser(ctx, "/ocs/v2.php/apps/spreed/api/v4/room/"+token, &r); err != nil {
			c.Logger.Warn("what kind of conversation a message is from cannot be asked for; it counts as a group", "err", err)
			return token, channel.Group
		}
		c.mu.Lock()
		if len(c.rooms) >= mostRooms {
			clear(c.rooms)
		}
		c.rooms[token] = r
		c.mu.Unlock()
	}
	if r.Type == oneToOne || r.Type == oneToOneFormer {
		return nextcloudtalk.PersonSign + token, channel.Direct
	}
	return token, channel.Group
}
