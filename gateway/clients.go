package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Programs that come in over HTTP with a token of their own.

func (g *Gateway) openClients(ctx context.Context) (err error) {
	id := func(c pairing.Client) string { return c.ID }
	g.clients, err = pairing.NewClients(ctx, pairing.ClientOptions{
		Store: store.NewShelf(g.store, "clients", id), Removed: store.NewBesideShelf(g.removed, "clients", id), Now: g.opts.Now, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The tokens of other programs could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	return nil
}

// mounts are the paths of programs.
func (g *Gateway) mounts() map[string]http.Handler {
	return map[string]http.Handler{"/mcp": g.serveMCP(), "/v1/": g.hook}
}

// bearer is the token of a request: from its header and from nowhere else, so
// that no page can send it without knowing it.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	kind, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// admitClient lets a request in that needs a right, or not. Both are in the
// audit log.
func (g *Gateway) admitClient(r *http.Request, need pairing.ClientScope) (*pairing.Visit, error) {
	k := pairing.Knock{Token: bearer(r), Origin: r.Header.Get("Origin"), Need: need}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		k.Source = peer.Addr()
	}
	v, err := g.clients.Admit(r.Context(), k)
	facts := map[string]string{"from": k.Source.String(), "origin": k.Origin, "for": string(need), "path": r.URL.Path}
	var wait *pairing.ClientWaitError
	switch {
	case errors.As(err, &wait): // what led to it is in the log already
	case err != nil:
		g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a program was turned away: " + err.Error(), Facts: facts})
	case v.Noted:
		facts["token"] = v.Client.ID
		g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a program was let in", Who: "token " + v.Client.Name, Facts: facts})
	}
	return v, err
}

// tokenMethods look after tokens of other programs.
func (g *Gateway) tokenMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodTokensList, g.tokensList),
		method.Plain(protocol.MethodTokensCreate, g.tokensCreate),
		method.Plain(protocol.MethodTokensRevoke, g.tokensRevoke),
	}
}

func (g *Gateway) tokensList(context.Context, method.None) (protocol.Tokens, error) {
	out := protocol.Tokens{Tokens: []protocol.Token{}, Scopes: clientScopeNames(pairing.ClientScopes())}
	for _, c := range g.clients.List() {
		out.Tokens = append(out.Tokens, g.tokenOnWire(c))
	}
	return out, nil
}

func (g *Gateway) tokensCreate(ctx context.Context, p protocol.TokenCreateParams) (protocol.TokenCreated, error) {
	scopes := []pairing.ClientScope{pairing.ClientChat, pairing.ClientModels, pairing.ClientEmbeddings}
	if len(p.Scopes) > 0 {
		scopes = nil
		for _, s := range p.Scopes {
			scopes = append(scopes, pairing.ClientScope(s))
		}
	}
	life := time.Duration(p.LifeMs) * time.Millisecond
	if life.Milliseconds() != p.LifeMs {
		return protocol.TokenCreated{}, protocol.InvalidParams(protocol.MethodTokensCreate, "lifeMs is too large")
	}
	c, token, err := g.clients.Create(ctx, p.Name, scopes, life)
	if err != nil {
		return protocol.TokenCreated{}, clientError(err)
	}
	g.redactor.Add(token)
	g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a token was made: " + c.Name, Facts: map[string]string{
		"token": c.ID, "scopes": strings.Join(clientScopeNames(c.Scopes), " "), "life": life.String(),
	}})
	return protocol.TokenCreated{Token: g.tokenOnWire(c), Secret: token}, nil
}

func (g *Gateway) tokensRevoke(ctx context.Context, p protocol.TokenRevokeParams) (protocol.Token, error) {
	c, err := g.clients.Revoke(ctx, p.Token)
	if c.ID != "" {
		g.hook.Revoked(c.ID, func(key, runID string) { g.stopRun(ctx, key, runID) })
		g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a token was revoked: " + c.Name, Facts: map[string]string{"token": c.ID}})
	}
	return g.tokenOnWire(c), clientError(err)
}

func clientError(err error) error {
	var input *pairing.ClientInputError
	switch {
	case errors.As(err, &input):
		return protocol.Invalid("%v", err)
	case errors.Is(err, pairing.ErrNoClient):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	return err
}

func (g *Gateway) tokenOnWire(c pairing.Client) protocol.Token {
	t := protocol.Token{
		ID: c.ID, Name: c.Name, Scopes: clientScopeNames(c.Scopes), State: "active",
		CreatedAt: c.CreatedAtMs, ExpiresAt: c.ExpiresAtMs, LastUsed: c.LastUsedAtMs, RevokedAt: c.RevokedAtMs,
	}
	switch {
	case c.RevokedAtMs != 0:
		t.State = "revoked"
	case c.ExpiresAtMs != 0 && g.opts.Now().UnixMilli() >= c.ExpiresAtMs:
		t.State = "expired"
	}
	return t
}

func clientScopeNames(scopes []pairing.ClientScope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}
