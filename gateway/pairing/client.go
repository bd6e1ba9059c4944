package pairing

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// ClientScope is a right of a program that holds a token of its own.
type ClientScope string

const (
	ClientChat       ClientScope = "chat"       // talk to the assistant
	ClientModels     ClientScope = "models"     // list assistants and models
	ClientEmbeddings ClientScope = "embeddings" // have texts turned into vectors
	ClientMCP        ClientScope = "mcp"        // Hearth's own tools by MCP
	ClientMetrics    ClientScope = "metrics"    // read numbers about Hearth
	ClientOwner      ClientScope = "owner"      // what it says counts as said by the owner
)

// ClientScopes is every right, in the order in which people read them.
func ClientScopes() []ClientScope {
	return []ClientScope{ClientChat, ClientModels, ClientEmbeddings, ClientMCP, ClientMetrics, ClientOwner}
}

const (
	// tokenHead begins every token of a client, so that scanners know one.
	tokenHead = "hearth_"

	maxClients     = 100                 // with a token that works
	maxClientName  = 60                  // characters
	maxClientLife  = 10 * 365 * 24 * 60  // minutes; more than that is "for ever"
	keepRevoked    = 90 * 24 * time.Hour // then a name on the list helps nobody
	lastUseEvery   = time.Minute         // how exact the last use is kept
	clientIDBytes  = 6
	clientKeyBytes = 32
)

// Client is a program with a token of its own. The token itself is not kept.
type Client struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Scopes []ClientScope `json:"scopes"`
	// Digest is the SHA-256 of the token, in base64url.
	Digest       string `json:"digest"`
	CreatedAtMs  int64  `json:"createdAtMs"`
	ExpiresAtMs  int64  `json:"expiresAtMs,omitempty"`
	LastUsedAtMs int64  `json:"lastUsedAtMs,omitempty"` // to the minute
	// RevokedAtMs is a tombstone: nothing but a new token brings a client back.
	RevokedAtMs int64 `json:"revokedAtMs,omitempty"`
}

// May reports whether the client has a right.
func (c *Client) May(s ClientScope) bool { return slices.Contains(c.Scopes, s) }

// live reports whether the token works at a time.
func (c *Client) live(now int64) bool {
	return c.RevokedAtMs == 0 && (c.ExpiresAtMs == 0 || now < c.ExpiresAtMs)
}

// ClientStore keeps clients. Save returns when the client is durable.
type ClientStore interface {
	Load(ctx context.Context) ([]Client, error)
	Save(ctx context.Context, c Client) error
	Forget(ctx context.Context, id string) error
}

var (
	// ErrClientUnknown is all that the holder of a wrong, ended or revoked token
	// learns.
	ErrClientUnknown = errors.New("this token is not one that Hearth knows, or it was revoked or has expired; `hearth tokens create` makes " +
		"a new one")
	// ErrNoClient is for people: no token has this name or id.
	ErrNoClient = errors.New("there is no such token; `hearth tokens list` shows them")
)

// ClientInputError says what is wrong with a wish for a token.
type ClientInputError struct{ text string }

func (e *ClientInputError) Error() string { return e.text }

// ClientOptions of Clients. Now, Random and Logger have working zero values.
type ClientOptions struct {
	Store ClientStore
	// Removed keeps, apart from Store, which tokens were revoked, so that an older
	// copy of Store brings none back. Optional.
	Removed ClientStore
	Now     func() time.Time
	Random  io.Reader
	Logger  *slog.Logger
}

// Clients is the authority on programs with a token of their own. Its methods
// may be called at the same time.
type Clients struct {
	base
	store    ClientStore
	removed  ClientStore // nil: none
	recalled int

	// changing is held while a client is changed and saved. It is taken before mu.
	changing sync.Mutex
	// looking lets one token be looked at after the other: who is right never
	// finds all slots of the throttle taken.
	looking sync.Mutex

	mu     sync.Mutex // guards all below; never held over I/O
	known  map[string]Client
	visits map[*Visit]struct{}
}

// NewClients loads the clients.
func NewClients(ctx context.Context, o ClientOptions) (*Clients, error) {
	c := &Clients{
		base: newBase(o.Now, o.Random, o.Logger), store: o.Store, removed: o.Removed,
		known: make(map[string]Client), visits: make(map[*Visit]struct{}),
	}
	all, err := c.store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the tokens of clients: %w", err)
	}
	for _, one := range all {
		c.known[one.ID] = one
	}
	return c, c.recall(ctx)
}

// List returns the clients, the newest first, those that were revoked lately
// included.
func (c *Clients) List() []Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Client, 0, len(c.known))
	for _, one := range c.known {
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Client) int {
		if a.CreatedAtMs != b.CreatedAtMs {
			return int(min(1, max(-1, b.CreatedAtMs-a.CreatedAtMs)))
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// Create makes a client and its token, which is told this once. life 0 is for
// ever.
func (c *Clients) Create(ctx context.Context, name string, scopes []ClientScope, life time.Duration) (Client, string, error) {
	scopes, err := checkClient(name, scopes, life)
	if err != nil {
		return Client{}, "", err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	now := c.now()
	c.forgetOld(ctx, now)
	count := 0
	for _, one := range c.List() {
		if !one.live(now.UnixMilli()) {
			continue
		}
		if count++; count >= maxClients {
			return Client{}, "", &ClientInputError{fmt.Sprintf("there are %d tokens already, which is as many as Hearth keeps; revoke one that "+
				"nobody uses", maxClients)}
		}
		if plainName(one.Name) == plainName(name) {
			return Client{}, "", &ClientInputError{fmt.Sprintf("there is a token named %q already; choose another name, or revoke that one first",
				one.Name)}
		}
	}
	one, token, err := c.mint(name, scopes)
	if err != nil {
		return Client{}, "", err
	}
	one.CreatedAtMs = now.UnixMilli()
	if life > 0 {
		one.ExpiresAtMs = now.Add(life).UnixMilli()
	}
	if err := c.store.Save(ctx, one); err != nil {
		return Client{}, "", fmt.Errorf("save the token: %w", err)
	}
	c.keep(one)
	return one, token, nil
}

// mint makes a token: a part that says whose it is, and one that proves it.
func (c *Clients) mint(name string, scopes []ClientScope) (Client, string, error) {
	var raw [clientIDBytes + clientKeyBytes]byte
	if _, err := io.ReadFull(c.random, raw[:]); err != nil {
		return Client{}, "", fmt.Errorf("make a token: %w", err)
	}
	id := fmt.Sprintf("%x", raw[:clientIDBytes])
	token := tokenHead + id + "_" + base64.RawURLEncoding.EncodeToString(raw[clientIDBytes:])
	sum := digestOf(token)
	return Client{ID: id, Name: name, Scopes: scopes, Digest: base64.RawURLEncoding.EncodeToString(sum[:])}, token, nil
}

// checkClient judges a wish and returns the scopes without repetitions.
func checkClient(name string, scopes []ClientScope, life time.Duration) ([]ClientScope, error) {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return nil, &ClientInputError{"a token needs a name, without spaces around it: what program is it for?"}
	case utf8.RuneCountInString(name) > maxClientName || !utf8.ValidString(name) || strings.ContainsFunc(name, bad):
		return nil, &ClientInputError{fmt.Sprintf("a token's name is one line of at most %d letters, digits and signs", maxClientName)}
	case len(scopes) == 0:
		return nil, &ClientInputError{"a token without any right opens nothing; name at least one of " + scopeNames(ClientScopes())}
	case life < 0 || life > maxClientLife*time.Minute:
		return nil, &ClientInputError{"a token lives for up to ten years, or for ever"}
	case life > 0 && life < time.Minute:
		return nil, &ClientInputError{"a token lives for a minute at least"}
	}
	var out []ClientScope
	for _, s := range ClientScopes() {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	for _, s := range scopes {
		if !slices.Contains(out, s) {
			return nil, &ClientInputError{fmt.Sprintf("%q is no right of a token; these are: %s", s, scopeNames(ClientScopes()))}
		}
	}
	if len(out) == 1 && out[0] == ClientOwner {
		return nil, &ClientInputError{"owner says whose words a program's are; name what it may do as well, for example chat"}
	}
	return out, nil
}

func scopeNames(all []ClientScope) string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = string(s)
	}
	return strings.Join(list, ", ")
}

// Revoke ends a token, named by its id or its name: durably, for new requests
// and for those under way. It is not an error to revoke twice.
func (c *Clients) Revoke(ctx context.Context, which string) (Client, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	one, ok := c.Find(which)
	if !ok {
		return Client{}, fmt.Errorf("%q: %w", which, ErrNoClient)
	}
	if one.RevokedAtMs == 0 {
		one.RevokedAtMs = c.now().UnixMilli()
	}
	// Requests end even when the disk does not take the change.
	c.keep(one)
	c.mu.Lock()
	for v := range c.visits {
		if v.Client.ID == one.ID {
			delete(c.visits, v)
			close(v.ended)
		}
	}
	c.mu.Unlock()
	if err := c.end(ctx, one); err != nil {
		return one, fmt.Errorf("save that token %s is revoked: %w", one.Name, err)
	}
	return one, nil
}

// plainName is what makes two names the same to people.
func plainName(name string) string { return strings.ToLower(name) }

// Find looks a client up by its id or name; one that works comes before one that
// does not.
func (c *Clients) Find(which string) (found Client, ok bool) {
	now := c.now().UnixMilli()
	for _, one := range c.List() {
		if one.ID == which {
			return one, true
		}
		if plainName(one.Name) == plainName(which) && (!ok || !found.live(now) && one.live(now)) {
			found, ok = one, true
		}
	}
	return found, ok
}

// forgetOld drops what was revoked or has ended long ago; changing is held.
func (c *Clients) forgetOld(ctx context.Context, now time.Time) {
	old := now.Add(-keepRevoked).UnixMilli()
	for _, one := range c.List() {
		if one.live(old) {
			continue
		}
		if err := c.store.Forget(ctx, one.ID); err != nil {
			c.log.Warn("an old token stays on the list", "token", one.Name, "err", err)
			continue
		}
		c.mu.Lock()
		delete(c.known, one.ID)
		c.mu.Unlock()
	}
}

func (c *Clients) keep(one Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[one.ID] = one
}
