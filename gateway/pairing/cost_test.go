package pairing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/protocol/devicetest"
)

// What costs something is done one at a time, however many ask for it at once, and
// what can be refused without it is.
func TestSec_A_DOS_12_SignaturesAreCheckedOneAtATime(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	known := newKey(t)
	r.grant(t, try{key: known, auth: shared(), scopes: scopes(protocol.ScopeRead)})
	var now, most, all atomic.Int64
	check := r.verify
	r.verify = func(p *protocol.ConnectParams, nonce string, ms int64) (ed25519.PublicKey, *protocol.Error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		all.Add(1)
		defer now.Add(-1)
		runtime.Gosched()
		return check(p, nonce, ms)
	}
	bad := func(spoil func(*protocol.DeviceAuth)) string {
		p := &protocol.ConnectParams{Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Platform: "linux"}, Auth: &protocol.Auth{}}
		devicetest.Sign(newKey(t), p, testNonce, r.now().UnixMilli())
		spoil(p.Device)
		_, err := r.Authenticate(t.Context(), Attempt{Source: netip.MustParseAddr("10.0.0.9"), Nonce: testNonce, Params: p})
		return code(err)
	}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 20 {
				if got := bad(func(d *protocol.DeviceAuth) { d.Signature = "A" + d.Signature[1:] }); got != "DEVICE_AUTH_SIGNATURE_INVALID" &&
					got != "AUTH_TOKEN_MISSING" {
					t.Errorf("a bad signature: %s", got)
				}
			}
		})
	}
	r.grant(t, try{key: known, auth: shared(), scopes: scopes(protocol.ScopeRead)}) // in the middle of it
	wg.Wait()
	if most.Load() != 1 || all.Load() < 64*20 {
		t.Errorf("%d of %d signatures were checked at a time", most.Load(), all.Load())
	}
	// Cheap checks come first: these have a bad signature as well.
	for want, spoil := range map[string]func(*protocol.DeviceAuth){
		"DEVICE_AUTH_DEVICE_ID_MISMATCH": func(d *protocol.DeviceAuth) { d.ID = idOf(newKey(t)) },
		"DEVICE_AUTH_SIGNATURE_EXPIRED":  func(d *protocol.DeviceAuth) { d.SignedAt -= 10 * 60 * 1000 },
		"DEVICE_AUTH_NONCE_MISMATCH":     func(d *protocol.DeviceAuth) { d.Nonce = "another" },
	} {
		if got := bad(func(d *protocol.DeviceAuth) { d.Signature = "x"; spoil(d) }); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// failing is a store that fails from its nth write on, as a process does that is
// killed there; before decides whether that write was still made.
type failing struct {
	*memoryStore
	left   int
	before bool
}

var errKilled = errors.New("killed")

func (f *failing) save(do func() error) error {
	if f.left--; f.left > 0 {
		return do()
	}
	if f.left == 0 && !f.before {
		_ = do()
	}
	return errKilled
}

func (f *failing) Save(ctx context.Context, d Device) error {
	return f.save(func() error { return f.memoryStore.Save(ctx, d) })
}

// Killed at each write of pairing and of replacing a token: afterwards the device
// holds the old token or the new one, or can pair by the way that it came; it is
// never locked out, and never has both.
func TestFault_F_CRASH_14_KilledWhilePairing(t *testing.T) {
	for write := 1; write <= 3; write++ {
		for _, before := range []bool{true, false} {
			devices, removed, c := &memoryStore{}, &memoryStore{}, newClock()
			dies := &failing{devices, write, before}
			r, err := New(t.Context(), Options{SharedToken: testToken, ServerKey: make([]byte, 32), Store: dies,
				Removed: &failing{removed, write - 1, before}, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			key, wide := newKey(t), scopes(protocol.ScopeRead)
			old, _ := r.attempt(t, try{key: key, auth: shared(), scopes: wide})
			var next string
			if old != nil {
				_, next, _ = r.RotateToken(t.Context(), idOf(key), protocol.RoleOperator, nil, boss.By)
			}
			// What follows sees what is on the disk, and nothing else.
			after, err := New(t.Context(), Options{SharedToken: testToken, ServerKey: make([]byte, 32), Store: devices, Removed: removed,
				Now: c.now})
			if err != nil {
				t.Fatalf("write %d: %v", write, err)
			}
			works := 0
			for _, token := range []string{next, tokenOf(old)} {
				if token == "" {
					continue
				}
				if _, err := after.attempt(t, try{key: key, auth: protocol.Auth{DeviceToken: token}, scopes: wide}); err == nil {
					works++
				}
			}
			if works > 1 {
				t.Errorf("write %d, before %v: the old and the new token work", write, before)
			}
			if _, err := after.attempt(t, try{key: key, auth: shared(), scopes: wide}); err != nil {
				t.Errorf("write %d, before %v: locked out: %v", write, before, err)
			}
		}
	}
}

func tokenOf(g *Grant) string {
	if g == nil {
		return ""
	}
	return g.DeviceToken
}
