package pairing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func mintSetup(t *testing.T, r *Registry, a Access) protocol.Auth {
	t.Helper()
	code, _, err := r.MintSetup(a)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Auth{BootstrapToken: code}
}

func everything() []protocol.Scope {
	return append(launchScopes(), protocol.ScopeTalkSecrets, protocol.Scope("operator.*"), "*")
}

// A setup code pairs one device on another machine, once, with what its owner
// chose and nothing more.
func TestSec_A_PAIR_05_SetupCode(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	far := func(x try) try { x.remote, x.from = true, "192.168.1.9"; return x }
	for access, want := range map[Access][]protocol.Scope{
		AccessLimited: scopes(protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals, protocol.ScopeQuestions),
		AccessFull:    launchScopes(),
	} {
		auth, key := mintSetup(t, r, access), newKey(t)
		g := r.grant(t, far(try{key: key, auth: auth, scopes: everything()}))
		got := map[protocol.Scope]bool{}
		for _, s := range g.Scopes {
			got[s] = true
		}
		wanted := map[protocol.Scope]bool{}
		for _, s := range want {
			wanted[s] = true
		}
		if diff := cmp.Diff(wanted, got); diff != "" || g.Method != MethodBootstrap {
			t.Errorf("%s: %s", access, diff)
		}
		if _, err := r.attempt(t, far(try{key: newKey(t), auth: auth})); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
			t.Errorf("%s: a second device: %v", access, err)
		}
		if _, err := r.attempt(t, far(try{key: key, auth: auth})); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
			t.Errorf("%s: a second time: %v", access, err)
		}
		// With its token it stays within what it got.
		token := protocol.Auth{DeviceToken: g.DeviceToken}
		r.grant(t, far(try{key: key, auth: token, scopes: want}))
		if _, err := r.attempt(t, far(try{key: key, auth: token, scopes: append(want, protocol.ScopeTalkSecrets)})); access == AccessLimited &&
			code(err) != "AUTH_SCOPE_MISMATCH" {
			t.Errorf("%s: more later: %v", access, err)
		}
	}
	if _, _, err := r.MintSetup("everything"); err == nil {
		t.Error("an access that nobody defined")
	}
}

// A code makes a node as well: together with its person's role, or alone.
func TestSec_A_PAIR_05_SetupCodeOfNodes(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	far := func(x try) try { x.remote, x.from = true, "192.168.1.9"; return x }
	key := newKey(t)
	g := r.grant(t, far(try{key: key, auth: mintSetup(t, r, AccessLimited), role: protocol.RoleNode}))
	if g.Role != protocol.RoleNode || len(g.Scopes) != 0 || g.Access != "limited" || len(g.Also) != 1 ||
		g.Also[0].Role != protocol.RoleOperator {
		t.Fatalf("%+v", g)
	}
	limited, _ := setupScopes(AccessLimited)
	if diff := cmp.Diff(limited, g.Also[0].Scopes); diff != "" {
		t.Error(diff)
	}
	if again := r.grant(t, far(try{key: key, auth: protocol.Auth{DeviceToken: g.Also[0].DeviceToken},
		scopes: limited})); again.Role != protocol.RoleOperator {
		t.Errorf("%+v", again)
	}
	if _, err := r.attempt(t, far(try{key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken}, scopes: limited})); err == nil {
		t.Error("the token of a node opened the role of its person")
	}
	if _, err := r.attempt(t, far(try{key: newKey(t), auth: mintSetup(t, r, AccessNode)})); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("a code for a node made an operator: %v", err)
	}
	only := newKey(t)
	if g := r.grant(t, far(try{key: only, auth: mintSetup(t, r, AccessNode), role: protocol.RoleNode})); len(g.Also) != 0 ||
		g.Access != "node" {
		t.Errorf("%+v", g)
	}
	launch, _, err := r.MintLaunch(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.attempt(t, try{key: newKey(t), auth: protocol.Auth{BootstrapToken: launch}, role: protocol.RoleNode}); code(
		err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("a launch link made a node: %v", err)
	}
}

func TestSec_A_PAIR_05_SetupCodesEnd(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	old := mintSetup(t, r, AccessLimited)
	launch, _, err := r.MintLaunch(0)
	if err != nil {
		t.Fatal(err)
	}
	next := mintSetup(t, r, AccessLimited)
	if _, err := r.attempt(t, try{key: newKey(t), auth: old, remote: true, from: "10.0.0.2"}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("the one before: %v", err)
	}
	// A launch link is for this machine, whoever has it.
	if _, err := r.attempt(t, try{key: newKey(t), auth: protocol.Auth{BootstrapToken: launch}, remote: true, from: "10.0.0.2"}); code(
		err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("a launch link from elsewhere: %v", err)
	}
	r.grant(t, try{key: newKey(t), auth: protocol.Auth{BootstrapToken: launch}})
	c.forward(MaxLaunchTTL - time.Second)
	r.grant(t, try{key: newKey(t), auth: next, remote: true, from: "10.0.0.2"})
	last := mintSetup(t, r, AccessLimited)
	c.forward(MaxLaunchTTL)
	if _, err := r.attempt(t, try{key: newKey(t), auth: last, remote: true, from: "10.0.0.2"}); code(err) != "AUTH_BOOTSTRAP_TOKEN_INVALID" {
		t.Errorf("too late: %v", err)
	}
}

// Guessing is charged; a code survives the guesses of others.
func TestSec_A_PAIR_06_GuessingSetupCodes(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	right := mintSetup(t, r, AccessLimited)
	key, limited := newKey(t), 0
	for range 50 {
		_, err := r.attempt(t, try{key: key, auth: protocol.Auth{BootstrapToken: "guess"}, remote: true, from: "10.0.0.66"})
		if code(err) == "AUTH_RATE_LIMITED" {
			limited++
		}
	}
	if limited < 35 {
		t.Errorf("only %d of 50 guesses were held up", limited)
	}
	r.grant(t, try{key: newKey(t), auth: right, remote: true, from: "10.0.0.3"})
}

// A device that was removed gets what the new code gives, not what it had.
func TestSec_A_PAIR_01_RevivedDevicesKeepNothing(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	old := r.grant(t, try{key: key, auth: mintSetup(t, r, AccessFull), scopes: launchScopes(), remote: true, from: "10.0.0.3"})
	if err := r.Revoke(t.Context(), idOf(key)); err != nil {
		t.Fatal(err)
	}
	g := r.grant(t, try{key: key, auth: mintSetup(t, r, AccessLimited), scopes: launchScopes(), remote: true, from: "10.0.0.3"})
	if g.DeviceToken == old.DeviceToken {
		t.Error("the old token lives again")
	}
	for name, token := range map[string]string{"old": old.DeviceToken, "new": g.DeviceToken} {
		_, err := r.attempt(t, try{key: key, auth: protocol.Auth{DeviceToken: token}, scopes: scopes(protocol.ScopeAdmin), remote: true,
			from: "10.0.0.3"})
		if err == nil {
			t.Errorf("the %s token gives admin", name)
		}
	}
}

// A code that another program got hold of, because it reads the links that were
// meant for us, is worth nothing without a device's key, is used up by whoever was
// first, and brings nothing to whoever comes with it later; the device that used
// it is on the list.
func TestSec_A_LINK_04_ACodeThatSomebodyElseGot(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	far := func(x try) try { x.remote, x.from = true, "192.168.1.9"; return x }
	auth := mintSetup(t, r, AccessLimited)
	if _, err := r.attempt(t, far(try{auth: auth})); err == nil {
		t.Error("a code alone lets somebody in")
	}
	ours, theirs := newKey(t), newKey(t)
	r.grant(t, far(try{key: ours, auth: auth, scopes: scopes(protocol.ScopeRead)}))
	for name, x := range map[string]try{
		"with a key of their own": {key: theirs, auth: auth},
		"without a key":           {auth: auth},
		"as a node":               {key: theirs, auth: auth, role: protocol.RoleNode},
	} {
		if _, err := r.attempt(t, far(x)); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
	if all := r.Devices(); len(all) != 1 || all[0].ID != idOf(ours) || all[0].ApprovedVia != viaSetup {
		t.Errorf("%+v", all)
	}
}
