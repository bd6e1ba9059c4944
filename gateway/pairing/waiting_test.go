package pairing

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// asks is a device of the network that knows the shared token, and the id of
// its request.
func (r *Registry) asks(t testing.TB, x try) string {
	t.Helper()
	x.remote = true
	if x.from == "" {
		x.from = "192.168.1.9"
	}
	if x.auth == (protocol.Auth{}) {
		x.auth = shared()
	}
	_, err := r.attempt(t, x)
	if err == nil {
		t.Fatal("a device of the network was let in without a person")
	}
	id, _ := err.Details["requestId"].(string)
	return id
}

var boss = Approval{By: scopes(protocol.ScopeAdmin)}

func TestSec_A_NET_10_ATokenAloneOnlyAsks(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	var told []PairEvent
	r.onPair = func(e PairEvent) { told = append(told, e) }
	key := newKey(t)
	x := try{key: key, scopes: scopes(protocol.ScopeRead, protocol.ScopeWrite)}
	id := r.asks(t, x)
	if again := r.asks(t, x); id == "" || again != id || len(r.Waiting()) != 1 {
		t.Fatalf("%q %q %v", id, again, r.Waiting())
	}
	if len(r.Devices()) != 0 {
		t.Fatal("it is paired already")
	}
	d, err := r.Approve(t.Context(), id, boss)
	if err != nil || d.ApprovedVia != viaOwner || d.ID != idOf(key) {
		t.Fatalf("%+v %v", d, err)
	}
	x.auth, x.remote, x.from = shared(), true, "192.168.1.9"
	if g := r.grant(t, x); !slices.Equal(g.Scopes, x.scopes) {
		t.Errorf("%+v", g)
	}
	if len(told) != 2 || told[0].Decision != "" || told[1].Decision != Approved || told[1].Request.ID != id {
		t.Errorf("%+v", told)
	}
	if _, err := r.Approve(t.Context(), id, boss); !errors.Is(err, ErrNoRequest) {
		t.Error("decided twice:", err)
	}
}

// Who asks for more waits, and keeps what they have meanwhile; what comes is
// exactly what was shown.
func TestSec_A_PAIR_03_UpgradesAreExact(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	id := r.asks(t, try{key: key, scopes: scopes(protocol.ScopeRead)})
	if _, err := r.Approve(t.Context(), id, boss); err != nil {
		t.Fatal(err)
	}
	lan := func(auth protocol.Auth, s ...protocol.Scope) try {
		return try{key: key, auth: auth, scopes: s, remote: true, from: "192.168.1.9"}
	}
	g := r.grant(t, lan(shared(), protocol.ScopeRead))
	token := protocol.Auth{DeviceToken: g.DeviceToken}

	_, perr := r.attempt(t, lan(token, protocol.ScopeWrite))
	if code(perr) != "AUTH_SCOPE_MISMATCH" || perr.Details["requestId"] == nil {
		t.Fatalf("%+v", perr)
	}
	more := perr.Details["requestId"].(string)
	if again := r.grant(t, lan(token, protocol.ScopeRead)); !slices.Equal(again.Scopes, scopes(protocol.ScopeRead)) {
		t.Errorf("what it had is gone: %+v", again)
	}
	// It asks for something else: that is another request, not this one changed.
	_, perr = r.attempt(t, lan(token, protocol.ScopeAdmin))
	if id2 := perr.Details["requestId"]; id2 == more || id2 == nil {
		t.Errorf("the request was changed under the same id: %v", id2)
	}
	if _, err := r.Approve(t.Context(), more, boss); !errors.Is(err, ErrNoRequest) {
		t.Errorf("A-PAIR-10: what is not asked any more was approved: %v", err)
	}
	_, perr = r.attempt(t, lan(token, protocol.ScopeWrite))
	if _, err := r.Approve(t.Context(), perr.Details["requestId"].(string), boss); err != nil {
		t.Fatal(err)
	}
	// Its own token goes on: it has nothing else.
	if g := r.grant(t, lan(token, protocol.ScopeRead, protocol.ScopeWrite)); g.DeviceToken != token.DeviceToken {
		t.Error("the device lost its token")
	}
	if _, perr := r.attempt(t, lan(token, protocol.ScopePairing)); code(perr) != "AUTH_SCOPE_MISMATCH" {
		t.Errorf("more than was approved: %v", perr)
	}
}

// An approver gives what they have: every set of theirs against every set that
// is asked for.
func TestSec_A_PAIR_03_NobodyGivesMoreThanTheyHave(t *testing.T) {
	all := scopes(protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin, protocol.ScopeApprovals, protocol.ScopePairing)
	set := func(bits int) (out []protocol.Scope) {
		for i, s := range all {
			if bits&(1<<i) != 0 {
				out = append(out, s)
			}
		}
		return out
	}
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	for by := range 1 << len(all) {
		for want := range 1 << len(all) {
			w, err := r.wait(&waiting{Request: Request{DeviceID: fmt.Sprint("device ", by, want), Role: protocol.RoleOperator, Scopes: set(want)}},
				time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			may := true
			for _, s := range set(want) {
				may = may && protocol.Allows(set(by), s)
			}
			d, err := r.Approve(t.Context(), w.ID, Approval{By: set(by)})
			if (err == nil) != may {
				t.Fatalf("%v approved %v: %v", set(by), set(want), err)
			}
			if err == nil {
				if diff := cmp.Diff(set(want), d.role(protocol.RoleOperator).Scopes); diff != "" && len(set(want)) > 0 {
					t.Fatal(diff)
				}
				continue
			}
			if !errors.Is(err, ErrTooMuch) || len(r.Waiting()) != 1 {
				t.Fatal(err, r.Waiting())
			}
			r.withdraw(w)
		}
	}
	// A node is not for somebody without admin to let in.
	id := r.asks(t, try{key: newKey(t), role: protocol.RoleNode})
	if _, err := r.Approve(t.Context(), id, Approval{By: scopes(protocol.ScopePairing, protocol.ScopeWrite)}); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
}

func TestSec_A_PAIR_04_NothingMeansNothing(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	for name, s := range map[string][]protocol.Scope{"nil": nil, "none": {}} {
		key := newKey(t)
		d, err := r.Approve(t.Context(), r.asks(t, try{key: key, scopes: s}), boss)
		if err != nil || len(d.role(protocol.RoleOperator).Scopes) != 0 {
			t.Errorf("%s: %+v %v", name, d, err)
		}
		if _, perr := r.attempt(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead), remote: true, from: "10.0.0.1"}); code(
			perr) != "PAIRING_REQUIRED" {
			t.Errorf("%s: %v", name, perr)
		}
	}
	key := newKey(t)
	r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead, protocol.ScopeWrite)})
	g, _, err := r.RotateToken(t.Context(), idOf(key), protocol.RoleOperator, []protocol.Scope{}, boss.By)
	if err != nil || len(g.Scopes) != 0 {
		t.Errorf("rotated to nothing: %+v %v", g, err)
	}
	for _, odd := range []protocol.Scope{"", "*", "operator.*"} {
		if covers(scopes(protocol.ScopeRead), scopes(odd)) && odd != protocol.ScopeNone {
			t.Errorf("%q is covered by read", odd)
		}
	}
}

func TestSec_A_PAIR_09_ACrowdOfDevices(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	first := r.asks(t, try{key: newKey(t), from: "10.1.0.1"})
	for i := range 60 {
		r.asks(t, try{key: newKey(t), from: fmt.Sprintf("10.0.%d.%d", i/20, i%20+1)})
		r.asks(t, try{key: newKey(t), from: "10.1.0.1"})
	}
	all := r.Waiting()
	if len(all) != maxWaiting || all[0].ID != first {
		t.Errorf("%d wait", len(all))
	}
	from := 0
	for _, q := range all {
		if q.Source == "10.1.0.1" {
			from++
		}
	}
	if from > maxWaitingEach {
		t.Errorf("%d of one source", from)
	}
	c.forward(requestLife)
	if left := r.Waiting(); len(left) != 0 {
		t.Errorf("%d wait for ever", len(left))
	}
	if _, err := r.Approve(t.Context(), first, boss); !errors.Is(err, ErrNoRequest) {
		t.Errorf("an expired request was approved: %v", err)
	}
}

func TestNoMeansNoForAWhile(t *testing.T) {
	c := newClock()
	r := newRegistry(t, c, &memoryStore{})
	x := try{key: newKey(t), scopes: scopes(protocol.ScopeRead)}
	if _, err := r.Reject(r.asks(t, x)); err != nil {
		t.Fatal(err)
	}
	if id := r.asks(t, x); id != "" || len(r.Waiting()) != 0 {
		t.Error("it asks again at once")
	}
	c.forward(noMeansNo)
	if id := r.asks(t, x); id == "" {
		t.Error("it may never ask again")
	}
}

// A removed device may ask, and is shown as what it is; nothing of before comes
// back with the approval.
func TestSec_A_NET_13_ARemovedDeviceAsksAnew(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	old := r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeAdmin)})
	r.grant(t, try{key: key, auth: shared(), role: protocol.RoleNode})
	if err := r.Revoke(t.Context(), idOf(key)); err != nil {
		t.Fatal(err)
	}
	id := r.asks(t, try{key: key, scopes: scopes(protocol.ScopeRead)})
	if all := r.Waiting(); len(all) != 1 || all[0].Reason != "revoked" {
		t.Fatalf("%+v", all)
	}
	if _, err := r.Approve(t.Context(), id, boss); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]try{
		"the old token":  {key: key, auth: protocol.Auth{DeviceToken: old.DeviceToken}, scopes: scopes(protocol.ScopeRead)},
		"the old rights": {key: key, auth: shared(), scopes: scopes(protocol.ScopeAdmin), remote: true, from: "10.0.0.2"},
		"the old role":   {key: key, auth: shared(), role: protocol.RoleNode},
	} {
		if _, err := r.attempt(t, x); err == nil {
			t.Errorf("%s came back", name)
		}
	}
}

func TestSec_A_PAIR_01_RotateNeverWidens(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	g := r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead, protocol.ScopeWrite)})
	rotate := func(by []protocol.Scope, to ...protocol.Scope) error {
		_, _, err := r.RotateToken(t.Context(), idOf(key), protocol.RoleOperator, to, by)
		return err
	}
	for name, err := range map[string]error{
		"to more than the device has":       rotate(boss.By, protocol.ScopeAdmin),
		"by somebody who may do less":       rotate(scopes(protocol.ScopePairing), protocol.ScopeRead),
		"by somebody with nothing":          rotate(nil, protocol.ScopeRead),
		"more than either, with a wild one": rotate(scopes(protocol.ScopePairing), "*"),
	} {
		if !errors.Is(err, ErrTooMuch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := r.grant(t, try{key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken},
		scopes: scopes(protocol.ScopeWrite)}); again.DeviceToken != g.DeviceToken {
		t.Error("a refused rotation changed something")
	}
	if err := rotate(boss.By, protocol.ScopeRead); err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Lease.Ended():
	default:
		t.Error("A-NET-12: the connection of the old token goes on")
	}
	if _, err := r.attempt(t, try{key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken}}); code(err) != "AUTH_DEVICE_TOKEN_MISMATCH" {
		t.Error("A-NET-12: the old token works:", err)
	}
	if _, err := r.attempt(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeWrite), remote: true, from: "10.0.0.2"}); code(
		err) != "PAIRING_REQUIRED" {
		t.Error("what was taken away by rotation came back:", err)
	}
}

func TestSec_A_PAIR_02_ARoleIsNotChangedByRotation(t *testing.T) {
	r := newRegistry(t, newClock(), &memoryStore{})
	key := newKey(t)
	r.grant(t, try{key: key, auth: shared(), role: protocol.RoleNode})
	for _, role := range []protocol.Role{protocol.RoleOperator, "", "admin"} {
		if _, _, err := r.RotateToken(t.Context(), idOf(key), role, nil, boss.By); !errors.Is(err, ErrNoRole) {
			t.Errorf("%q: %v", role, err)
		}
	}
	if _, _, err := r.RotateToken(t.Context(), idOf(key), protocol.RoleNode, nil, scopes(protocol.ScopePairing)); !errors.Is(err, ErrTooMuch) {
		t.Error("a node's token for somebody without admin:", err)
	}
	if _, _, err := r.RotateToken(t.Context(), "nobody", protocol.RoleNode, nil, boss.By); !errors.Is(err, ErrNoDevice) {
		t.Error(err)
	}
}

func TestSec_A_NET_12_ARevokedRoleStaysAway(t *testing.T) {
	store, c := &memoryStore{}, newClock()
	r := newRegistry(t, c, store)
	key := newKey(t)
	g := r.grant(t, try{key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)})
	node := r.grant(t, try{key: key, auth: shared(), role: protocol.RoleNode})
	if _, err := r.RevokeToken(t.Context(), idOf(key), protocol.RoleOperator, boss.By); err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Lease.Ended():
	default:
		t.Error("its connection goes on")
	}
	select {
	case <-node.Lease.Ended():
		t.Error("the other role was ended too")
	default:
	}
	for name, reg := range map[string]*Registry{"now": r, "after a restart": newRegistry(t, c, store)} {
		for what, x := range map[string]try{
			"its token":                 {key: key, auth: protocol.Auth{DeviceToken: g.DeviceToken}, scopes: scopes(protocol.ScopeRead)},
			"silently, from here":       {key: key, auth: shared(), scopes: scopes(protocol.ScopeRead)},
			"from elsewhere":            {key: key, auth: shared(), scopes: scopes(protocol.ScopeRead), remote: true, from: "10.0.0.9"},
			"by rotation, indirectly":   {key: key, auth: protocol.Auth{DeviceToken: deviceToken(r.key, idOf(key), protocol.RoleOperator, 2)}},
			"with nothing asked at all": {key: key, auth: shared()},
		} {
			if _, err := reg.attempt(t, x); err == nil {
				t.Errorf("%s: %s: let in", name, what)
			}
		}
	}
	if _, _, err := r.RotateToken(t.Context(), idOf(key), protocol.RoleOperator, nil, boss.By); !errors.Is(err, ErrNoRole) {
		t.Error("rotation revived it:", err)
	}
	r.grant(t, try{key: key, auth: protocol.Auth{DeviceToken: node.DeviceToken}, role: protocol.RoleNode})
}
