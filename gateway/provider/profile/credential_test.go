package profile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const anthropicHost = "api.anthropic.com"

// login adds a login that has ended.
func (w *world) login() {
	w.Helper()
	c := Credential{Type: OAuth, Access: "old", Refresh: "r0", Expires: w.clock().Add(-time.Hour), Email: "me@example.com", AccountID: "acct"}
	if err := w.Add(w.Context(), Profile{ID: one, Provider: "anthropic", Type: OAuth}, c); err != nil {
		w.Fatal(err)
	}
}

func TestFault_F_PROV_21_FiftyCallsOneRenewal(t *testing.T) {
	var renewals atomic.Int32
	var w *world
	release := make(chan struct{})
	w = newWorld(t, Options{Renew: func(_ context.Context, _ Profile, c Credential) (Credential, error) {
		<-release
		n := renewals.Add(1)
		return Credential{Access: fmt.Sprint("new", n), Refresh: fmt.Sprint("r", n), Expires: w.clock().Add(time.Hour)}, nil
	}})
	w.login()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			c, err := w.Credential(t.Context(), one, anthropicHost)
			if err != nil || c.Value() != "new1" {
				t.Errorf("got %q, %v", c.Value(), err)
			}
			if stored, _ := w.mem.Get(t.Context(), VaultName(one)); !strings.Contains(stored, "new1") || !strings.Contains(stored, `"r1"`) {
				t.Error("a new login is used before it is stored")
			}
		})
	}
	close(release)
	wg.Wait()
	if renewals.Load() != 1 {
		t.Errorf("%d renewals", renewals.Load())
	}
	if c, _ := w.Credential(t.Context(), one, anthropicHost); c.AccountID != "acct" || c.Email != "me@example.com" {
		t.Error("a renewal forgot whose login it is")
	}
}

func TestFault_F_PROV_21_NotUsedBeforeItIsStored(t *testing.T) {
	renewals := 0
	var w *world
	w = newWorld(t, Options{Renew: func(context.Context, Profile, Credential) (Credential, error) {
		renewals++
		return Credential{Access: fmt.Sprint("new", renewals), Refresh: "r1", Expires: w.clock().Add(time.Hour)}, nil
	}})
	w.login()
	w.mem.refuse = errors.New("the keychain is locked")
	if _, err := w.Credential(t.Context(), one, anthropicHost); reason(err) != ReasonVault || !strings.Contains(err.Error(), "locked") {
		t.Fatalf("got %v", err)
	}
	w.mem.refuse = nil
	if c, err := w.Credential(t.Context(), one, anthropicHost); err != nil || c.Value() != "new1" {
		t.Errorf("got %q, %v; the login that could not be stored is lost", c.Value(), err)
	}
	if renewals != 1 {
		t.Errorf("%d renewals: the old refresh token was used again", renewals)
	}
}

func TestFault_F_PROV_21_AnotherProcessWasFaster(t *testing.T) {
	var w *world
	w = newWorld(t, Options{
		Renew: func(context.Context, Profile, Credential) (Credential, error) {
			t.Error("renewed a login that was new already")
			return Credential{}, errors.New("no")
		},
		Lock: func(ctx context.Context, id string) (func(), error) { // the other one ends while we wait
			return func() {}, w.write(ctx, id, Credential{Type: OAuth, Access: "theirs", Refresh: "r9", Expires: w.clock().Add(time.Hour)})
		},
	})
	w.login()
	w.rows[one].cred = nil
	if c, err := w.Credential(t.Context(), one, anthropicHost); err != nil || c.Value() != "theirs" {
		t.Errorf("got %q, %v", c.Value(), err)
	}
}

func TestRenewal_endedLoginSaysLogInAgain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{{ErrLoginEnded, ReasonLogin}, {errors.New("no connection"), ReasonRenew}} {
		w := newWorld(t, Options{Renew: func(context.Context, Profile, Credential) (Credential, error) { return Credential{}, tt.err }})
		w.login()
		if _, err := w.Credential(t.Context(), one, anthropicHost); reason(err) != tt.want {
			t.Errorf("%v gives %v", tt.err, err)
		}
	}
}

func TestRenewal_goesOnWhenTheCallEnds(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{})
	var w *world
	w = newWorld(t, Options{Renew: func(ctx context.Context, _ Profile, _ Credential) (Credential, error) {
		close(started)
		<-release
		return Credential{Access: "new", Refresh: "r1", Expires: w.clock().Add(time.Hour)}, ctx.Err()
	}})
	w.login()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := w.Credential(ctx, one, anthropicHost)
		gone <- err
	}()
	<-started
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if c, err := w.Credential(t.Context(), one, anthropicHost); err != nil || c.Value() != "new" {
		t.Errorf("got %q, %v", c.Value(), err)
	}
}

func TestRenewal_removedMeanwhileStaysRemoved(t *testing.T) {
	var w *world
	w = newWorld(t, Options{Renew: func(ctx context.Context, p Profile, _ Credential) (Credential, error) {
		if _, err := w.Remove(ctx, p.ID); err != nil {
			t.Error(err)
		}
		delete(w.mem.secrets, VaultName(p.ID))
		return Credential{Access: "new", Refresh: "r1"}, nil
	}})
	w.login()
	if _, err := w.Credential(t.Context(), one, anthropicHost); reason(err) != ReasonMissing {
		t.Errorf("got %v", err)
	}
	if len(w.mem.secrets) != 0 {
		t.Error("the login of a removed account was stored again")
	}
}

// A-SEC-07: a key goes only to the hosts that it was given for.
func TestSec_A_SEC_07_KeyStaysWithItsHost(t *testing.T) {
	s := Settings{Hosts: hosts, Implicit: []Implicit{{Profile: Profile{"anthropic:default", "anthropic", APIKey, ""}, Source: SourceConfig,
		Key: "configured"}}}
	w := newWorld(t, Options{Settings: s})
	w.add(one, APIKey)
	moved := s
	moved.Hosts = map[string]string{"anthropic": "evil.example"}
	w.Configure(t.Context(), moved)
	for _, id := range []string{one, "anthropic:default"} {
		for _, host := range []string{"evil.example", "http://api.anthropic.com", "api.anthropic.com:8443", ThisComputer, ""} {
			c, err := w.Credential(t.Context(), id, host)
			if reason(err) != ReasonHost || c.Value() != "" {
				t.Errorf("%s to %q: %v", id, host, err)
			}
			if err != nil && strings.Contains(err.Error(), "key-of") {
				t.Error("the error has the key")
			}
		}
		if _, err := w.Credential(t.Context(), id, anthropicHost); err != nil {
			t.Errorf("%s to its own host: %v", id, err)
		}
		if ok, err := w.Allow(t.Context(), id, "https://evil.example/v1"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := w.Credential(t.Context(), id, "evil.example"); err != nil {
			t.Errorf("%s after consent: %v", id, err)
		}
	}
	// A restart with the other address does not bind an old key anew.
	w.mem.rows["anthropic:default"] = Record{Profile: s.Implicit[0].Profile, Hosts: []string{anthropicHost}, Mark: markOf("configured")}
	b, err := Open(t.Context(), Options{State: w.mem, Vault: w.mem, Settings: moved})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Credential(t.Context(), "anthropic:default", "evil.example"); reason(err) != ReasonHost {
		t.Errorf("after a restart: %v", err)
	}
	// A new key with the new address is what the person wants.
	moved.Implicit = []Implicit{{Profile: s.Implicit[0].Profile, Source: SourceConfig, Key: "another"}}
	b.Configure(t.Context(), moved)
	if _, err := b.Credential(t.Context(), "anthropic:default", "evil.example"); err != nil {
		t.Errorf("a new key for the new address: %v", err)
	}
}

func TestOrigin(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.openai.com/v1":      "api.openai.com",
		"https://API.OpenAI.com.:443/v1": "api.openai.com",
		"https://api.openai.com:8443":    "api.openai.com:8443",
		"http://10.0.0.2:8000/v1":        "http://10.0.0.2:8000",
		"http://127.0.0.1:11434":         ThisComputer,
		"https://localhost:1":            ThisComputer,
		"http://[::1]:1":                 ThisComputer,
		"https://[2001:db8::1]/":         "[2001:db8::1]",
		"https://user:pw@evil.example/":  "evil.example",
		"":                               "",
		"api.openai.com":                 "",
	} {
		if got := Origin(in); got != want {
			t.Errorf("%q has the origin %q, want %q", in, got, want)
		}
	}
}

func TestSec_A_SEC_02_CredentialNeverPrints(t *testing.T) {
	c := Credential{Type: APIKey, Key: "canary", Access: "canary", Refresh: "canary"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if s := fmt.Sprintf(verb+" "+verb, c, &c); strings.Contains(s, "canary") || strings.Contains(s, "63616e617279") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	if s := c.LogValue().String(); strings.Contains(s, "canary") {
		t.Error(s)
	}
}

func TestAdd_refusesWhatIsNoKey(t *testing.T) {
	w := newWorld(t, Options{})
	for _, key := range []string{"", "two words", "line\n", "schlüssel", strings.Repeat("x", 64<<10+1)} {
		if err := w.Add(t.Context(), Profile{ID: one, Provider: "anthropic", Type: APIKey},
			Credential{Type: APIKey, Key: key}); reason(err) != ReasonName {
			t.Errorf("%.20q: %v", key, err)
		}
	}
	for _, id := range []string{"", "anthropic", "openai:x", "anthropic:", "anthropic:a b", "anthropic:../x"} {
		if err := w.Add(t.Context(), Profile{ID: id, Provider: "anthropic", Type: APIKey},
			Credential{Type: APIKey, Key: "key"}); reason(err) != ReasonName {
			t.Errorf("%q: %v", id, err)
		}
	}
	if len(w.mem.secrets) != 0 {
		t.Error("something was stored")
	}
}

func TestCredential_deletedUnderUs(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	clear(w.mem.secrets)
	w.rows[one].cred = nil // after a restart
	if _, err := w.Credential(t.Context(), one, anthropicHost); reason(err) != ReasonMissing {
		t.Errorf("got %v", err)
	}
	if _, err := w.Credential(t.Context(), "anthropic:none", anthropicHost); reason(err) != ReasonMissing {
		t.Errorf("got %v", err)
	}
}

func TestAccounts(t *testing.T) {
	w := newWorld(t, Options{
		Settings: Settings{Profiles: []Profile{{ID: "openai:work", Provider: "openai", Type: OAuth, Email: "me@example.com"}}}})
	w.login()
	all := w.Accounts()
	if len(all) != 2 || all[0].ID != one || all[0].Missing || all[0].Expires.IsZero() || all[1].ID != "openai:work" || !all[1].Missing {
		t.Errorf("accounts are %+v", all)
	}
}

func TestCredential_thatLiesElsewhere(t *testing.T) {
	for _, tt := range []struct {
		value string
		err   error
		want  string
	}{{" key\n", nil, ""}, {"", errors.New("the keychain is locked"), ReasonVault}, {"", nil, ReasonName}} {
		im := Implicit{Profile: Profile{"anthropic:default", "anthropic", APIKey, ""}, Source: SourceConfig, Key: "keychain:work",
			Resolve: func(context.Context) (string, error) { return tt.value, tt.err }}
		w := newWorld(t, Options{Settings: Settings{Hosts: hosts, Implicit: []Implicit{im}}})
		c, err := w.Credential(t.Context(), "anthropic:default", anthropicHost)
		if reason(err) != tt.want || err == nil && c.Value() != "key" {
			t.Errorf("%q, %v gives %q, %v", tt.value, tt.err, c.Value(), err)
		}
	}
}
