package pairing

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestSilentPairingSurvivesARestart(t *testing.T) {
	store, c, key := &memoryStore{}, newClock(), newKey(t)
	g := newRegistry(t, c, store).grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)})
	if g.Method != MethodToken || g.DeviceID != idOf(key) || g.DeviceToken == "" {
		t.Fatalf("%+v", g)
	}
	again := newRegistry(t, c, store).grant(t, try{key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken},
		scopes: scopes(protocol.ScopeRead)})
	if again.Method != MethodDeviceToken || again.DeviceToken != g.DeviceToken || again.IssuedAtMs != g.IssuedAtMs {
		t.Errorf("%+v", again)
	}
}

// What the store holds must not open anything.
func TestNoSecretIsStored(t *testing.T) {
	store, key := &memoryStore{}, newKey(t)
	g := newRegistry(t, newClock(), store).grant(t, try{key: key, auth: shared()})
	saved, err := json.Marshal(store.devices)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{g.DeviceToken, testToken} {
		if strings.Contains(string(saved), secret) {
			t.Errorf("a secret is in the store: %s", saved)
		}
	}
}

func TestRemoteDevicesWaitForAPerson(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	_, err := r.attempt(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead), remote: true, from: "192.168.1.9"})
	if code(err) != "PAIRING_REQUIRED" || err.Code != protocol.CodeNotPaired || err.Details["reason"] != "not-paired" ||
		err.Details["requestId"] == "" {
		t.Errorf("new device: %+v", err)
	}
	r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)})
	_, err = r.attempt(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeAdmin), remote: true, from: "192.168.1.9"})
	if err == nil || err.Details["reason"] != "scope-upgrade" {
		t.Errorf("wider: %+v", err)
	}
	_, err = r.attempt(t, try{key: key, auth: shared(), role: protocol.RoleNode, remote: true, from: "192.168.1.9"})
	if err == nil || err.Details["reason"] != "role-upgrade" {
		t.Errorf("other role: %+v", err)
	}
	g, err := r.attempt(t, try{auth: shared(), scopes: scopes(protocol.ScopeAdmin), remote: true, from: "192.168.1.9"})
	if err != nil || len(g.Scopes) != 0 {
		t.Errorf("without a device, from elsewhere: %+v %v", g, err)
	}
}

func TestLaunchTicketPairsOnce(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	codeText, expires, err := r.MintLaunch(0)
	if err != nil || expires.Sub(c.now()) != DefaultLaunchTTL {
		t.Fatal(codeText, expires, err)
	}
	ticket := protocol.Auth{BootstrapToken: codeText}
	if _, err := r.attempt(t, try{key: newKey(t), auth: ticket, remote: true, from: "10.0.0.1"}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("from elsewhere: %v", err)
	}
	if _, err := r.attempt(t, try{auth: ticket}); code(err) != "DEVICE_IDENTITY_REQUIRED" {
		t.Errorf("without a device: %v", err)
	}
	key := newKey(t)
	asked := scopes(protocol.ScopeRead, protocol.ScopeAdmin, protocol.ScopeTalkSecrets)
	g := r.grant(t, try{key: key, auth: ticket, scopes: asked, client: "webchat-ui"})
	if diff := cmp.Diff(scopes(protocol.ScopeRead, protocol.ScopeAdmin), g.Scopes); diff != "" || g.Method != MethodBootstrap {
		t.Errorf("%s: %s", g.Method, diff)
	}
	if _, err := r.attempt(t, try{key: newKey(t), auth: ticket}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("a second device: %v", err)
	}
	if _, err := r.attempt(t, try{key: key, auth: ticket}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("a second time: %v", err)
	}
	// The page that was opened again still has its device token.
	both := protocol.Auth{BootstrapToken: codeText, DeviceToken: g.DeviceToken}
	if again := r.grant(t, try{key: key, auth: both, scopes: launchScopes()}); again.Method != MethodDeviceToken {
		t.Errorf("%+v", again)
	}
}

func TestLaunchTicketExpires(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	text, _, err := r.MintLaunch(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	c.forward(time.Second)
	if _, err := r.attempt(t, try{key: newKey(t), auth: protocol.Auth{BootstrapToken: text}}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("expired: %v", err)
	}
	for range 3 * maxTickets {
		if _, expires, err := r.MintLaunch(time.Hour); err != nil || expires.Sub(c.now()) > MaxLaunchTTL {
			t.Fatal(expires, err)
		}
	}
	if len(r.tickets) > maxTickets {
		t.Errorf("%d tickets are kept", len(r.tickets))
	}
}

// A full disk must not eat the link: the person can use it again.
func TestLaunchTicketSurvivesAFailedSave(t *testing.T) {
	store := &memoryStore{}
	r := newRegistry(t, newClock(), store)
	text, _, err := r.MintLaunch(0)
	if err != nil {
		t.Fatal(err)
	}
	store.breakWith(errors.New("no space left on device"))
	x := try{key: newKey(t), auth: protocol.Auth{BootstrapToken: text}}
	if _, err := r.attempt(t, x); err == nil || err.Code != protocol.CodeUnavailable || !err.Retryable ||
		strings.Contains(err.Message, "no space left on device") {
		t.Errorf("%+v", err)
	}
	store.breakWith(nil)
	r.grant(t, x)
}

func TestSec_A_NET_12_RevocationEndsEverything(t *testing.T) {
	store, c, key := &memoryStore{}, newClock(), newKey(t)
	r := newRegistry(t, c, store)
	g := r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)})
	other := r.grant(t, try{key: newKey(t), auth: shared()})
	if err := r.Revoke(t.Context(), idOf(key)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Lease.Ended():
		if g.Lease.Reason() != "device removed" {
			t.Error(g.Lease.Reason())
		}
	default:
		t.Error("the open connection goes on")
	}
	select {
	case <-other.Lease.Ended():
		t.Error("another device was cut off too")
	default:
	}
	for name, reg := range map[string]*Registry{"same process": r, "after a restart": newRegistry(t, c, store)} {
		if _, err := reg.attempt(t, try{key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken}}); code(err) != "AUTH_DEVICE_TOKEN_MISMATCH" {
			t.Errorf("%s: device token: %v", name, err)
		}
	}
	if err := r.Revoke(t.Context(), "nobody"); err == nil {
		t.Error("an unknown device was revoked")
	}
}

func TestSec_A_NET_13_OnlyAPersonRevivesADevice(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	launch := func() protocol.Auth {
		text, _, err := r.MintLaunch(0)
		if err != nil {
			t.Fatal(err)
		}
		return protocol.Auth{BootstrapToken: text}
	}
	old := r.grant(t, try{key: key, auth: launch(), scopes: scopes(protocol.ScopeRead)})
	if err := r.Revoke(t.Context(), idOf(key)); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]try{
		"pairing again":  {key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)},
		"another role":   {key: key, auth: shared(), role: protocol.RoleNode},
		"another scope":  {key: key, auth: shared(), scopes: scopes(protocol.ScopeAdmin)},
		"another client": {key: key, auth: shared(), client: "gateway-client"},
	} {
		if _, err := r.attempt(t, x); code(err) != "PAIRING_REQUIRED" || err.Details["reason"] != "revoked" {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := r.grant(t, try{key: key, auth: launch(), scopes: scopes(protocol.ScopeRead)})
	if g.DeviceToken == old.DeviceToken {
		t.Error("the old token came back to life")
	}
}

func TestSharedTokenChangeEndsItsConnections(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	byToken := r.grant(t, try{auth: shared(), scopes: scopes(protocol.ScopeRead)})
	paired := r.grant(t, try{key: key, auth: shared()})
	byDevice := r.grant(t, try{key: key, auth: protocol.Auth{DeviceToken: paired.DeviceToken}})
	if err := r.SetSharedToken("another token"); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*Lease{"no device": byToken.Lease, "paired by it": paired.Lease} {
		select {
		case <-l.Ended():
			if l.Reason() != "gateway auth changed" {
				t.Error(l.Reason())
			}
		default:
			t.Errorf("%s: goes on", name)
		}
	}
	select {
	case <-byDevice.Lease.Ended():
		t.Error("a device token does not depend on the shared one")
	default:
	}
	if _, err := r.attempt(t, try{auth: shared()}); code(err) != "AUTH_TOKEN_MISMATCH" {
		t.Error(err)
	}
	byDevice.Lease.Release()
	if len(r.leases) != 0 {
		t.Errorf("%d leases are left", len(r.leases))
	}
}

func TestNewRefusesAnOpenDoor(t *testing.T) {
	for name, o := range map[string]Options{
		"no token":  {ServerKey: make([]byte, 32), Store: &memoryStore{}},
		"short key": {SharedToken: "x", ServerKey: make([]byte, 31), Store: &memoryStore{}},
		"no store":  {SharedToken: "x", ServerKey: make([]byte, 32)},
	} {
		if _, err := New(t.Context(), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := newRegistry(t, newClock(), &memoryStore{}).SetSharedToken(""); err == nil {
		t.Error("an empty token was set")
	}
}
