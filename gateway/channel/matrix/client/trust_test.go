//go:build goolm

package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/crypto/olm"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

// verifies lets somebody verify us.
func (p *person) verifies(v *verifying, c *client.Client) {
	p.t.Helper()
	txn := p.asks(v, false)
	p.begins(c, txn)
	if err := errors.Join(c.Confirm(p.t.Context(), c.Asking().Value, true), p.helper.ConfirmSAS(p.t.Context(), txn)); err != nil {
		p.t.Fatal(err)
	}
	until(p.t, "being verified", func() bool { return c.Trusts(p.t.Context(), p.api.UserID, p.api.DeviceID) })
}

// TestSec_A_CH_KeysChanged: a device that was verified is known after a restart, and
// another one in its name is not taken for it, and told.
func TestSec_A_CH_KeysChanged(t *testing.T) {
	v := newVerifying(t)
	kept := &durable{kept: map[string][]byte{}}
	begin := func() (*client.Client, func()) {
		c := open(t, account(v.URL, func(a *channel.Account) { a.Durable = kept }))
		_, _, stop := running(t, c)
		until(t, "connecting", connected(c))
		return c, stop
	}
	c, stop := begin()
	v.person(t, ada, "ADA1").verifies(v, c)
	stop()
	c, stop = begin()
	if !c.Trusts(t.Context(), ada, "ADA1") || c.Status().Problem != "" {
		t.Errorf("after a restart it is not verified: %+v", c.Status())
	}
	stop()
	v.person(t, ada, "ADA1") // other keys, the same name
	c, stop = begin()
	if c.Trusts(t.Context(), ada, "ADA1") {
		t.Error("another device is taken for the one that was verified")
	}
	words := c.Status().Problem
	if !strings.Contains(words, "other keys for the device ADA1 of "+ada) || !strings.Contains(words, "verify again") {
		t.Errorf("a person reads %q", words)
	}
	stop()
}

// roomSession is a key of the room as somebody makes it, and what they write with it.
type roomSession struct {
	olm.OutboundGroupSession
	n int
}

func (r *roomSession) write(v *verifying, sender, text string) {
	r.n++
	plain, _ := json.Marshal(object{"type": event, "room_id": home, "content": object{"msgtype": "m.text", "body": text}})
	closed, err := r.Encrypt(plain)
	if err != nil {
		v.t.Fatal(err)
	}
	v.add(object{"type": "m.room.encrypted", "sender": sender, "event_id": fmt.Sprintf("$%x%d", string(r.ID()), r.n),
		"origin_server_ts": 1_700_000_000_000, "content": object{
			"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": string(closed), "session_id": string(r.ID())}})
}

func newRoomSession(t *testing.T) *roomSession {
	t.Helper()
	s, err := olm.NewOutboundGroupSession()
	if err != nil {
		t.Fatal(err)
	}
	return &roomSession{OutboundGroupSession: s}
}

// TestSec_A_CH_InSomebodysName: a server can say that anybody wrote what is encrypted.
// What was written with a device that is not that person's is not read; and when they
// have verified us, neither is what a device wrote that their keys have not signed, until
// they sign it.
func TestSec_A_CH_InSomebodysName(t *testing.T) {
	v := newVerifying(t)
	v.state[home] = append(v.state[home], state("m.room.encryption", "", object{"algorithm": "m.megolm.v1.aes-sha2"}))
	var mu sync.Mutex
	var ahead time.Duration
	c := open(t, account(v.URL, func(a *channel.Account) {
		a.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }
	}))
	got, _, _ := running(t, c)
	until(t, "connecting", connected(c))
	one, eve := v.person(t, ada, "ADA1"), v.person(t, "@eve:test.local", "EVE1")
	refused := func(words string) {
		t.Helper()
		until(t, "telling", func() bool { return strings.Contains(c.Status().Problem, "in the name of "+ada) })
		good := newRoomSession(t)
		c.Give(t.Context(), home, good.ID(), good.Key(), one.mach.OwnIdentity(), nil)
		good.write(v, ada, words)
		hear(t, got, words) // and nothing before it
	}
	forged := newRoomSession(t)
	c.Give(t.Context(), home, forged.ID(), forged.Key(), eve.mach.OwnIdentity(), nil)
	forged.write(v, ada, "pay eve")
	refused("ada herself")
	handed := newRoomSession(t)
	c.Give(t.Context(), home, handed.ID(), handed.Key(), one.mach.OwnIdentity(), eve.mach.OwnIdentity())
	handed.write(v, ada, "pay eve again")
	refused("ada again")

	own, err := one.mach.GenerateCrossSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	if err := one.mach.PublishCrossSigningKeys(t.Context(), own, nil); err != nil {
		t.Fatal(err)
	}
	if err := one.mach.SignOwnDevice(t.Context(), one.mach.OwnIdentity()); err != nil {
		t.Fatal(err)
	}
	if err := c.Verified(t.Context(), ada, "ADA1", own.MasterKey.PublicKey()); err != nil {
		t.Fatal(err)
	}
	two := v.person(t, ada, "ADA2")
	mu.Lock()
	ahead = 2 * time.Minute
	mu.Unlock()
	added := newRoomSession(t)
	c.Give(t.Context(), home, added.ID(), added.Key(), two.mach.OwnIdentity(), nil)
	added.write(v, ada, "with another device")
	refused("with the first device")
	if err := one.mach.SignOwnDevice(t.Context(), two.mach.OwnIdentity()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	ahead = 4 * time.Minute // a server would say that the device has changed
	mu.Unlock()
	v.with(func() {})
	hear(t, got, "with another device")
}
