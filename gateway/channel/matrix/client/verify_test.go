//go:build goolm

package client_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mevent "maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

// TestVerify: both show the same emoji, nothing is verified before both have agreed, in
// either order, and then both are.
func TestVerify(t *testing.T) {
	for _, tc := range []struct{ inRoom, theyFirst bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			v := newVerifying(t)
			c := open(t, account(v.URL, nil))
			got, _, _ := running(t, c)
			until(t, "connecting", connected(c))
			p := v.person(t, ada, "ADA1")
			txn := p.asks(v, tc.inRoom)
			here := p.begins(c, txn)
			if there := p.emoji; here != there || strings.Count(here, ", ") != 6 {
				t.Fatalf("%q here, %q there", here, there)
			}
			if words := c.Status().Problem; !strings.Contains(words, c.Asking().Value) || !strings.Contains(words, "channels login matrix") {
				t.Errorf("a person reads %q", words)
			}
			agree := []func() error{
				func() error { return c.Confirm(t.Context(), c.Asking().Value, true) },
				func() error { return p.helper.ConfirmSAS(t.Context(), txn) },
			}
			if tc.theyFirst {
				slices.Reverse(agree)
			}
			if err := agree[0](); err != nil {
				t.Fatal(err)
			}
			v.Receive(channel.Inbound{SenderID: ada, MessageID: "$between", Text: "between"})
			hear(t, got, "between")
			if c.Trusts(t.Context(), ada, "ADA1") {
				t.Fatal("it is verified though one has not agreed")
			}
			if err := agree[1](); err != nil {
				t.Fatal(err)
			}
			until(t, "their end", p.is(func() bool { return p.done || p.cancelled != "" || tc.theyFirst }))
			until(t, "being verified here", func() bool { return c.Trusts(t.Context(), ada, "ADA1") })
			until(t, "being verified there", func() bool {
				p.turn.Lock()
				defer p.turn.Unlock()
				d, err := p.mach.CryptoStore.GetDevice(t.Context(), us, c.Device())
				return err == nil && d != nil && d.Trust == id.TrustStateVerified
			})
			until(t, "the end of the question", func() bool { return c.Asking().Kind == "" && c.Status().Problem == "" })
			if err := c.Confirm(t.Context(), here, true); !errors.Is(err, channel.ErrRefused) {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

// TestSec_A_CH_VerifyRefused: who says that the emoji differ ends it, and what somebody
// between changes is seen.
func TestSec_A_CH_VerifyRefused(t *testing.T) {
	begin := func(t *testing.T, change func(string, object)) (*client.Client, *person, id.VerificationTransactionID, string) {
		v := newVerifying(t)
		v.change = change
		c := open(t, account(v.URL, nil))
		running(t, c)
		until(t, "connecting", connected(c))
		p := v.person(t, ada, "ADA1")
		txn := p.asks(v, false)
		return c, p, txn, p.begins(c, txn)
	}
	unverified := func(t *testing.T, c *client.Client, p *person, code mevent.VerificationCancelCode, words string) {
		t.Helper()
		until(t, "the end there", p.is(func() bool { return p.cancelled != "" }))
		until(t, "the end here", func() bool { return c.Asking().Kind == "" })
		until(t, "the word", func() bool { return strings.Contains(c.Status().Problem, words) })
		if p.cancelled != code || c.Trusts(t.Context(), ada, "ADA1") {
			t.Errorf("it ended with %s, and is verified: %v", p.cancelled, c.Trusts(t.Context(), ada, "ADA1"))
		}
	}
	t.Run("by the person", func(t *testing.T) {
		c, p, _, _ := begin(t, nil)
		shown := c.Asking().Value
		if err := c.Confirm(t.Context(), "🐶 Dog", true); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("what was not shown: %v", err)
		}
		if err := c.Confirm(t.Context(), shown, false); err != nil {
			t.Fatal(err)
		}
		unverified(t, c, p, mevent.VerificationCancelCodeSASMismatch, "emoji differ")
		if err := c.Confirm(t.Context(), shown, true); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("after the no: %v", err)
		}
	})
	t.Run("other key", func(t *testing.T) {
		_, p, _, here := begin(t, func(kind string, content object) {
			if kind == "m.key.verification.key" {
				content["key"] = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo"
			}
		})
		if here == p.emoji {
			t.Errorf("both show %s though the key was changed", here)
		}
	})
	t.Run("other proof", func(t *testing.T) {
		c, p, txn, _ := begin(t, func(kind string, content object) {
			if macs, ok := content["mac"].(object); ok && kind == "m.key.verification.mac" {
				for k := range macs {
					macs[k] = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo"
				}
			}
		})
		if err := errors.Join(c.Confirm(t.Context(), c.Asking().Value, true), p.helper.ConfirmSAS(t.Context(), txn)); err != nil {
			t.Fatal(err)
		}
		unverified(t, c, p, mevent.VerificationCancelCodeUnexpectedMessage, "another one than the server says")
	})
	t.Run("by them", func(t *testing.T) {
		c, p, txn, _ := begin(t, nil)
		p.set(func() { p.cancelled = "m.user" })
		if err := p.helper.CancelVerification(t.Context(), txn, "m.user", "they gave up"); err != nil {
			t.Fatal(err)
		}
		unverified(t, c, p, "m.user", "they gave up")
	})
}

// TestSec_A_CH_VerifyWho: strangers are refused and told to the person, others wait while one is verified,
// and nobody speaks in another's verification.
func TestSec_A_CH_VerifyWho(t *testing.T) {
	v := newVerifying(t)
	c := open(t, account(v.URL, nil))
	running(t, c)
	until(t, "connecting", connected(c))
	eve := v.person(t, "@eve:test.local", "EVE1")
	eve.asks(v, false)
	until(t, "refusing the stranger", eve.is(func() bool {
		return eve.cancelled == "m.user"
	}))
	until(t, "telling", func() bool { return strings.Contains(c.Status().Problem, "@eve:test.local wants to verify") })
	if eve.is(func() bool { return eve.ready })() || c.Asking().Kind != "" {
		t.Fatal("a stranger begins a verification")
	}
	p, other := v.person(t, ada, "ADA1"), v.person(t, ada, "ADA2")
	txn := p.asks(v, false)
	until(t, "getting ready", p.is(func() bool { return p.ready }))
	other.asks(v, false)
	until(t, "refusing the second", other.is(func() bool { return other.cancelled == "m.user" }))
	v.with(func() {
		v.toDevice = append(v.toDevice, object{"type": "m.key.verification.cancel", "sender": "@eve:test.local",
			"content": object{"transaction_id": string(txn), "code": "m.user", "reason": "x"}})
	})
	p.begins(c, txn)
	if err := errors.Join(c.Confirm(t.Context(), c.Asking().Value, true), p.helper.ConfirmSAS(t.Context(), txn)); err != nil {
		t.Fatal(err)
	}
	until(t, "being verified", func() bool { return c.Trusts(t.Context(), ada, "ADA1") })
	if c.Trusts(t.Context(), ada, "ADA2") {
		t.Error("the other device is verified too")
	}
}

// TestVerifyEnds: one that nobody answers ends after its time, and one that a restart cut
// off is ended there.
func TestVerifyEnds(t *testing.T) {
	v := newVerifying(t)
	var mu sync.Mutex
	var ahead time.Duration
	kept := &durable{kept: map[string][]byte{}}
	begin := func() (*client.Client, func()) {
		c := open(t, account(v.URL, func(a *channel.Account) {
			a.Durable = kept
			a.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }
		}))
		_, _, stop := running(t, c)
		until(t, "connecting", connected(c))
		return c, stop
	}
	c, stop := begin()
	p := v.person(t, ada, "ADA1")
	p.begins(c, p.asks(v, false))
	shown := c.Asking().Value
	mu.Lock()
	ahead = 11 * time.Minute
	mu.Unlock()
	v.with(func() {})
	until(t, "their end", p.is(func() bool { return p.cancelled == mevent.VerificationCancelCodeTimeout }))
	until(t, "the word", func() bool { return strings.Contains(c.Status().Problem, "took too long") })
	if err := c.Confirm(t.Context(), shown, true); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("after its time: %v", err)
	}
	mu.Lock()
	ahead = 0
	mu.Unlock()
	p = v.person(t, ada, "ADA3")
	p.begins(c, p.asks(v, false))
	stop()
	c, _ = begin()
	until(t, "their end after a restart", p.is(func() bool { return p.cancelled == "m.user" }))
	until(t, "the word", func() bool { return strings.Contains(c.Status().Problem, "cut off by a restart") })
}

// TestRecoveryKey: the right key signs the device, once; a wrong one says what to do, and all else goes on.
func TestRecoveryKey(t *testing.T) {
	v := newVerifying(t)
	owner := v.person(t, us, "OWNER")
	v.with(func() { v.token = 1 })
	owner.api.AccessToken = "t1" // where account data is asked for
	right, keys, err := owner.mach.GenerateAndUploadCrossSigningKeys(t.Context(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	kept := &durable{kept: map[string][]byte{}}
	with := func(key string) (*client.Client, func()) {
		c := open(t, account(v.URL, func(a *channel.Account) { a.Secrets[matrix.KeyRecovery], a.Durable = key, kept }))
		_, _, stop := running(t, c)
		until(t, "connecting", connected(c))
		return c, stop
	}
	signed := func() int { v.mu.Lock(); defer v.mu.Unlock(); return len(v.signed) }
	for _, wrong := range []string{"what is no key", "EsTc LW2K PGiF wKEA 3As5 g5c4 BXwk qeeJ ZJV8 Q9fu gUMN UE4d"} {
		c, stop := with(wrong)
		if words := c.Status().Problem; !strings.Contains(words, "not that of the account") || strings.Contains(words, wrong) || signed() != 0 {
			t.Errorf("%q, and %d signatures", words, signed())
		}
		stop()
	}
	c, stop := with(right)
	v.mu.Lock()
	got := slices.Clone(v.signed)
	v.mu.Unlock()
	if c.Status().Problem != "" || !slices.Contains(got, string(c.Device())) || !slices.Contains(got, string(keys.MasterKey.PublicKey())) {
		t.Errorf("%q; signed are %v", c.Status().Problem, got)
	}
	stop()
	_, stop = with(right)
	if signed() != len(got) {
		t.Error("it is signed again")
	}
	stop()
}
