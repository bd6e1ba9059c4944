package keychain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// fakeRing is a keychain in memory, with the traps of real ones.
type fakeRing struct {
	mu    sync.Mutex
	items map[string]string
	hang  chan struct{}
}

func (f *fakeRing) wait() {
	if f.hang != nil {
		<-f.hang
	}
}

func (f *fakeRing) Get(s, u string) (string, error) {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, ok := f.items[s+"/"+u]; ok {
		return v, nil
	}
	return "", keyring.ErrNotFound
}

func (f *fakeRing) Set(s, u, p string) error {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p) > 2560 {
		return keyring.ErrSetDataTooBig
	}
	f.items[s+"/"+u] = p
	return nil
}

func (f *fakeRing) Delete(s, u string) error {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.items[s+"/"+u]; !ok {
		return keyring.ErrNotFound
	}
	delete(f.items, s+"/"+u)
	return nil
}

func withRing(t *testing.T, state *State) (*Keychain, *fakeRing) {
	t.Helper()
	r := &fakeRing{items: map[string]string{}}
	return New(Options{Dir: t.TempDir(), Now: time.Now, ring: r, probe: func(context.Context) State { return *state }}), r
}

func TestSmallAndLarge(t *testing.T) {
	state := Ready
	k, r := withRing(t, &state)
	big := strings.Repeat("canary-large-", 1000)
	for _, v := range []string{"small", big, "small again", big + "x"} {
		if err := k.Set(t.Context(), "n", secret.New(v)); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Get(t.Context(), "n"); err != nil || got.Reveal() != v {
			t.Fatalf("%d bytes came back as %d: %v", len(v), len(got.Reveal()), err)
		}
	}
	if len(r.items) != 1 { // the key of the file; the small value went with the change
		t.Errorf("%d items are left in the keychain", len(r.items))
	}
	if b, err := os.ReadFile(filepath.Join(k.opts.Dir, "secrets.sealed")); err != nil || strings.Contains(string(b), "canary") {
		t.Error("the large secret is readable", err)
	}
	if err := k.Delete(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secret.ErrNotFound) {
		t.Error(err)
	}
}

func TestItemDeletedUnderUs(t *testing.T) {
	state := Ready
	k, r := withRing(t, &state)
	if err := k.Set(t.Context(), "n", secret.New("v")); err != nil {
		t.Fatal(err)
	}
	clear(r.items)
	if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secret.ErrNotFound) || !strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
	if err := k.Delete(t.Context(), "n"); err != nil {
		t.Error("the name of what is gone cannot be removed:", err)
	}
}

func TestStatesAreNeverAsked(t *testing.T) {
	state := Ready
	k, r := withRing(t, &state)
	if err := k.Set(t.Context(), "n", secret.New("v")); err != nil {
		t.Fatal(err)
	}
	r.hang = make(chan struct{}) // a call would hang
	for s, want := range map[State]error{
		Locked: secret.ErrLocked, NoBus: secret.ErrUnavailable, NoService: secret.ErrUnavailable, NoCollection: secret.ErrUnavailable,
		Failed: secret.ErrUnavailable,
	} {
		state = s
		if _, err := k.Get(t.Context(), "n"); !errors.Is(err, want) {
			t.Errorf("%s: %v", s, err)
		}
		if err := k.Set(t.Context(), "n", secret.New("w")); !errors.Is(err, want) {
			t.Errorf("%s: %v", s, err)
		}
		if list, err := k.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%s: the names need no keychain: %v", s, err)
		}
	}
}

func TestFault_F_CFG_05_HungKeychain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := Ready
		k, r := withRing(t, &state)
		if err := k.Set(t.Context(), "n", secret.New("v")); err != nil {
			t.Fatal(err)
		}
		r.hang = make(chan struct{})
		start := time.Now()
		if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secret.ErrUnavailable) || time.Since(start) != patience {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		start = time.Now()
		if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secret.ErrUnavailable) || time.Since(start) != 0 {
			t.Errorf("the second call waited %v: %v", time.Since(start), err)
		}
		close(r.hang)
		synctest.Wait()
		if v, err := k.Get(t.Context(), "n"); err != nil || v.Reveal() != "v" {
			t.Error("it does not recover:", err)
		}
	})
}

func TestTwoHomesDoNotMeet(t *testing.T) {
	state := Ready
	a, r := withRing(t, &state)
	b := New(Options{Dir: t.TempDir(), Now: time.Now, ring: r, probe: a.opts.probe})
	for k, v := range map[*Keychain]string{a: "of a", b: "of b"} {
		if err := k.Set(t.Context(), "n", secret.New(v)); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := a.Get(t.Context(), "n"); err != nil || v.Reveal() != "of a" {
		t.Error("another state folder changed it", err)
	}
}
