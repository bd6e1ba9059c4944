package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is a login server over TLS.
type authority struct {
	*httptest.Server
	mu      sync.Mutex
	answers []string // of the token endpoint, in turn; the last one stays
	asked   []url.Values
	status  int
	codes   map[string]url.Values // code → what the authorize page was asked
	used    map[string]bool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{codes: map[string]url.Values{}, used: map[string]bool{}, status: http.StatusOK}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"device_code":"dc","user_code":"WDJB-MJHT","verification_uri":%q,"expires_in":900,"interval":5}`, a.URL+"/activate")
	})
	mux.HandleFunc("POST /token", a.token)
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		code := fmt.Sprint("code-", len(a.codes))
		a.codes[code] = r.URL.Query()
		a.mu.Unlock()
		back, _ := url.Parse(r.URL.Query().Get("redirect_uri"))
		q := url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}}
		if cb := r.URL.Query().Get("callback_url"); cb != "" {
			back, _ = url.Parse(cb)
			q = back.Query()
			q.Set("code", code)
		}
		back.RawQuery = q.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	})
	a.Server = httptest.NewTLSServer(mux)
	t.Cleanup(a.Close)
	return a
}

// token checks PKCE and that a code counts once, as a real one does.
func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	form := url.Values{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var m map[string]string
		_ = json.NewDecoder(r.Body).Decode(&m)
		for k, v := range m {
			form.Set(k, v)
		}
	} else {
		_ = r.ParseForm()
		form = r.PostForm
	}
	a.asked = append(a.asked, form)
	if code := form.Get("code"); code != "" {
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		q, ok := a.codes[code]
		if !ok || a.used[code] || q.Get("code_challenge_method") != "S256" ||
			q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			q.Get("redirect_uri") != form.Get("redirect_uri") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"wrong code"}`)
			return
		}
		a.used[code] = true
	}
	if len(a.answers) == 0 {
		_, _ = io.WriteString(w, `{"access_token":"tok","refresh_token":"ref","token_type":"Bearer","expires_in":3600}`)
		return
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.answers[0])
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
}

func (a *authority) service(kind string) Issuer {
	return Issuer{ID: "test", Name: "Test", Kind: kind, Registered: Registered{ClientID: "client"}, Scopes: []string{"read", "write"},
		DeviceURL: a.URL + "/device", AuthorizeURL: a.URL + "/authorize?tenant=1", TokenURL: a.URL + "/token"}
}

// clock is time that passes only while somebody waits.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	waits []time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) wait(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	c.waits = append(c.waits, d)
	return nil
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)} }

func TestDevice(t *testing.T) {
	a, k := newAuthority(t), newClock()
	a.answers = []string{`{"error":"authorization_pending"}`, `{"error":"slow_down"}`,
		`{"access_token":"tok","token_type":"bearer","expires_in":"3600"}`}
	d, err := New(Options{HTTP: a.Client(), Now: k.now, Wait: k.wait}).Device(t.Context(), a.service(KindDevice))
	if err != nil || d.Code != "WDJB-MJHT" || d.URL != a.URL+"/activate" {
		t.Fatal(d, err)
	}
	tok, err := d.Await(t.Context())
	if err != nil || tok.Access != "tok" || !tok.Expires.Equal(k.now().Add(time.Hour)) {
		t.Errorf("got %q until %v, %v", tok.Access, tok.Expires, err)
	}
	if got := fmt.Sprint(k.waits); got != "[5s 5s 10s]" {
		t.Errorf("waits are %s", got)
	}
	if q := a.asked[0]; q.Get("device_code") != "dc" || q.Get("client_id") != "client" ||
		q.Get("grant_type") != "urn:ietf:params:oauth:grant-type:device_code" {
		t.Errorf("asked %v", q)
	}
}

func TestDevice_ends(t *testing.T) {
	for answer, want := range map[string]error{
		`{"error":"access_denied"}`: ErrDenied, `{"error":"expired_token"}`: ErrExpired, `{"error":"authorization_pending"}`: ErrExpired,
	} {
		a, k := newAuthority(t), newClock()
		a.answers, a.status = []string{answer}, http.StatusBadRequest
		d, err := New(Options{HTTP: a.Client(), Now: k.now, Wait: k.wait}).Device(t.Context(), a.service(KindDevice))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Await(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s ends with %v", answer, err)
		}
	}
}

// visit follows the browser's way.
func visit(t *testing.T, a *authority, to string) (status int, body string) {
	t.Helper()
	resp, err := a.Client().Get(to)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw)
}

// hang waits until it is given up: time stands still.
func hang(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }

func TestBrowser(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		a := newAuthority(t)
		s := a.service(KindBrowser)
		if s.KeyExchange = keyed; keyed {
			a.answers = []string{`{"key":"sk-or-1"}`}
		}
		b, err := New(Options{HTTP: a.Client(), Wait: hang}).Browser(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan Tokens, 1)
		go func() {
			tok, err := b.Await(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- tok
		}()
		status, body := visit(t, a, b.URL)
		if status != http.StatusOK || !strings.Contains(body, "logged in") {
			t.Errorf("the browser sees %d %s", status, body)
		}
		if tok := <-got; keyed && (tok.Access != "sk-or-1" || !tok.IsKey) || !keyed && (tok.Access != "tok" || tok.Refresh != "ref") {
			t.Errorf("got %q", tok.Access)
		}
	}
}

// A-SEC-11: wrong state, replayed code, foreign callback.
func TestSec_A_SEC_11_OnlyTheRightWayBackCounts(t *testing.T) {
	a := newAuthority(t)
	b, err := New(Options{HTTP: a.Client(), Wait: hang}).Browser(t.Context(), a.service(KindBrowser))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := b.Await(t.Context()); ended <- err }()
	get := func(method, path, host, query string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.host+path+"?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	good := "code=c&state=" + url.QueryEscape(b.state)
	for name, status := range map[string]int{
		"no state":        get("GET", b.path, b.host, "code=evil"),
		"wrong state":     get("GET", b.path, b.host, "code=evil&state=x"),
		"two states":      get("GET", b.path, b.host, good+"&state=x"),
		"foreign path":    get("GET", "/callback", b.host, good),
		"foreign host":    get("GET", b.path, "evil.example", good),
		"wrong method":    get("POST", b.path, b.host, good),
		"error no state":  get("GET", b.path, b.host, "error=access_denied"),
		"state, not code": get("GET", b.path, b.host, "state="+url.QueryEscape(b.state)),
	} {
		if status != http.StatusNotFound && status != http.StatusBadRequest {
			t.Errorf("%s gives %d", name, status)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("a foreign callback ended the login: %v", err)
	default:
	}
	if status, _ := visit(t, a, b.URL); status != http.StatusOK {
		t.Errorf("the right way back gives %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// The port is closed, and the code is spent at the service too.
	if _, err := (&http.Client{}).Get(b.callback + "?" + good); err == nil {
		t.Error("the way back is still open after the login")
	}
	if _, err := b.exchange(t.Context(), "code-0"); err == nil {
		t.Error("a code counts twice")
	}
}

func TestSec_A_SEC_11_OneUse(t *testing.T) {
	a := newAuthority(t)
	b, err := New(Options{HTTP: a.Client(), Wait: hang}).Browser(t.Context(), a.service(KindBrowser))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	codes := []int{}
	for range 2 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", b.callback+"?code=c&state="+url.QueryEscape(b.state), nil)
		b.ServeHTTP(w, r)
		codes = append(codes, w.Code)
	}
	if codes[0] != http.StatusOK || codes[1] != http.StatusGone {
		t.Errorf("two visits give %v", codes)
	}
}

func TestSec_A_SEC_11_RandomAndShortLived(t *testing.T) {
	a := newAuthority(t)
	k := newClock()
	c := New(Options{HTTP: a.Client(), Now: k.now, Wait: k.wait})
	seen := map[string]bool{}
	for range 8 {
		b, err := c.Browser(t.Context(), a.service(KindBrowser))
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Expires.Sub(k.now()); got != 5*time.Minute {
			t.Errorf("open for %v", got)
		}
		if strings.Contains(b.URL, b.verifier) {
			t.Error("the verifier is in the address")
		}
		for _, s := range []string{b.path, b.state, b.verifier} {
			if len(s) < 24 || seen[s] {
				t.Errorf("%q is no chance", s)
			}
			seen[s] = true
		}
		if _, err := b.Await(t.Context()); !errors.Is(err, ErrExpired) {
			t.Errorf("nobody came, and it ends with %v", err)
		}
	}
}

// A-SEC-06: codes and tokens go to the service's own https address only.
func TestSec_A_SEC_06_LoginFollowsNoRedirectAndNoPlainText(t *testing.T) {
	stolen := 0
	thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen++ }))
	defer thief.Close()
	moved := httptest.NewTLSServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	c := New(Options{HTTP: moved.Client()})
	for _, to := range []string{moved.URL, "http://" + strings.TrimPrefix(thief.URL, "https://")} {
		if _, err := c.Renew(t.Context(), Issuer{TokenURL: to}, "refresh"); err == nil || strings.Contains(err.Error(), "refresh_token") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if stolen > 0 {
		t.Error("a refresh token went somewhere else")
	}
	if _, err := c.Browser(t.Context(), Issuer{AuthorizeURL: "http://login.example/"}); err == nil {
		t.Error("a login page without TLS is taken")
	}
}

func TestRenew(t *testing.T) {
	for answer, want := range map[string]string{
		`{"access_token":"n","refresh_token":"r","expires_in":60}`:  "",
		`{"error":"invalid_grant"}`:                                 ErrEnded.Error(),
		`{"error":"server_error","error_description":"try\nlater"}`: "try later",
		`{"access_token":"with space"}`:                             "without a token",
		`{"access_token":"n","token_type":"mac"}`:                   "mac",
		`<html>`: "no login",
		`{}`:     "without a token",
	} {
		a := newAuthority(t)
		a.answers = []string{answer}
		_, err := New(Options{HTTP: a.Client()}).Renew(t.Context(), a.service(KindBrowser), "old")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", answer, err)
		}
		if q := a.asked[0]; q.Get("grant_type") != "refresh_token" || q.Get("refresh_token") != "old" {
			t.Errorf("asked %v", q)
		}
	}
}

func TestFlows(t *testing.T) {
	a, k := newAuthority(t), newClock()
	kept := make(chan string, 1)
	f := NewFlows(t.Context(), New(Options{HTTP: a.Client(), Now: k.now, Wait: k.wait}),
		func(_ context.Context, s Issuer, tok Tokens) (string, error) {
			kept <- tok.Access
			return s.ID + ":default", nil
		})
	st, err := f.Start(t.Context(), a.service(KindDevice))
	if err != nil {
		t.Fatal(err)
	}
	end, err := f.Wait(t.Context(), st.ID)
	if err != nil || end.State != Done || end.Account != "test:default" || <-kept != "tok" {
		t.Errorf("%+v, %v", end, err)
	}
	if _, err := f.Wait(t.Context(), "nobody"); !errors.Is(err, ErrNoFlow) {
		t.Error(err)
	}
}

func TestFlows_cancelAndRoom(t *testing.T) {
	a := newAuthority(t)
	f := NewFlows(t.Context(), New(Options{HTTP: a.Client(), Wait: hang}), nil)
	var first, st Started
	for i := range maxFlows + 1 {
		var err error
		if st, err = f.Start(t.Context(), a.service(KindBrowser)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = st
		}
	}
	if len(f.all) != maxFlows {
		t.Errorf("%d logins are under way", len(f.all))
	}
	_ = first
	if !f.Cancel(st.ID) {
		t.Error("not there")
	}
	if end, err := f.Wait(t.Context(), st.ID); err != nil || end.State != Failed {
		t.Errorf("%+v, %v", end, err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"access_token":"a","expires_in":"1e99"}`, `{"error":"x","error_description":"\u202e"}`,
		`{"expires_in":-1,"key":"k"}`, `[]`} {
		f.Add(s)
	}
	c := New(Options{})
	f.Fuzz(func(t *testing.T, s string) {
		var a answer
		if json.Unmarshal([]byte(s), &a) != nil {
			return
		}
		if tok, err := c.tokens(a); err == nil && (tok.Access == "" || strings.ContainsAny(tok.Access, " \n")) {
			t.Errorf("%q is taken as the token %q", s, tok.Access)
		}
	})
}
