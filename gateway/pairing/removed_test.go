package pairing

import (
	"maps"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// older is the store as it was when it was copied.
func (m *memoryStore) older() *memoryStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memoryStore{devices: maps.Clone(m.devices)}
}

// An older copy of the store that is put back gives nothing back that was taken
// away since: no device, no role, no replaced token, no wider scopes.
func TestFault_F_DB_07_OlderStoreGivesNothingBack(t *testing.T) {
	devices, removed, c := &memoryStore{}, &memoryStore{}, newClock()
	open := func(s *memoryStore) *Registry {
		r, err := New(t.Context(), Options{SharedToken: testToken, ServerKey: make([]byte, 32), Store: s, Removed: removed, Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open(devices)
	wide := scopes(protocol.ScopeRead, protocol.ScopeWrite)
	gone, role, rotated, kept, late, back := newKey(t), newKey(t), newKey(t), newKey(t), newKey(t), newKey(t)
	tokens := map[string]protocol.Auth{}
	for name, key := range map[string]try{"gone": {key: gone}, "role": {key: role}, "rotated": {key: rotated}, "kept": {key: kept},
		"back": {key: back}} {
		tokens[name] = protocol.Auth{DeviceToken: r.grant(t, try{key: key.key, auth: shared(), scopes: wide}).DeviceToken}
	}
	copied, another := devices.older(), devices.older()
	tokens["late"] = protocol.Auth{DeviceToken: r.grant(t, try{key: late, auth: shared(), scopes: wide}).DeviceToken}
	for _, k := range []try{{key: gone}, {key: late}, {key: back}} {
		if err := r.Revoke(t.Context(), idOf(k.key)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.RevokeToken(t.Context(), idOf(role), protocol.RoleOperator, boss.By); err != nil {
		t.Fatal(err)
	}
	_, next, err := r.RotateToken(t.Context(), idOf(rotated), protocol.RoleOperator, scopes(protocol.ScopeRead), boss.By)
	if err != nil {
		t.Fatal(err)
	}
	id := r.asks(t, try{key: back, scopes: scopes(protocol.ScopeRead)})
	if _, err := r.Approve(t.Context(), id, boss); err != nil {
		t.Fatal(err)
	}

	for name, r := range map[string]*Registry{"put back": open(copied), "and started again": open(copied)} {
		for what, x := range map[string]try{
			"a removed device":                   {key: gone, auth: tokens["gone"], scopes: wide},
			"a removed device, silently":         {key: gone, auth: shared(), scopes: wide},
			"one that was paired after the copy": {key: late, auth: tokens["late"], scopes: wide},
			"the same, silently":                 {key: late, auth: shared(), scopes: wide},
			"a role that was taken away":         {key: role, auth: tokens["role"], scopes: wide},
			"a token that was replaced":          {key: rotated, auth: tokens["rotated"], scopes: scopes(protocol.ScopeRead)},
			"more than the new token is for": {key: rotated, auth: protocol.Auth{DeviceToken: next}, scopes: wide, remote: true,
				from: "10.0.0.2"},
			"what a device had before it was let in": {key: back, auth: tokens["back"], scopes: wide},
		} {
			if _, err := r.attempt(t, x); err == nil {
				t.Errorf("%s: %s is let in", name, what)
			}
		}
		r.grant(t, try{key: kept, auth: tokens["kept"], scopes: wide})
		r.grant(t, try{key: rotated, auth: protocol.Auth{DeviceToken: next}, scopes: scopes(protocol.ScopeRead)})
	}
	if n := open(devices.older()).Recalled(); n != 0 {
		t.Errorf("the store itself is taken for an older copy, %d times", n)
	}
	r = open(devices) // where the person let it in again
	if d := r.device(idOf(back)); d.revoked() || d.role(protocol.RoleOperator) == nil {
		t.Error("what was let in again is removed without a copy that was put back")
	}
	// What was removed before there was a second place is noted there too.
	removed = &memoryStore{}
	open(devices)
	if n := open(another).Recalled(); n == 0 {
		t.Error("what was removed before there was a list is not on it")
	}
}

// The same for tokens of programs.
func TestFault_F_DB_07_OlderStoreBringsNoTokenBack(t *testing.T) {
	rows, removed, c := &clientRows{}, &clientRows{}, newClock()
	open := func(rows *clientRows) *Clients {
		all, err := NewClients(t.Context(), ClientOptions{Store: rows, Removed: removed, Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := open(rows)
	_, token := all.make(t, "notebook", 0, ClientChat)
	_, other := all.make(t, "editor", 0, ClientChat)
	copied := &clientRows{rows: maps.Clone(rows.rows)}
	if _, err := all.Revoke(t.Context(), "notebook"); err != nil {
		t.Fatal(err)
	}
	back := open(copied)
	if _, err := back.knock(t, token, ClientChat); err == nil {
		t.Error("a revoked token works again")
	}
	if _, err := back.knock(t, other, ClientChat); err != nil {
		t.Error(err)
	}
	if back.Recalled() != 1 || open(copied).Recalled() != 0 {
		t.Error("it is not told, or told again and again")
	}
}
