package client

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/internal/text"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// user is somebody in the workspace.
type user struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Bot     bool   `json:"is_bot"`
	Profile struct {
		Display string `json:"display_name"`
		Real    string `json:"real_name"`
	} `json:"profile"`
}

func (u user) shown() string { return cmp.Or(u.Profile.Display, u.Profile.Real, u.Name, u.ID) }

// mostKnown is how many of each kind are remembered.
const mostKnown = 5000

// known is what Slack told and need not be asked for again.
type known struct {
	mu      sync.Mutex
	people  map[string]user
	labels  map[string]string // of channels
	directs map[string]string // the conversation with one person, by the person
}

func newKnown() *known {
	return &known{people: map[string]user{}, labels: map[string]string{}, directs: map[string]string{}}
}

// lookup brings one thing, from memory or by ask. One that Slack does not give us is
// what instead says.
func lookup[T any](k *known, m map[string]T, id string, instead T, ask func() (T, error)) (T, error) {
	k.mu.Lock()
	v, ok := m[id]
	k.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := ask()
	if saidOf(err, "missing_scope", "user_not_found", "user_not_visible", "channel_not_found") {
		v, err = instead, nil
	}
	if err != nil {
		return instead, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(m) >= mostKnown {
		clear(m)
	}
	m[id] = v
	return v, nil
}

func (c *Client) person(ctx context.Context, id string) (user, error) {
	nobody := user{ID: id, Name: id}
	if !slack.IsID(id) {
		return nobody, nil
	}
	return lookup(c.known, c.known.people, id, nobody, func() (user, error) {
		var r struct {
			User user `json:"user"`
		}
		_, err := c.ask(ctx, call{method: "users.info"}, url.Values{"user": {id}}, &r)
		return r.User, err
	})
}

func (c *Client) label(ctx context.Context, at string) (string, error) {
	return lookup(c.known, c.known.labels, at, at, func() (string, error) {
		var r struct {
			Channel struct {
				Name string `json:"name"`
			} `json:"channel"`
		}
		_, err := c.ask(ctx, call{method: "conversations.info"}, url.Values{"channel": {at}}, &r)
		return "#" + cmp.Or(r.Channel.Name, at), err
	})
}

// place is where a message goes. A conversation with one person is also called by the
// person's id.
func (c *Client) place(ctx context.Context, to channel.Target) (string, error) {
	id := to.Conversation
	switch {
	case !slack.IsID(id):
		return "", refused("%q is no conversation of Slack", text.Ellipsis(id, 40))
	case to.Thread != "" && micros(to.Thread) == 0:
		return "", refused("%q is no thread", text.Ellipsis(to.Thread, 40))
	case !strings.HasPrefix(id, "U") && !strings.HasPrefix(id, "W"):
		return id, nil
	}
	return lookup(c.known, c.known.directs, id, id, func() (string, error) {
		var r struct {
			Channel struct {
				ID string `json:"id"`
			} `json:"channel"`
		}
		_, err := c.ask(ctx, call{method: "conversations.open"}, url.Values{"users": {id}}, &r)
		return r.Channel.ID, err
	})
}
