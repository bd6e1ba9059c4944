// Package logintest is an authority that gives out keys for an MCP server, with
// the server behind it, for tests: discovery, registration, PKCE, one-time codes,
// renewal with new refresh tokens, and revocation, as real ones do it.
package logintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
)

// Authority is at one address with the server that it guards, which is at /mcp.
type Authority struct {
	*httptest.Server
	// Resource and Meta change what the server and the authority say of themselves.
	Resource, Meta func(m map[string]any)
	ExpiresIn      int                   // seconds that a token works
	Secret         string                // what registered programs get, if anything
	Known          string                // one that was made by hand
	Renewing       func(r *http.Request) // called when a refresh token was taken, before the answer
	Issuer         string                // as which it sends browsers back; "" = not said

	mu      sync.Mutex // guards the following
	n       int
	clients map[string][]string   // client → where browsers may come back to
	codes   map[string]url.Values // code → what was asked for
	refresh map[string]bool
	access  map[string]bool
	asked   []string // path and form of every request to the authority
}

// New starts one. inner answers requests with a good token.
func New(t testing.TB, inner http.Handler) *Authority {
	a := &Authority{ExpiresIn: 3600, clients: map[string][]string{}, codes: map[string]url.Values{}, refresh: map[string]bool{},
		access: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if token, ok := bearer(r); !ok || !a.Good(token) {
			w.Header().Set("WWW-Authenticate",
				fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="notes.read"`, a.URL))
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		a.describe(w, a.Resource, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL},
			"scopes_supported": []string{"notes.read", "notes.write"}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		a.describe(w, a.Meta, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL +
				"/register",
			"revocation_endpoint": a.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{
				"code"}, "scopes_supported": []string{"offline_access", "notes.read"},
		})
	})
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	mux.HandleFunc("POST /revoke", a.revoke)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func bearer(r *http.Request) (string, bool) {
	const kind = "Bearer "
	h := r.Header.Get("Authorization")
	return h[min(len(kind), len(h)):], len(h) > len(kind)
}

func (a *Authority) describe(w http.ResponseWriter, change func(map[string]any), m map[string]any) {
	if change != nil {
		change(m)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m)
}

// Good reports whether a token opens the server.
func (a *Authority) Good(token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.access[token]
}

// Forget ends all access tokens, and all refresh tokens too when all is true.
func (a *Authority) Forget(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
	if all {
		clear(a.refresh)
	}
}

// Asked is what the authority was asked so far.
func (a *Authority) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *Authority) note(r *http.Request) { a.asked = append(a.asked, r.URL.Path+" "+r.Form.Encode()) }

func (a *Authority) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.Redirects) == 0 {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	id := fmt.Sprintf("client-%d", a.n)
	a.clients[id] = m.Redirects
	a.asked = append(a.asked, r.URL.Path)
	out := map[string]any{"client_id": id, "redirect_uris": m.Redirects, "token_endpoint_auth_method": "none"}
	if a.Secret != "" {
		out["client_secret"], out["client_secret_expires_at"], out["token_endpoint_auth_method"] = a.Secret, 0, "client_secret_basic"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(out)
}

func (a *Authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	back := q.Get("redirect_uri")
	if id := q.Get("client_id"); !slices.Contains(a.clients[id], back) && (id == "" || id != a.Known) {
		http.Error(w, "unknown program", http.StatusBadRequest)
		return
	}
	a.asked = append(a.asked, r.URL.Path+" "+q.Encode())
	a.n++
	code := fmt.Sprintf("code-%d", a.n)
	a.codes[code] = q
	to, err := url.Parse(back)
	if err != nil {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	v := url.Values{"code": {code}, "state": {q.Get("state")}}
	if a.Issuer != "" {
		v.Set("iss", a.Issuer)
	}
	to.RawQuery = v.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(r)
	w.Header().Set("Content-Type", "application/json")
	refuse := func(why string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
	}
	if id, secret, ok := r.BasicAuth(); a.Secret != "" && (!ok || secret != a.Secret || id == "") {
		refuse("invalid_client")
		return
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		q, ok := a.codes[r.Form.Get("code")]
		delete(a.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			q.Get("redirect_uri") != r.Form.Get("redirect_uri") || q.Get("resource") != r.Form.Get("resource") {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if !a.refresh[r.Form.Get("refresh_token")] {
			refuse("invalid_grant")
			return
		}
		delete(a.refresh, r.Form.Get("refresh_token"))
		if a.Renewing != nil {
			a.Renewing(r)
		}
	default:
		refuse("unsupported_grant_type")
		return
	}
	a.n++
	access, refresh := fmt.Sprintf("access-%d", a.n), fmt.Sprintf("refresh-%d", a.n)
	a.access[access], a.refresh[refresh] = true, true
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
		"expires_in": a.ExpiresIn})
}

func (a *Authority) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(r)
	delete(a.refresh, r.Form.Get("token"))
	w.WriteHeader(http.StatusOK)
}

// Visit is the person's browser: it opens the page and follows it back.
func (a *Authority) Visit(t testing.TB, page string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.Server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
