package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/login"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Logging in at the services that MCP servers are.

func (g *Gateway) openMCPLogins() *login.Book {
	return login.New(login.Options{
		Life: g.work.Context(), Secrets: g.secrets.Store(), Now: g.opts.Now, Log: g.log, Hide: func(s secret.Secret) { g.secrets.Hide(s) },
		Around: func(home *url.URL) http.RoundTripper { return egress.Around(home, egress.Options{}) },
		Changed: func(id string) {
			g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "the login at an MCP server changed: " + id})
			_ = g.mcp.Restart(id) // one that is off has nothing to begin anew
		},
	})
}

// loginMCP reports whether a service gets the token of a login: not beside a key
// of the settings, unless these say so; then that key stays away.
func loginMCP(s config.MCPServer, headers map[string]string) bool {
	for name := range headers {
		if !strings.EqualFold(name, "Authorization") {
			continue
		}
		if s.Auth != "oauth" {
			return false
		}
		delete(headers, name)
	}
	return true
}

// bearerMCP is the token for a request to a service.
func (g *Gateway) bearerMCP(ctx context.Context, s mcp.Server, refused string) (string, error) {
	token, err := g.mcpLogins.Bearer(ctx, login.Server{ID: s.ID, URL: s.URL}, refused)
	if errors.Is(err, login.ErrEnded) {
		err = fmt.Errorf("%w: %w", mcp.ErrLogin, err)
	}
	return token, err
}

// mcpService is a server of the settings that one could log in at.
func (g *Gateway) mcpService(ctx context.Context, id string) (login.Server, error) {
	s, ok := g.config.Snapshot().Config.MCP.Servers[id]
	switch {
	case !ok:
		return login.Server{}, protocol.Invalid("There is no MCP server %q; `hearth mcp list` shows those that are on.", id).With("code", "NOT_FOUND")
	case s.URL == "":
		return login.Server{}, protocol.Invalid("%s is a program of this computer, so there is nowhere to log in. What it needs to know goes into mcp.servers.%s.env.", id, id)
	}
	out := login.Server{ID: id, URL: s.URL, Scope: s.OAuth.Scope, ClientID: s.OAuth.ClientID, Callback: s.OAuth.RedirectURL}
	if !s.OAuth.ClientSecret.IsZero() {
		v, err := g.secrets.Value(ctx, config.MCPClientSecretPath(id), s.OAuth.ClientSecret)
		if err != nil {
			return out, err
		}
		out.Secret = v.Reveal()
	}
	return out, nil
}

func (g *Gateway) mcpLogin(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPLogin, error) {
	s, err := g.mcpService(ctx, p.ID)
	if err != nil {
		return protocol.MCPLogin{}, err
	}
	st, err := g.mcpLogins.Start(ctx, s)
	switch {
	case errors.Is(err, login.ErrNotNeeded):
		return protocol.MCPLogin{}, protocol.Invalid("%s answers without a login, so none is needed. `hearth mcp test %s` tries it.", p.ID, p.ID).With("reason", "not-needed")
	case err != nil:
		return protocol.MCPLogin{}, protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
	}
	return protocol.MCPLogin{LoginID: st.ID, URL: st.URL, ExpiresAt: st.Expires.UnixMilli()}, nil
}

// How long a client waits for a login when it does not say, and at most.
const (
	loginWait    = 25 * time.Second
	maxLoginWait = time.Minute
)

func (g *Gateway) mcpLoginWait(ctx context.Context, p protocol.MCPLoginWaitParams) (protocol.MCPLoginState, error) {
	if p.Cancel {
		g.mcpLogins.Cancel(p.LoginID)
	}
	d := loginWait
	if p.TimeoutMs > 0 {
		d = min(time.Duration(p.TimeoutMs)*time.Millisecond, maxLoginWait)
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	st, err := g.mcpLogins.Wait(ctx, p.LoginID)
	if err != nil {
		return protocol.MCPLoginState{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	out := protocol.MCPLoginState{State: st.State}
	if st.State == oauth.Failed && st.Err != nil {
		out.Error = protocol.Sentence(st.Err.Error())
	}
	return out, nil
}

func (g *Gateway) mcpLogout(ctx context.Context, p protocol.MCPServerParams) (protocol.OKResult, error) {
	ok, err := g.mcpLogins.Forget(ctx, p.ID)
	return protocol.OKResult{OK: ok}, err
}

// mcpLoggedIn reports whether there is a login for a server.
func (g *Gateway) mcpLoggedIn(ctx context.Context, id string) bool {
	s, ok := g.config.Snapshot().Config.MCP.Servers[id]
	return ok && s.URL != "" && g.mcpLogins.Has(ctx, login.Server{ID: id, URL: s.URL})
}
