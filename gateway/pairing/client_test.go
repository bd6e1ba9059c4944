package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type clientRows struct {
	mu   sync.Mutex
	rows map[string]Client
	fail error
}

func (s *clientRows) Load(context.Context) ([]Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Client
	for _, c := range s.rows {
		out = append(out, c)
	}
	return out, s.fail
}

func (s *clientRows) Save(_ context.Context, c Client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if s.rows == nil {
		s.rows = map[string]Client{}
	}
	s.rows[c.ID] = c
	return nil
}

func (s *clientRows) Forget(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, id)
	return s.fail
}

func newClients(t testing.TB, c *clock, store ClientStore) *Clients {
	t.Helper()
	all, err := NewClients(t.Context(), ClientOptions{Store: store, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (c *Clients) make(t testing.TB, name string, life time.Duration, scopes ...ClientScope) (Client, string) {
	t.Helper()
	one, token, err := c.Create(t.Context(), name, scopes, life)
	if err != nil {
		t.Fatal(err)
	}
	return one, token
}

func (c *Clients) knock(t testing.TB, token string, need ClientScope) (*Visit, error) {
	t.Helper()
	v, err := c.Admit(t.Context(), AccessRequest{Token: token, Source: netip.MustParseAddr("127.0.0.1"), Need: need})
	if err == nil {
		t.Cleanup(v.Release)
	}
	return v, err
}

func TestClientTokenSurvivesARestartAndIsNotKept(t *testing.T) {
	store, c := &clientRows{}, newClock()
	one, token := newClients(t, c, store).make(t, "notebook", 0, ClientModels, ClientChat, ClientChat)
	if one.Scopes[0] != ClientChat || len(one.Scopes) != 2 {
		t.Errorf("scopes: %v", one.Scopes)
	}
	saved, err := json.Marshal(store.rows)
	if err != nil {
		t.Fatal(err)
	}
	if secret := strings.SplitN(token, "_", 3)[2]; strings.Contains(string(saved), secret) || len(secret) < 20 {
		t.Errorf("the token is in the store: %s", saved)
	}
	again := newClients(t, c, store)
	v, err := again.knock(t, token, ClientChat)
	if err != nil || v.Client.Name != "notebook" || !v.Noted {
		t.Fatal(v, err)
	}
	if v, err := again.knock(t, token, ClientModels); err != nil || v.Noted {
		t.Errorf("a second request in the same minute: %v %v", v, err)
	}
	if at := again.List()[0].LastUsedAtMs; at != c.now().UnixMilli() || store.rows[one.ID].LastUsedAtMs != at {
		t.Errorf("last used %d", at)
	}
}

// A-NET-20: each right is asked for by name; none follows from another.
func TestSec_A_NET_20_EachRightOpensOnlyItself(t *testing.T) {
	c := newClients(t, newClock(), &clientRows{})
	for _, has := range ClientScopes() {
		all := []ClientScope{has}
		if has == ClientOwner { // alone it opens nothing, and is not given
			all = append(all, ClientMCP)
		}
		_, token := c.make(t, string(has), 0, all...)
		for _, need := range append(ClientScopes(), "", "admin") {
			_, err := c.knock(t, token, need)
			var scope *ClientScopeError
			if (err == nil) != slices.Contains(all, need) || err != nil && !errors.As(err, &scope) {
				t.Errorf("a token for %s at %q: %v", has, need, err)
			}
		}
	}
}

func TestSec_A_NET_12_RevokingEndsAClient(t *testing.T) {
	store, clock := &clientRows{}, newClock()
	c := newClients(t, clock, store)
	one, token := c.make(t, "notebook", 0, ClientChat)
	_, other := c.make(t, "other", 0, ClientChat)
	v, err := c.knock(t, token, ClientChat)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := v.Bind(t.Context())
	defer cancel()
	stays, err := c.knock(t, other, ClientChat)
	if err != nil {
		t.Fatal(err)
	}
	store.fail = errors.New("no space left on device") // the requests end all the same
	if _, err := c.Revoke(t.Context(), "Notebook"); err == nil {
		t.Error("a revocation that is not durable was called done")
	}
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), ErrClientUnknown) {
		t.Error(context.Cause(ctx))
	}
	select {
	case <-stays.Ended():
		t.Error("another program was cut off too")
	default:
	}
	store.fail = nil
	if _, err := c.Revoke(t.Context(), one.ID); err != nil {
		t.Error(err)
	}
	for name, reg := range map[string]*Clients{"same process": c, "after a restart": newClients(t, clock, store)} {
		if _, err := reg.knock(t, token, ClientChat); !errors.Is(err, ErrClientUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A new token of the same name is another one (A-NET-13).
	if _, again := c.make(t, "notebook", 0, ClientChat); again == token {
		t.Error("the same token")
	}
	if _, err := c.knock(t, token, ClientChat); !errors.Is(err, ErrClientUnknown) {
		t.Errorf("the old token works again: %v", err)
	}
	if _, err := c.Revoke(t.Context(), "nobody"); !errors.Is(err, ErrNoClient) {
		t.Error(err)
	}
}

func TestClientTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := NewClients(t.Context(), ClientOptions{Store: &clientRows{}})
		if err != nil {
			t.Fatal(err)
		}
		_, token := c.make(t, "guest", time.Hour, ClientChat)
		v, err := c.knock(t, token, ClientChat)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := v.Bind(t.Context())
		defer cancel()
		at := time.Now()
		<-ctx.Done()
		if time.Since(at) != time.Hour || !errors.Is(context.Cause(ctx), ErrClientUnknown) {
			t.Errorf("after %s: %v", time.Since(at), context.Cause(ctx))
		}
		if _, err := c.knock(t, token, ClientChat); !errors.Is(err, ErrClientUnknown) {
			t.Error(err)
		}
		c.make(t, "guest", 0, ClientChat) // the name is free again
		<-time.After(keepRevoked + time.Hour)
		c.make(t, "another", 0, ClientChat)
		if n := len(c.List()); n != 2 {
			t.Errorf("%d tokens are listed after a long time", n)
		}
	})
}

// A-NET-03, A-NET-27: all wrong tokens look the same.
func TestSec_A_NET_27_WrongTokensLookTheSame(t *testing.T) {
	c, clock := &clientRows{}, newClock()
	all := newClients(t, clock, c)
	one, token := all.make(t, "notebook", time.Hour, ClientChat)
	gone, revoked := all.make(t, "gone", 0, ClientChat)
	if _, err := all.Revoke(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		"", "x", tokenHead, tokenHead + "_", tokenHead + one.ID, tokenHead + one.ID + "_", token + "x", token[:len(token)-1], revoked,
		strings.ToUpper(token), " " + token, one.Digest, one.ID,
	} {
		clock.forward(time.Minute / maxFailures)                                // slowly enough for the throttle
		if _, err := all.knock(t, wrong, ClientChat); err != ErrClientUnknown { //nolint:errorlint // exactly this one, with nothing around it
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, err := all.knock(t, token, ClientChat); err != nil {
		t.Errorf("the right one: %v", err)
	}
	clock.forward(time.Hour)
	if _, err := all.knock(t, token, ClientChat); err != ErrClientUnknown { //nolint:errorlint // as above
		t.Errorf("expired: %v", err)
	}
}

func TestSec_A_NET_04_WrongTokensAreThrottled(t *testing.T) {
	clock := newClock()
	c := newClients(t, clock, &clientRows{})
	one, token := c.make(t, "notebook", 0, ClientChat)
	_, other := c.make(t, "other", 0, ClientChat)
	var wait *ClientWaitError
	for _, wrong := range []string{"stranger", tokenHead + one.ID + "_wrong"} {
		answered := 0
		for range 200 {
			_, err := c.knock(t, wrong, ClientChat)
			if errors.Is(err, ErrClientUnknown) {
				answered++
			} else if !errors.As(err, &wait) || wait.Wait <= 0 {
				t.Fatal(err)
			}
		}
		if answered != maxFailures {
			t.Errorf("%q: %d were answered", wrong, answered)
		}
	}
	if _, err := c.knock(t, other, ClientChat); err != nil {
		t.Errorf("strangers lock a program out: %v", err)
	}
	if _, err := c.knock(t, token, ClientChat); !errors.As(err, &wait) {
		t.Errorf("guessing at one token goes on: %v", err)
	}
	clock.forward(lockFor)
	if _, err := c.knock(t, token, ClientChat); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

// Many requests at the same time with the right token all get in.
func TestManyRequestsOfOneClient(t *testing.T) {
	c := newClients(t, newClock(), &clientRows{})
	_, token := c.make(t, "notebook", 0, ClientChat)
	var work sync.WaitGroup
	for range 200 {
		work.Go(func() {
			if _, err := c.knock(t, token, ClientChat); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}

func TestClientWishesAreJudged(t *testing.T) {
	c := newClients(t, newClock(), &clientRows{})
	chat := []ClientScope{ClientChat}
	c.make(t, "taken", 0, ClientChat)
	for _, x := range []struct {
		name   string
		scopes []ClientScope
		life   time.Duration
	}{
		{"", chat, 0}, {" x", chat, 0}, {"Taken", chat, 0}, {"a\nb", chat, 0}, {"a\x1b[31m", chat, 0}, {"\xff", chat, 0},
		{strings.Repeat("x", 61), chat, 0},
		{"a\u202eb", chat, 0}, {"none", nil, 0}, {"alone", []ClientScope{ClientOwner}, 0}, {"what", []ClientScope{"admin"}, 0},
		{"short", chat, time.Second}, {"past", chat, -time.Hour}, {"long", chat, 11 * 365 * 24 * time.Hour},
	} {
		var input *ClientInputError
		if _, token, err := c.Create(t.Context(), x.name, x.scopes, x.life); !errors.As(err, &input) || token != "" {
			t.Errorf("%+v: %v", x, err)
		}
	}
	for i := range maxClients - 1 {
		c.make(t, strings.Repeat("n", 3)+string(rune('a'+i%26))+string(rune('a'+i/26)), 0, ClientChat)
	}
	if _, _, err := c.Create(t.Context(), "one too many", chat, 0); err == nil {
		t.Error("there is no limit")
	}
}

func TestATokenThatIsNotSavedIsNotGiven(t *testing.T) {
	store := &clientRows{fail: errors.New("no space left on device")}
	c, err := NewClients(t.Context(), ClientOptions{Store: &clientRows{}})
	if err != nil {
		t.Fatal(err)
	}
	c.store = store
	if _, token, err := c.Create(t.Context(), "x", []ClientScope{ClientChat}, 0); err == nil || token != "" || len(c.List()) != 0 {
		t.Errorf("%q %v", token, err)
	}
}
