// Package login logs in at the services that MCP servers are, by OAuth as MCP
// asks for it: it finds out where (RFC 9728, RFC 8414), makes Hearth known
// there (RFC 7591), keeps what a login brings among the secrets, bound to the
// server's address, and renews it.
//
// The exchange itself is gateway/provider/oauth. It connects to no MCP server
// beyond asking who may log in.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Endpoint is one server, as the owner set it up.
type Endpoint struct {
	ID       string
	URL      string
	Scope    string // "" = what the service asks for
	ClientID string // "" = Hearth makes itself known
	Secret   string // of that client, if it has one
	Callback string // where the browser comes back to; "" = anywhere on this computer
}

// Options of a Book. All are needed.
type Options struct {
	Life    context.Context // logins that are under way end with it
	Secrets secret.Store
	Now     func() time.Time
	Log     *slog.Logger
	// Around is the way to a service and to what it names.
	Around func(home *url.URL) http.RoundTripper
	// Changed is told that somebody logged in or out at a server.
	Changed func(id string)
	// Hide keeps a secret out of logs and answers.
	Hide func(secret.Secret)
}

// What callers decide by.
var (
	// ErrEnded: the service does not take the login any more.
	ErrEnded = errors.New("the login has ended")
	// ErrNotNeeded: the service answers without a login.
	ErrNotNeeded = errors.New("the service answers without a login")
)

// Book has the logins. It is safe for concurrent use.
type Book struct {
	o      Options
	client *oauth.Client
	flows  *oauth.Flows

	mu   sync.Mutex // guards the map
	held map[string]*login
}

// login is what is known of one server's. Its lock is held while it is renewed.
type login struct {
	mu    sync.Mutex
	known bool
	rec   *record // nil: there is none
}

// record is what is kept.
type record struct {
	URL      string    `json:"url"` // of the server: the token goes nowhere else
	Resource string    `json:"resource,omitempty"`
	Issuer   string    `json:"issuer,omitempty"`
	Token    string    `json:"tokenUrl"`
	Revoke   string    `json:"revokeUrl,omitempty"`
	Near     bool      `json:"near,omitempty"`
	ClientID string    `json:"clientId"`
	Secret   string    `json:"clientSecret,omitempty"`
	InHeader bool      `json:"inHeader,omitempty"`
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
}

const (
	renewBefore = time.Minute // before its end a token is renewed
	renewTime   = 30 * time.Second
)

// New returns a Book.
func New(o Options) *Book {
	b := &Book{o: o, client: oauth.New(oauth.Options{Now: o.Now}), held: map[string]*login{}}
	b.flows = oauth.NewFlows(o.Life, b.client, b.keep)
	return b
}

func secretName(id string) string { return "mcp/" + id }

// Start begins a login: it finds out where, and returns the page to open. The
// login goes on after the call, see Wait.
func (b *Book) Start(ctx context.Context, s Endpoint) (oauth.Started, error) {
	service, err := b.discover(ctx, s)
	if err != nil {
		return oauth.Started{}, err
	}
	return b.flows.Start(ctx, service)
}

// Wait returns when a login has ended, or with ctx.
func (b *Book) Wait(ctx context.Context, id string) (oauth.LoginState, error) {
	return b.flows.Wait(ctx, id)
}

// Cancel gives a login up.
func (b *Book) Cancel(id string) bool { return b.flows.Cancel(id) }

// keep stores what a login brought.
func (b *Book) keep(ctx context.Context, s oauth.Issuer, t oauth.Tokens) (string, error) {
	l := b.login(s.ID)
	l.mu.Lock()
	l.rec, l.known = &record{
		URL: s.Hosts[0], Resource: s.Resource, Issuer: s.Issuer, Token: s.TokenURL, Revoke: s.RevokeURL, Near: s.Near,
		ClientID: s.ClientID, Secret: s.Registered.Secret, InHeader: s.InHeader, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires,
	}, true
	err := b.save(ctx, s.ID, l.rec)
	if err != nil {
		l.rec, l.known = nil, false
	}
	l.mu.Unlock()
	if err != nil {
		return "", fmt.Errorf("the login worked but could not be kept: %w", err)
	}
	b.o.Changed(s.ID)
	return s.ID, nil
}

func (b *Book) login(id string) *login {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.held[id]
	if l == nil {
		l = &login{}
		b.held[id] = l
	}
	return l
}

func (b *Book) save(ctx context.Context, id string, r *record) error {
	b.hide(r)
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the login: %w", err)
	}
	return b.o.Secrets.Set(ctx, secretName(id), secret.New(string(raw)))
}

func (b *Book) hide(r *record) {
	for _, s := range []string{r.Access, r.Refresh, r.Secret} {
		if s != "" {
			b.o.Hide(secret.New(s))
		}
	}
}

// load reads what is kept, once; the login's lock is held.
func (b *Book) load(ctx context.Context, id string, l *login) error {
	if l.known {
		return nil
	}
	raw, err := b.o.Secrets.Get(ctx, secretName(id))
	switch {
	case errors.Is(err, secret.ErrNotFound), errors.Is(err, secret.ErrUnavailable):
		l.rec, l.known = nil, true
		return nil
	case err != nil:
		return fmt.Errorf("the login is kept among the secrets, which cannot be read: %w", err)
	}
	var r record
	if json.Unmarshal([]byte(raw.Reveal()), &r) != nil {
		b.o.Log.Warn("what is kept of a login at an MCP server is no login", "server", id)
		l.rec, l.known = nil, true
		return nil
	}
	b.hide(&r)
	l.rec, l.known = &r, true
	return nil
}

// Has reports whether there is a login for a server.
func (b *Book) Has(ctx context.Context, s Endpoint) bool {
	l := b.login(s.ID)
	if !l.mu.TryLock() { // one that is being renewed
		return true
	}
	defer l.mu.Unlock()
	return b.load(ctx, s.ID, l) == nil && l.rec != nil && l.rec.URL == s.URL
}

// Bearer is the token for a request to a server, renewed when it is time; ""
// when nobody logged in there. refused is a token that the server did not take:
// another is fetched then.
func (b *Book) Bearer(ctx context.Context, s Endpoint, refused string) (string, error) {
	l := b.login(s.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := b.load(ctx, s.ID, l); err != nil {
		return "", err
	}
	r := l.rec
	if r == nil || r.URL != s.URL { // it was for another address
		return "", nil
	}
	old := !r.Expires.IsZero() && !r.Expires.After(b.o.Now().Add(renewBefore))
	if !old && r.Access != refused {
		return r.Access, nil
	}
	if r.Refresh == "" {
		if r.Access == refused || !r.Expires.After(b.o.Now()) {
			return "", ErrEnded
		}
		return r.Access, nil
	}
	// What the service gives counts once: it is kept even if nobody waits any more.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer cancel()
	t, err := b.client.Renew(ctx, b.service(s.ID, r), r.Refresh)
	switch {
	case errors.Is(err, oauth.ErrEnded):
		return "", ErrEnded
	case err != nil:
		return "", fmt.Errorf("the login could not be renewed: %w", err)
	}
	next := *r
	next.Access, next.Expires = t.Access, t.Expires
	if t.Refresh != "" { // a service that does not change it leaves it out
		next.Refresh = t.Refresh
	}
	l.rec = &next
	if err := b.save(ctx, s.ID, &next); err != nil { // it is good until the next start
		b.o.Log.Error("a renewed login at an MCP server could not be kept", "server", s.ID, "err", err)
	}
	return next.Access, nil
}

func (b *Book) service(id string, r *record) oauth.Issuer {
	s := oauth.Issuer{
		ID: id, Name: "the MCP server " + id, Kind: oauth.KindBrowser, TokenURL: r.Token, RevokeURL: r.Revoke, Resource: r.Resource,
		Issuer: r.Issuer, Near: r.Near,
		Registered: oauth.Registered{ClientID: r.ClientID, Secret: r.Secret, InHeader: r.InHeader},
	}
	if home, err := url.Parse(r.URL); err == nil {
		s.Via = b.o.Around(home)
	}
	return s
}

// revokeTime is how long a service may take to hear that a login is over.
const revokeTime = 5 * time.Second

// Forget removes a login, and tells the service where that is possible; ok is
// false when there was none.
func (b *Book) Forget(ctx context.Context, id string) (ok bool, err error) {
	l := b.login(id)
	l.mu.Lock()
	if err := b.load(ctx, id, l); err != nil {
		l.mu.Unlock()
		return false, err
	}
	r := l.rec
	if r != nil {
		if err := b.o.Secrets.Delete(ctx, secretName(id)); err != nil && !errors.Is(err, secret.ErrNotFound) {
			l.mu.Unlock()
			return false, fmt.Errorf("remove the login: %w", err)
		}
		l.rec = nil
	}
	l.mu.Unlock()
	if r == nil {
		return false, nil
	}
	b.o.Changed(id)
	if r.Revoke != "" {
		ctx, cancel := context.WithTimeout(ctx, revokeTime)
		defer cancel()
		token := r.Refresh
		if token == "" {
			token = r.Access
		}
		// Many answer with nothing at all, which is no login and no failure.
		_ = b.client.Revoke(ctx, b.service(id, r), token)
	}
	return true, nil
}
