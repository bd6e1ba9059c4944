package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
)

const (
	discoverTime = 20 * time.Second
	maxScopes    = 32
)

// hello is what an MCP client says first. It is sent only to be refused.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hearth","version":"1"}}}`

// discover finds out where one logs in for a server.
func (b *Book) discover(ctx context.Context, s Endpoint) (none oauth.Issuer, err error) {
	home, err := url.Parse(s.URL)
	if err != nil || home.Host == "" {
		return none, fmt.Errorf("%q is no address of a service", s.URL)
	}
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	way := b.o.Around(home)
	client := &http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	challenges, err := knock(ctx, client, s.URL)
	if err != nil {
		return none, err
	}
	resource, issuer, scopes := authority(ctx, client, home, challenges)
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err != nil {
		return none, fmt.Errorf("%s did not say how one logs in there: %s", clean(issuer), clean(err.Error()))
	}
	if meta == nil { // what servers of 2025-03-26 do without saying so
		base := strings.TrimSuffix(issuer, "/")
		meta = &oauthex.AuthServerMeta{Issuer: issuer, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token",
			RegistrationEndpoint: base + "/register"}
	}
	if s.Scope != "" {
		scopes = strings.Fields(s.Scope)
	} else if slices.Contains(meta.ScopesSupported, "offline_access") && !slices.Contains(scopes, "offline_access") {
		scopes = append(scopes, "offline_access")
	}
	service := oauth.Issuer{
		ID: s.ID, Name: "the MCP server " + s.ID, Kind: oauth.KindBrowser, Scopes: safeScopes(scopes), Hosts: []string{s.URL},
		AuthorizeURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint, RevokeURL: meta.RevocationEndpoint,
		Via: way, Resource: resource, Issuer: meta.Issuer, NamesIt: meta.AuthorizationResponseIssParameterSupported, Near: egress.Near(home),
		Callback: s.Callback,
	}
	service.Register = func(ctx context.Context, callback string) (oauth.Registered, error) {
		return register(ctx, client, s, service, meta, callback)
	}
	return service, nil
}

// knock asks for entry without a key, to be told who gives out keys.
func knock(ctx context.Context, client *http.Client, to string) ([]oauthex.Challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(hello))
	if err != nil {
		return nil, fmt.Errorf("ask the service: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the service cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	switch {
	case resp.StatusCode < 300:
		return nil, ErrNotNeeded
	case resp.StatusCode < 400:
		return nil, fmt.Errorf("the service is at another address now (HTTP %d); set that one", resp.StatusCode)
	}
	found, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil { // it may be found without
		return nil, nil
	}
	return found, nil
}

// authority is who gives out keys for a service, and for what.
func authority(ctx context.Context, client *http.Client, home *url.URL, challenges []oauthex.Challenge) (resource, issuer string,
	scopes []string) {
	said := ""
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			scopes = strings.Fields(c.Params["scope"])
		}
		if u := c.Params["resource_metadata"]; u != "" && said == "" {
			said = u
		}
	}
	for _, try := range places(home, said) {
		prm, err := oauthex.GetProtectedResourceMetadata(ctx, try.at, try.of, client)
		if err != nil || prm == nil || len(prm.AuthorizationServers) == 0 {
			continue
		}
		if len(scopes) == 0 {
			scopes = prm.ScopesSupported
		}
		return prm.Resource, prm.AuthorizationServers[0], scopes
	}
	origin := url.URL{Scheme: home.Scheme, Host: home.Host}
	return home.String(), origin.String(), scopes
}

type place struct{ at, of string }

// places are where a service may describe itself, and as what: it must name its
// own address, or its origin.
func places(home *url.URL, said string) (out []place) {
	origin := url.URL{Scheme: home.Scheme, Host: home.Host}
	names := []string{home.String(), origin.String(), origin.String() + "/"}
	if said != "" {
		for _, n := range names {
			out = append(out, place{said, n})
		}
	}
	const known = "/.well-known/oauth-protected-resource"
	if p := strings.Trim(home.Path, "/"); p != "" {
		out = append(out, place{origin.String() + known + "/" + p, names[0]})
	}
	for _, n := range names {
		out = append(out, place{origin.String() + known, n})
	}
	return out
}

// register makes Hearth known at a service, or takes what the owner made there.
func register(ctx context.Context, client *http.Client, s Endpoint, service oauth.Issuer, meta *oauthex.AuthServerMeta,
	callback string) (oauth.Registered, error) {
	if s.ClientID != "" {
		methods := meta.TokenEndpointAuthMethodsSupported
		header := len(methods) == 0 || slices.Contains(methods, "client_secret_basic") && !slices.Contains(methods, "client_secret_post")
		return oauth.Registered{ClientID: s.ClientID, Secret: s.Secret, InHeader: s.Secret != "" && header}, nil
	}
	if meta.RegistrationEndpoint == "" {
		return oauth.Registered{}, fmt.Errorf("%s lets no program make itself known. Make a client there by hand, with an address such as "+
			"http://127.0.0.1:8765/callback to come back to, and set mcp.servers.%s.oauth.clientId and .redirectUrl", clean(meta.Issuer), s.ID)
	}
	if u, err := url.Parse(meta.RegistrationEndpoint); err != nil || !service.Private(u) {
		return oauth.Registered{}, fmt.Errorf("%q is no https address, so nothing is sent there", clean(meta.RegistrationEndpoint))
	}
	got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{callback}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"}, ClientName: "Hearth", Scope: strings.Join(service.Scopes, " "), ApplicationType: "native",
	}, client)
	if err != nil {
		return oauth.Registered{}, fmt.Errorf("%s did not let Hearth make itself known: %s", clean(meta.Issuer), clean(err.Error()))
	}
	if odd(got.ClientID) || odd(got.ClientSecret) || len(got.ClientID)+len(got.ClientSecret) > 8<<10 {
		return oauth.Registered{}, errors.New("the service gave Hearth a name that cannot be used")
	}
	return oauth.Registered{ClientID: got.ClientID, Secret: got.ClientSecret, InHeader: got.ClientSecret != "" &&
		got.TokenEndpointAuthMethod != "client_secret_post" && got.TokenEndpointAuthMethod != "none"}, nil
}

func odd(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// safeScopes leaves out what is no scope (RFC 6749 3.3).
func safeScopes(in []string) (out []string) {
	for _, s := range in {
		if s != "" && len(s) < 200 && !odd(s) && !strings.ContainsAny(s, `"\ `) && len(out) < maxScopes {
			out = append(out, s)
		}
	}
	return out
}

// clean makes words of a service one short line; addresses are long.
func clean(s string) string { return oauth.OneLine(s, 240) }
