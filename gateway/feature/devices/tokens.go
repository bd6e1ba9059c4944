package devices

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Tokens of programs that come in over HTTP.

func (f *feature) tokensList(context.Context, method.None) (protocol.Tokens, error) {
	out := protocol.Tokens{Tokens: []protocol.Token{}, Scopes: clientScopeNames(pairing.ClientScopes())}
	for _, c := range f.o.Programs.List() {
		out.Tokens = append(out.Tokens, f.tokenOnWire(c))
	}
	return out, nil
}

func (f *feature) tokensCreate(ctx context.Context, p protocol.TokenCreateParams) (protocol.TokenCreated, error) {
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
	c, token, err := f.o.Programs.Create(ctx, p.Name, scopes, life)
	if err != nil {
		return protocol.TokenCreated{}, clientError(err)
	}
	f.o.Secrets.Add(token)
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a token was made: " + c.Name, Facts: map[string]string{
		"token": c.ID, "scopes": strings.Join(clientScopeNames(c.Scopes), " "), "life": life.String(),
	}})
	return protocol.TokenCreated{Token: f.tokenOnWire(c), Secret: token}, nil
}

func (f *feature) tokensRevoke(ctx context.Context, p protocol.TokenRevokeParams) (protocol.TokenRevoked, error) {
	had, _ := f.o.Programs.Find(p.Token)
	c, err := f.o.Programs.Revoke(ctx, p.Token)
	before := c.ID == had.ID && had.RevokedAtMs != 0
	if c.ID != "" {
		f.o.Revoked(ctx, c.ID)
	}
	if c.ID != "" && !before {
		f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "a token was revoked: " + c.Name, Facts: map[string]string{"token": c.ID}})
	}
	return protocol.TokenRevoked{Token: f.tokenOnWire(c), Before: before}, clientError(err)
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

func (f *feature) tokenOnWire(c pairing.Client) protocol.Token {
	t := protocol.Token{
		ID: c.ID, Name: c.Name, Scopes: clientScopeNames(c.Scopes), State: "active",
		CreatedAt: c.CreatedAtMs, ExpiresAt: c.ExpiresAtMs, LastUsed: c.LastUsedAtMs, RevokedAt: c.RevokedAtMs,
	}
	switch {
	case c.RevokedAtMs != 0:
		t.State = "revoked"
	case c.ExpiresAtMs != 0 && f.o.Now().UnixMilli() >= c.ExpiresAtMs:
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
