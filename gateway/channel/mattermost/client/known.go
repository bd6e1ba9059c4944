package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
)

// user is somebody on the server.
type user struct {
	ID    string `json:"id"`
	Name  string `json:"username"`
	First string `json:"first_name"`
	Last  string `json:"last_name"`
	Nick  string `json:"nickname"`
	IsBot bool   `json:"is_bot"`
}

// shown is what people call somebody.
func (u user) shown() string {
	return cmp.Or(u.Nick, strings.TrimSpace(u.First+" "+u.Last), u.Name, u.ID)
}

// place is a channel of the server.
type place struct {
	ID         string `json:"id"`
	Type       string `json:"type"` // D: one person, G: some, O: open, P: private
	Name       string `json:"name"`
	Label      string `json:"display_name"`
	Team       string `json:"team_id"`
	LastPostAt int64  `json:"last_post_at"`
	DeleteAt   int64  `json:"delete_at"`
}

// room is what a channel of a team is called, and the team's id.
func (p place) room() (name, team string) {
	if p.Type != "O" && p.Type != "P" || p.Name == "" {
		return "", ""
	}
	return "#" + p.Name, p.Team
}

// mostKnown is how many of each kind are remembered.
const mostKnown = 5000

// known is what the server told and need not be asked for again.
type known struct {
	mu      *sync.Mutex
	people  map[string]user
	places  map[string]place
	roots   map[string]post
	directs map[string]string // the channel with one person, by the person
}

func newKnown() known {
	return known{
		mu: new(sync.Mutex), people: map[string]user{}, places: map[string]place{}, roots: map[string]post{}, directs: map[string]string{},
	}
}

// keep remembers one thing; when there are too many, all others are asked for again.
func keep[T any](k known, m map[string]T, id string, v T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(m) >= mostKnown {
		clear(m)
	}
	m[id] = v
}

func get[T any](k known, m map[string]T, id string) (T, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := m[id]
	return v, ok
}

func (k known) place(p place)            { keep(k, k.places, p.ID, p) }
func (k known) direct(person, at string) { keep(k, k.directs, person, at) }

// forget a channel that has changed.
func (k known) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.places, id)
}

func (k known) forgetPeople() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.people)
}

// lookup brings one thing, from memory or the server. One that the server does not
// give us is what instead says.
func lookup[T any](ctx context.Context, c *Client, m map[string]T, id, path string, instead T) (T, error) {
	if v, ok := get(c.known, m, id); ok {
		return v, nil
	}
	var v T
	if err := c.ask(ctx, http.MethodGet, path+id, nil, &v); err != nil {
		if gone(err) {
			return instead, nil
		}
		return instead, err
	}
	keep(c.known, m, id, v)
	return v, nil
}

func (c *Client) person(ctx context.Context, id string) (user, error) {
	return lookup(ctx, c, c.known.people, id, "/users/", user{ID: id, Name: id})
}

func (c *Client) place(ctx context.Context, id string) (place, error) {
	return lookup(ctx, c, c.known.places, id, "/channels/", place{ID: id, Name: id})
}

// root is the post that a thread began with.
func (c *Client) root(ctx context.Context, id string) (post, error) {
	if !mattermost.IsID(id) {
		return post{}, nil
	}
	return lookup(ctx, c, c.known.roots, id, "/posts/", post{ID: id})
}

// channelOf is the channel of a conversation. That with one person is made when it is
// not there, which says nothing to anybody.
func (c *Client) channelOf(ctx context.Context, conversation string) (string, error) {
	person, direct := strings.CutPrefix(conversation, mattermost.PersonSign)
	if !mattermost.IsID(person) {
		return "", refused("%q is no channel or person: a channel is called by its id, a person by @ and the person's id", conversation)
	}
	if !direct {
		return conversation, nil
	}
	if at, ok := get(c.known, c.known.directs, person); ok {
		return at, nil
	}
	self, err := c.me(ctx)
	if err != nil {
		return "", err
	}
	var p place
	if err := c.ask(ctx, http.MethodPost, "/channels/direct", []string{self.ID, person}, &p); err != nil {
		return "", err
	}
	if !mattermost.IsID(p.ID) {
		return "", errors.New("Mattermost named no channel with " + conversation)
	}
	c.known.direct(person, p.ID)
	return p.ID, nil
}
