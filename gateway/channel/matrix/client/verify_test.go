//go:build goolm

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/util/jsontime"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/verificationhelper"
	mevent "maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

// verifying is a server on which devices verify each other: it passes on what they say
// and keeps their public keys.
type verifying struct {
	*server
	keys    map[id.UserID]map[id.DeviceID]json.RawMessage
	signing map[id.UserID]map[string]json.RawMessage // by kind
	signed  []string                                 // what signatures came for
	people  map[string]*person
	change  func(kind string, content object) // of what is passed on to us; nil: nothing
	n       int
}

func newVerifying(t *testing.T) *verifying {
	v := &verifying{server: newServer(t), keys: map[id.UserID]map[id.DeviceID]json.RawMessage{}, people: map[string]*person{},
		signing: map[id.UserID]map[string]json.RawMessage{}}
	v.more = v.answers
	return v
}

// who is whose token a request has.
func (v *verifying) who(r *http.Request) (id.UserID, id.DeviceID) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if p := v.people[token]; p != nil {
		return p.api.UserID, p.api.DeviceID
	}
	return us, id.DeviceID("D" + strings.TrimPrefix(token, "t"))
}

func (v *verifying) answers(w http.ResponseWriter, r *http.Request, part []string, raw []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	user, device := v.who(r)
	path := strings.Join(part[1:], "/")
	done := func(out any) bool { _ = json.NewEncoder(w).Encode(out); return true }
	switch {
	case path == "keys/upload":
		var up struct {
			Device json.RawMessage `json:"device_keys"`
		}
		_ = json.Unmarshal(raw, &up)
		if v.keys[user] == nil {
			v.keys[user] = map[id.DeviceID]json.RawMessage{}
		}
		if len(up.Device) > 0 {
			v.keys[user][device] = up.Device
		}
		return done(object{"one_time_key_counts": object{"signed_curve25519": 50}})
	case path == "keys/query":
		out := object{"device_keys": v.keys}
		for _, kind := range []string{"master", "self_signing", "user_signing"} {
			of := object{}
			for who, keys := range v.signing {
				of[string(who)] = keys[kind+"_key"]
			}
			out[kind+"_keys"] = of
		}
		return done(out)
	case path == "keys/device_signing/upload":
		var up map[string]json.RawMessage
		_ = json.Unmarshal(raw, &up)
		v.signing[user] = up
		return done(object{})
	case path == "keys/signatures/upload":
		var up map[string]map[string]json.RawMessage
		_ = json.Unmarshal(raw, &up)
		for _, things := range up {
			for thing := range things {
				v.signed = append(v.signed, thing)
			}
		}
		return done(object{})
	case part[1] == "sendToDevice":
		var sent struct {
			Messages map[string]map[string]object `json:"messages"`
		}
		_ = json.Unmarshal(raw, &sent)
		for to, devices := range sent.Messages {
			for device, content := range devices {
				v.pass(object{"type": part[2], "sender": string(user), "content": content}, to, device)
			}
		}
		return done(object{})
	case len(part) > 4 && part[1] == "rooms" && strings.HasPrefix(part[4], "m.key.verification."):
		var content object
		_ = json.Unmarshal(raw, &content)
		v.n++
		e := object{"type": part[4], "sender": string(user), "content": content, "event_id": fmt.Sprint("$v", v.n), "room_id": home,
			"origin_server_ts": time.Now().UnixMilli()}
		v.pass(e, us, "")
		for _, p := range v.people {
			p.hear(e)
		}
		return done(object{"event_id": e["event_id"]})
	}
	return false
}

// pass brings an event to who it is for. The lock is held.
func (v *verifying) pass(e object, to, device string) {
	content, _ := e["content"].(object)
	switch {
	case to != us:
		for _, p := range v.people {
			if string(p.api.UserID) == to && (device == "*" || device == string(p.api.DeviceID)) {
				p.hear(e)
			}
		}
		return
	case v.change != nil:
		v.change(e["type"].(string), content)
	}
	if e["room_id"] != nil {
		v.events = append(v.events, e)
	} else {
		v.toDevice = append(v.toDevice, e)
	}
	v.wake()
}

// person is somebody with another program, whose verification is that of the library.
type person struct {
	t      *testing.T
	api    *mautrix.Client
	mach   *crypto.OlmMachine
	helper *verificationhelper.VerificationHelper
	store  *verificationhelper.InMemoryVerificationStore
	news   chan object
	turn   sync.Mutex // the library keeps what it asked for only after it has sent it

	mu        sync.Mutex
	emoji     string
	ready     bool
	done      bool
	cancelled mevent.VerificationCancelCode
}

type noCrypto struct{ mautrix.CryptoHelper }

func (v *verifying) person(t *testing.T, who, device string) *person {
	t.Helper()
	api, err := mautrix.NewClient(v.URL, id.UserID(who), "token of "+who+device)
	if err != nil {
		t.Fatal(err)
	}
	api.DeviceID, api.Crypto, api.StateStore = id.DeviceID(device), noCrypto{}, mautrix.NewMemoryStateStore()
	p := &person{t: t, api: api, store: verificationhelper.NewInMemoryVerificationStore(), news: make(chan object, 100)}
	v.with(func() { v.people[api.AccessToken] = p })
	p.mach = crypto.NewOlmMachine(api, nil, crypto.NewMemoryStore(nil), nobodysRooms{})
	p.helper = verificationhelper.NewVerificationHelper(api, p.mach, p.store, p, false, false, true)
	if err := errors.Join(p.mach.Load(t.Context()), p.mach.ShareKeys(t.Context(), -1), p.helper.Init(t.Context())); err != nil {
		t.Fatal(err)
	}
	go p.run(t.Context())
	return p
}

// nobodysRooms are no rooms.
type nobodysRooms struct{ crypto.StateStore }

func (nobodysRooms) FindSharedRooms(context.Context, id.UserID) ([]id.RoomID, error) { return nil, nil }

func (p *person) hear(e object) {
	if e["sender"] != string(p.api.UserID) || e["room_id"] == nil {
		p.news <- e
	}
}

// run hands what came to the library.
func (p *person) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case raw := <-p.news:
			var e mevent.Event
			b, _ := json.Marshal(raw)
			_ = json.Unmarshal(b, &e)
			e.Type.Class = mevent.ToDeviceEventType
			if e.RoomID != "" {
				e.Type.Class = mevent.MessageEventType
			}
			_ = e.Content.ParseRaw(e.Type)
			if r, ok := e.Content.Parsed.(mevent.Relatable); ok && e.RoomID != "" {
				e.ID = r.OptionalGetRelatesTo().EventID // the library looks for the verification there
			}
			p.turn.Lock()
			p.api.Syncer.(*mautrix.DefaultSyncer).Dispatch(ctx, &e)
			p.turn.Unlock()
		}
	}
}

func (p *person) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *person) is(what func() bool) func() bool {
	return func() bool { p.mu.Lock(); defer p.mu.Unlock(); return what() }
}

func (p *person) VerificationRequested(context.Context, id.VerificationTransactionID, id.UserID, id.DeviceID) {
}

func (p *person) VerificationReady(
	_ context.Context, _ id.VerificationTransactionID, _ id.DeviceID, sas, _ bool, _ *verificationhelper.QRCode,
) {
	p.set(func() { p.ready = sas })
}

func (p *person) VerificationCancelled(_ context.Context, _ id.VerificationTransactionID, code mevent.VerificationCancelCode, _ string) {
	p.set(func() { p.cancelled = code })
}

func (p *person) VerificationDone(context.Context, id.VerificationTransactionID, mevent.VerificationMethod) {
	p.set(func() { p.done = true })
}

func (p *person) ShowSAS(_ context.Context, _ id.VerificationTransactionID, emoji []rune, names []string, _ []int) {
	var out []string
	for i, e := range emoji {
		out = append(out, string(e)+" "+names[i])
	}
	p.set(func() { p.emoji = strings.Join(out, ", ") })
}

// asks asks us for a verification, between devices or in the room.
func (p *person) asks(v *verifying, inRoom bool) id.VerificationTransactionID {
	p.t.Helper()
	p.turn.Lock()
	defer p.turn.Unlock()
	if !inRoom {
		txn, err := p.helper.StartVerification(p.t.Context(), us)
		if err != nil {
			p.t.Fatal(err)
		}
		return txn
	}
	_ = p.store.SaveVerificationTransaction(p.t.Context(), verificationhelper.VerificationTransaction{
		RoomID: home, TransactionID: "$ask", TheirUserID: us, ExpirationTime: jsontime.UM(time.Now().Add(time.Minute)),
	})
	v.add(object{"type": event, "sender": string(p.api.UserID), "event_id": "$ask", "origin_server_ts": time.Now().UnixMilli(),
		"content": object{"msgtype": "m.key.verification.request", "body": "x", "to": us, "from_device": p.api.DeviceID,
			"methods": []string{"m.sas.v1"}}})
	return "$ask"
}

// begins begins the comparison when we are ready, and waits for both to show it.
func (p *person) begins(c *client.Client, txn id.VerificationTransactionID) (here string) {
	p.t.Helper()
	until(p.t, "getting ready", p.is(func() bool { return p.ready }))
	if err := p.helper.StartSAS(p.t.Context(), txn); err != nil {
		p.t.Fatal(err)
	}
	until(p.t, "showing it there", p.is(func() bool { return p.emoji != "" }))
	until(p.t, "showing it here", func() bool { return c.Asking().Kind == channel.AskConfirm })
	return strings.ReplaceAll(c.Asking().Value, "\ufe0f", "")
}

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
