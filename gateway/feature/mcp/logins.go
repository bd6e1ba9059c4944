package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/login"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Logging in at the services that MCP servers are.

func (f *Servers) openLogins() *login.Book {
	return login.New(login.Options{
		Life: f.o.Work.Context(), Secrets: f.o.Secrets.Store(), Now: f.o.Now, Log: f.o.Logger, Hide: func(s secret.Secret) {
			f.o.Secrets.Hide(s)
		},
		Around: func(home *url.URL) http.RoundTripper { return egress.Around(home, egress.Options{}) },
		Changed: func(id string) {
			f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "the login at an MCP server changed: " + id})
			_ = f.hub.Restart(id) // one that is off has nothing to begin anew
		},
	})
}

// How long a client waits for a login when it does not say, and at most.
const (
	waitUsually = 25 * time.Second
	waitMost    = time.Minute
)

// takesLogin reports whether a service gets the token of a login: not beside a key
// of the settings, unless these say so; then that key stays away.
func takesLogin(s ServerSettings, headers map[string]string) bool {
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

// bearer is the token for a request to a service.
func (f *Servers) bearer(ctx context.Context, s mcp.Server, refused string) (string, error) {
	token, err := f.logins.Bearer(ctx, login.Endpoint{ID: s.ID, URL: s.URL}, refused)
	if errors.Is(err, login.ErrEnded) {
		err = fmt.Errorf("%w: %w", mcp.ErrLogin, err)
	}
	return token, err
}

// service is a server of the settings that one could log in at.
func (f *Servers) service(ctx context.Context, id string) (login.Endpoint, error) {
	s, ok := Section.Of(f.o.Settings.Snapshot().Config).Servers[id]
	switch {
	case !ok:
		return login.Endpoint{}, protocol.Invalid("There is no MCP server %q; `hearth mcp list` shows those that are on.", id).With("code",
			"NOT_FOUND")
	case s.URL == "":
		return login.Endpoint{}, protocol.Invalid("%s is a program of this computer, so there is nowhere to log in. What it needs to know goes "+
			"into mcp.servers.%s.env.", id, id)
	}
	out := login.Endpoint{ID: id, URL: s.URL, Scope: s.OAuth.Scope, ClientID: s.OAuth.ClientID, Callback: s.OAuth.RedirectURL}
	if !s.OAuth.ClientSecret.IsZero() {
		v, err := f.o.Secrets.Value(ctx, clientSecretPath(id), s.OAuth.ClientSecret)
		if err != nil {
			return out, err
		}
		out.Secret = v.Reveal()
	}
	return out, nil
}

func (f *Servers) login(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPLogin, error) {
	s, err := f.service(ctx, p.ID)
	if err != nil {
		return protocol.MCPLogin{}, err
	}
	st, err := f.logins.Start(ctx, s)
	switch {
	case errors.Is(err, login.ErrNotNeeded):
		return protocol.MCPLogin{}, protocol.Invalid("%s answers without a login, so none is needed. `hearth mcp test %s` tries it.", p.ID,
			p.ID).With("reason", "not-needed")
	case err != nil:
		return protocol.MCPLogin{}, protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
	}
	return protocol.MCPLogin{LoginID: st.ID, URL: st.URL, ExpiresAt: st.Expires.UnixMilli()}, nil
}

func (f *Servers) loginWait(ctx context.Context, p protocol.MCPLoginWaitParams) (protocol.MCPLoginState, error) {
	if p.Cancel {
		f.logins.Cancel(p.LoginID)
	}
	d := waitUsually
	if p.TimeoutMs > 0 {
		d = min(time.Duration(p.TimeoutMs)*time.Millisecond, waitMost)
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	st, err := f.logins.Wait(ctx, p.LoginID)
	if err != nil {
		return protocol.MCPLoginState{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	out := protocol.MCPLoginState{State: st.State}
	if st.State == oauth.Failed && st.Err != nil {
		out.Error = protocol.Sentence(st.Err.Error())
	}
	return out, nil
}

func (f *Servers) logout(ctx context.Context, p protocol.MCPServerParams) (protocol.OKResult, error) {
	ok, err := f.logins.Forget(ctx, p.ID)
	return protocol.OKResult{OK: ok}, err
}

// loggedIn reports whether there is a login for a server.
func (f *Servers) loggedIn(ctx context.Context, id string) bool {
	s, ok := Section.Of(f.o.Settings.Snapshot().Config).Servers[id]
	return ok && s.URL != "" && f.logins.Has(ctx, login.Endpoint{ID: id, URL: s.URL})
}
