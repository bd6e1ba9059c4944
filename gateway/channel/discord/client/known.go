package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/internal/text"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// user is somebody on Discord.
type user struct {
	ID   string `json:"id"`
	Name string `json:"username"`
	Full string `json:"global_name"`
	Bot  bool   `json:"bot"`
}

// Kinds of channels that are not one with messages of a server.
const (
	kindDirect        = 1
	kindSome          = 3  // a group of people without a server
	kindNewsThread    = 10 // as are the next two
	kindPublicThread  = 11
	kindPrivateThread = 12
)

// place is a channel or thread.
type place struct {
	ID     string `json:"id"`
	Kind   int    `json:"type"`
	Name   string `json:"name"`
	Parent string `json:"parent_id"` // of a thread the channel, of a channel its category
	Last   string `json:"last_message_id"`
	Server string `json:"guild_id"`
}

func (p place) thread() bool { return p.Kind >= kindNewsThread && p.Kind <= kindPrivateThread }

// guild is a server as it tells of itself.
type guild struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Channels []place `json:"channels"`
	Threads  []place `json:"threads"`
	Roles    []struct {
		ID   string `json:"id"`
		Tags struct {
			Bot string `json:"bot_id"`
		} `json:"tags"`
	} `json:"roles"`
}

// Bounds of what is remembered.
const (
	mostPlaces  = 50_000
	mostDirects = 200
)

// known is what Discord told and need not be asked for again.
type known struct {
	mu      sync.Mutex
	places  map[string]place
	servers map[string]string   // their names
	roles   map[string]string   // of bots, by the role
	directs map[string]string   // the channel with one person, by the person
	recent  []string            // the persons of directs, the newest last
	told    map[string]struct{} // channels with one person whose history was read in this session
}

func newKnown() *known {
	return &known{places: map[string]place{}, servers: map[string]string{}, roles: map[string]string{}, directs: map[string]string{},
		told: map[string]struct{}{}}
}

func (k *known) server(g guild) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.places) > mostPlaces {
		clear(k.places)
	}
	k.servers[g.ID] = g.Name
	for _, p := range slices.Concat(g.Channels, g.Threads) {
		p.Server = g.ID
		k.places[p.ID] = p
	}
	for _, r := range g.Roles {
		if r.Tags.Bot != "" {
			k.roles[r.ID] = r.Tags.Bot
		}
	}
}

func (k *known) place(p place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.places) < mostPlaces {
		k.places[p.ID] = p
	}
}

func (k *known) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.places, id)
}

// all are the places of servers.
func (k *known) all() []place {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.places))
}

// calls reports whether a role is that of a bot.
func (k *known) calls(role, bot string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.roles[role] == bot
}

func (k *known) label(p place) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.TrimSpace("#" + cmp.Or(p.Name, p.ID) + " " + k.servers[p.Server])
}

// room is what a channel of a server is called, and the server's id.
func (p place) room() (name, server string) {
	if p.Server == "" || p.Name == "" {
		return "", ""
	}
	return "#" + p.Name, p.Server
}

// place is where a channel is and what kind it has.
func (c *Client) place(ctx context.Context, id string) (place, error) {
	c.known.mu.Lock()
	p, ok := c.known.places[id]
	c.known.mu.Unlock()
	if ok {
		return p, nil
	}
	q := call{method: http.MethodGet, path: "/channels/" + id, route: "/channels", major: id}
	if err := c.ask(ctx, q, nil, &p); err != nil {
		if refusedWith(err) {
			return place{ID: id}, nil
		}
		return p, err
	}
	c.known.place(p)
	return p, nil
}

const directsKey = "directs"

// remember reads which people wrote to us: Discord does not tell.
func (c *Client) remember(ctx context.Context) error {
	if c.durable == nil {
		return nil
	}
	b, err := c.durable.Get(ctx, directsKey)
	if err != nil || len(b) == 0 {
		return err
	}
	var pairs [][2]string
	if err := json.Unmarshal(b, &pairs); err != nil {
		return fmt.Errorf("read who wrote before: %w", err)
	}
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	for _, p := range pairs {
		c.known.directs[p[0]] = p[1]
		c.known.recent = append(c.known.recent, p[0])
	}
	return nil
}

// direct remembers the channel with somebody.
func (c *Client) direct(ctx context.Context, person, at string) error {
	k := c.known
	k.mu.Lock()
	if k.directs[person] == at {
		k.mu.Unlock()
		return nil
	}
	k.directs[person] = at
	k.recent = append(slices.DeleteFunc(k.recent, func(p string) bool { return p == person }), person)
	if n := len(k.recent) - mostDirects; n > 0 {
		for _, old := range k.recent[:n] {
			delete(k.directs, old)
		}
		k.recent = slices.Clone(k.recent[n:])
	}
	var pairs [][2]string
	for _, p := range k.recent {
		pairs = append(pairs, [2]string{p, k.directs[p]})
	}
	k.mu.Unlock()
	b, err := json.Marshal(pairs)
	if err != nil || c.durable == nil {
		return err
	}
	return c.durable.Put(ctx, directsKey, b)
}

// channelOf is the channel that a message for a conversation goes to. That with one
// person is made when it is not there, which says nothing to anybody.
func (c *Client) channelOf(ctx context.Context, to channel.Target) (string, error) {
	person, direct := strings.CutPrefix(to.Conversation, discord.PersonSign)
	switch {
	case !discord.IsID(person):
		return "", refused("%q is no channel or person: a channel is called by its id, a person by @ and the person's id",
			text.Ellipsis(to.Conversation, 40))
	case to.Thread != "" && !discord.IsID(to.Thread):
		return "", refused("%q is no thread", text.Ellipsis(to.Thread, 40))
	case to.Thread != "":
		return to.Thread, nil
	case !direct:
		return to.Conversation, nil
	}
	c.known.mu.Lock()
	at, ok := c.known.directs[person]
	c.known.mu.Unlock()
	if ok {
		return at, nil
	}
	var p place
	q := call{method: http.MethodPost, path: "/users/@me/channels", route: "/users/@me/channels"}
	if err := c.ask(ctx, q, map[string]string{"recipient_id": person}, &p); err != nil {
		return "", err
	}
	if !discord.IsID(p.ID) {
		return "", fmt.Errorf("Discord named no channel with %s", to.Conversation)
	}
	return p.ID, c.direct(ctx, person, p.ID)
}
