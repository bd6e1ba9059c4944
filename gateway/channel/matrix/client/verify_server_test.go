//go:build goolm

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
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
		for who, things := range up {
			for thing, signed := range things {
				v.signed = append(v.signed, thing)
				if had := v.keys[id.UserID(who)][id.DeviceID(thing)]; had != nil {
					v.keys[id.UserID(who)][id.DeviceID(thing)] = withSignatures(had, signed)
				}
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

// withSignatures are the keys of a device with the signatures of what was uploaded for it.
func withSignatures(keys, uploaded json.RawMessage) json.RawMessage {
	var had, more struct {
		Signatures map[string]map[string]string `json:"signatures"`
	}
	var all object
	_ = errors.Join(json.Unmarshal(keys, &had), json.Unmarshal(uploaded, &more), json.Unmarshal(keys, &all))
	for who, signed := range more.Signatures {
		maps.Copy(had.Signatures[who], signed)
	}
	all["signatures"] = had.Signatures
	out, _ := json.Marshal(all)
	return out
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
	p := newPerson(t, api, nobodysRooms{}, func(p *person) { v.with(func() { v.people[api.AccessToken] = p }) })
	go p.run(t.Context())
	return p
}

// newPerson makes somebody's program, after known, and gives its keys to the server.
func newPerson(t *testing.T, api *mautrix.Client, rooms crypto.StateStore, known func(*person)) *person {
	t.Helper()
	p := &person{t: t, api: api, store: verificationhelper.NewInMemoryVerificationStore(), news: make(chan object, 100)}
	known(p)
	p.mach = crypto.NewOlmMachine(api, nil, crypto.NewMemoryStore(nil), rooms)
	p.helper = verificationhelper.NewVerificationHelper(api, p.mach, p.store, p, false, false, true)
	if err := errors.Join(p.mach.Load(t.Context()), p.mach.ShareKeys(t.Context(), -1), p.helper.Init(t.Context())); err != nil {
		t.Fatal(err)
	}
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
			p.take(ctx, &e)
		}
	}
}

// take hands an event to the library.
func (p *person) take(ctx context.Context, e *mevent.Event) {
	if r, ok := e.Content.Parsed.(mevent.Relatable); ok && e.RoomID != "" {
		e.ID = r.OptionalGetRelatesTo().EventID // the library looks for the verification there
	}
	p.turn.Lock()
	p.api.Syncer.(*mautrix.DefaultSyncer).Dispatch(ctx, e)
	p.turn.Unlock()
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
