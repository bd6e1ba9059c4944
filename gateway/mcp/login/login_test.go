package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/mcp/login/logintest"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// cabinet keeps secrets in memory.
type cabinet struct {
	mu  sync.Mutex
	all map[string]secret.Secret
	err error
}

func (c *cabinet) Get(_ context.Context, name string) (secret.Secret, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.all[name]
	if !ok {
		return s, secret.ErrNotFound
	}
	return s, c.err
}

func (c *cabinet) Set(_ context.Context, name string, s secret.Secret) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[name] = s
	return c.err
}

func (c *cabinet) Delete(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, name)
	return nil
}

func (c *cabinet) List(context.Context) ([]secret.Entry, error) { return nil, nil }

// desk is a Book with its surroundings.
type desk struct {
	*Book
	t       *testing.T
	secrets *cabinet
	now     time.Time
	mu      sync.Mutex
	changed []string
	hidden  string
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, secrets: &cabinet{all: map[string]secret.Secret{}}, now: time.Now()}
	d.open()
	return d
}

func (d *desk) open() {
	d.Book = New(Options{
		Life: d.t.Context(), Secrets: d.secrets, Log: slog.New(slog.DiscardHandler),
		Now:    func() time.Time { d.mu.Lock(); defer d.mu.Unlock(); return d.now },
		Around: func(home *url.URL) http.RoundTripper { return egress.Around(home, egress.Options{}) },
		Changed: func(id string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.changed = append(d.changed, id)
		},
		Hide: func(s secret.Secret) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.hidden += s.Reveal() + " "
		},
	})
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

// in logs in and returns how that went.
func (d *desk) in(a *logintest.Authority, s Endpoint) (oauth.LoginState, error) {
	d.t.Helper()
	st, err := d.Start(d.t.Context(), s)
	if err != nil {
		return oauth.LoginState{}, err
	}
	status := a.Visit(d.t, st.URL)
	if status != http.StatusOK {
		d.Cancel(st.ID)
	}
	end, err := d.Wait(d.t.Context(), st.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	if status != http.StatusOK && end.Err == nil {
		d.t.Errorf("the browser saw %d", status)
	}
	return end, nil
}

func (d *desk) token(s Endpoint, refused string) string {
	d.t.Helper()
	token, err := d.Bearer(d.t.Context(), s, refused)
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

func nothing(http.ResponseWriter, *http.Request) {}

func guarded(t *testing.T) (*logintest.Authority, Endpoint) {
	a := logintest.New(t, http.HandlerFunc(nothing))
	return a, Endpoint{ID: "notes", URL: a.URL + "/mcp"}
}

// The whole way: found, made known, logged in, kept over a restart.
func TestLogin(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	a.Issuer = a.URL
	if d.token(s, "") != "" || d.Has(t.Context(), s) {
		t.Error("there is a token before a login")
	}
	end, err := d.in(a, s)
	if err != nil || end.State != oauth.Done {
		t.Fatalf("%+v %v", end, err)
	}
	token := d.token(s, "")
	if !a.Good(token) || !d.Has(t.Context(), s) || len(d.changed) != 1 || !strings.Contains(d.hidden, token) {
		t.Errorf("token %q, changed %q", token, d.changed)
	}
	asked := strings.Join(a.Asked(), "\n")
	for _, want := range []string{"/register", "code_challenge_method=S256", "resource=" + url.QueryEscape(s.URL),
		"scope=notes.read+offline_access", "grant_type=authorization_code"} {
		if !strings.Contains(asked, want) {
			t.Errorf("no %s in\n%s", want, asked)
		}
	}
	d.open()
	if got := d.token(s, ""); got != token {
		t.Errorf("after a restart: %q", got)
	}
}

func TestRenewal(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	if _, err := d.in(a, s); err != nil {
		t.Fatal(err)
	}
	first := d.token(s, "")
	d.pass(59 * time.Minute)
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for range 20 {
		all.Go(func() {
			token, err := d.Bearer(t.Context(), s, "")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[token]++
		})
	}
	all.Wait()
	if len(got) != 1 || got[first] > 0 || strings.Count(strings.Join(a.Asked(), "\n"), "grant_type=refresh_token") != 1 {
		t.Fatalf("%v %q", got, a.Asked())
	}
	second := d.token(s, "")
	if next := d.token(s, second); next == second || !a.Good(next) { // the service does not take it
		t.Errorf("after a refusal: %q", next)
	}
	if again := d.token(s, second); again == second { // another request that was refused meanwhile
		t.Errorf("%q", again)
	}
	if n := strings.Count(strings.Join(a.Asked(), "\n"), "grant_type=refresh_token"); n != 2 {
		t.Errorf("renewed %d times", n)
	}
	d.open()
	last := d.token(s, "")
	a.Forget(true)
	if _, err := d.Bearer(t.Context(), s, last); !errors.Is(err, ErrEnded) {
		t.Errorf("%v", err)
	}
}

// A login that is renewed while nobody waits for it any more is kept: the service
// has given the old one up.
func TestFault_F_PROV_RenewalIsNotLost(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	if _, err := d.in(a, s); err != nil {
		t.Fatal(err)
	}
	d.pass(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	a.Renewing = func(r *http.Request) {
		cancel()
		select { // a request that were given up would end here
		case <-r.Context().Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
	_, _ = d.Bearer(ctx, s, "")
	d.open()
	if token := d.token(s, ""); !a.Good(token) {
		t.Errorf("%q", token)
	}
}

// A token goes to the address that it was made for, not to one that has the same
// name in the settings now.
func TestSec_A_SEC_07_TokenStaysWithItsAddress(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	if _, err := d.in(a, s); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"http://127.0.0.1:1/mcp", a.URL + "/mcp2", a.URL, "https://evil.example/mcp"} {
		if token := d.token(Endpoint{ID: s.ID, URL: at}, ""); token != "" {
			t.Errorf("%s gets %q", at, token)
		}
	}
	if token := d.token(Endpoint{ID: "other", URL: s.URL}, ""); token != "" {
		t.Errorf("another server gets %q", token)
	}
}

// What a service says of itself is checked before anything is sent or opened.
func TestSec_A_SSRF_07_ServicesThatLie(t *testing.T) {
	for name, lie := range map[string]func(a *logintest.Authority){
		"for another resource": func(a *logintest.Authority) {
			a.Resource = func(m map[string]any) { m["resource"] = "https://bank.example/mcp" }
			a.Meta = func(m map[string]any) { m["issuer"] = "https://bank.example" }
		},
		"another issuer": func(a *logintest.Authority) { a.Meta = func(m map[string]any) { m["issuer"] = "https://bank.example" } },
		"a page in the clear": func(a *logintest.Authority) {
			a.Meta = func(m map[string]any) { m["authorization_endpoint"] = "http://bank.example/a" }
		},
		"a script": func(a *logintest.Authority) {
			a.Meta = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }
		},
		"register in the clear": func(a *logintest.Authority) {
			a.Meta = func(m map[string]any) { m["registration_endpoint"] = "http://bank.example/r" }
		},
		"a code in the clear": func(a *logintest.Authority) {
			a.Meta = func(m map[string]any) { m["token_endpoint"] = "http://bank.example/token" }
		},
		"no PKCE": func(a *logintest.Authority) {
			a.Meta = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		},
		"an authority by http": func(a *logintest.Authority) {
			a.Resource = func(m map[string]any) { m["authorization_servers"] = []string{"http://bank.example"} }
			a.Meta = func(m map[string]any) { m["issuer"] = "x" }
		},
	} {
		d := newDesk(t)
		a, s := guarded(t)
		lie(a)
		if st, err := d.Start(t.Context(), s); err == nil {
			t.Errorf("%s: it goes to %s", name, st.URL)
		}
		for _, asked := range a.Asked() {
			if !strings.HasPrefix(asked, "/register") {
				t.Errorf("%s: %s", name, asked)
			}
		}
	}
}

// Another authority that sends the browser back gets no code traded.
func TestSec_A_SEC_07_AuthoritiesAreNotMixedUp(t *testing.T) {
	for issuer, said := range map[string]bool{"https://evil.example": false, "https://evil.example/x": true, "": true} {
		d := newDesk(t)
		a, s := guarded(t)
		a.Issuer = issuer
		a.Meta = func(m map[string]any) { m["authorization_response_iss_parameter_supported"] = said }
		if end, err := d.in(a, s); err != nil || end.State != oauth.Failed {
			t.Errorf("%q: %+v %v", issuer, end, err)
		}
		for _, asked := range a.Asked() {
			if strings.HasPrefix(asked, "/token") {
				t.Errorf("%q: %s", issuer, asked)
			}
		}
	}
}

func TestClientMadeByHand(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	a.Known, a.Secret = "by-hand", "s3cret-of-the-client"
	a.Meta = func(m map[string]any) { delete(m, "registration_endpoint") }
	if _, err := d.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "mcp.servers.notes.oauth.clientId") {
		t.Fatal(err)
	}
	l := freePort(t)
	s.ClientID, s.Secret, s.Callback, s.Scope = "by-hand", a.Secret, fmt.Sprintf("http://localhost:%d/back", l), "only this"
	end, err := d.in(a, s)
	if err != nil || end.State != oauth.Done || !a.Good(d.token(s, "")) {
		t.Fatalf("%+v %v", end, err)
	}
	if asked := strings.Join(a.Asked(), "\n"); !strings.Contains(asked, "scope=only+this") ||
		!strings.Contains(asked, url.QueryEscape(s.Callback)) || strings.Contains(asked, "client_secret") {
		t.Error(asked)
	}
	d.pass(2 * time.Hour)
	if !a.Good(d.token(s, "")) {
		t.Error("it was not renewed")
	}
	s.Callback = "http://192.168.1.1:80/back"
	if _, err := d.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no address of this computer") {
		t.Error(err)
	}
}

func freePort(t *testing.T) (port int) {
	a := logintest.New(t, http.HandlerFunc(nothing))
	if _, err := fmt.Sscanf(a.URL, "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	a.Close()
	return port
}

func TestLogout(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	if ok, err := d.Forget(t.Context(), s.ID); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if _, err := d.in(a, s); err != nil {
		t.Fatal(err)
	}
	ok, err := d.Forget(t.Context(), s.ID)
	if !ok || err != nil || d.token(s, "") != "" || len(d.secrets.all) != 0 || len(d.changed) != 2 {
		t.Errorf("%v %v %v", ok, err, d.secrets.all)
	}
	if asked := strings.Join(a.Asked(), "\n"); !strings.Contains(asked, "/revoke") || !strings.Contains(asked, "token=refresh-") {
		t.Error(asked)
	}
}

func TestNoLoginNeeded(t *testing.T) {
	d := newDesk(t)
	open := httptest.NewServer(http.HandlerFunc(nothing))
	t.Cleanup(open.Close)
	if _, err := d.Start(t.Context(), Endpoint{ID: "x", URL: open.URL}); !errors.Is(err, ErrNotNeeded) {
		t.Error(err)
	}
}

// The place of the secrets is locked: that is said, not taken for no login.
func TestFault_F_CFG_05_LockedSecrets(t *testing.T) {
	d := newDesk(t)
	a, s := guarded(t)
	if _, err := d.in(a, s); err != nil {
		t.Fatal(err)
	}
	d.secrets.err = secret.ErrLocked
	d.open()
	if token, err := d.Bearer(t.Context(), s, ""); !errors.Is(err, secret.ErrLocked) || token != "" {
		t.Errorf("%q %v", token, err)
	}
	d.secrets.err = nil
	if !a.Good(d.token(s, "")) {
		t.Error("it is not found once it is unlocked")
	}
}
