package approval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// How far a yes may go, by what is known of the thing.
func TestSec_A_EXEC_08_Scopes(t *testing.T) {
	const once, session, here, program, deny, never = approval.ScopeOnce, approval.ScopeSession, approval.ScopeHere, approval.ScopeProgram,
		approval.ScopeDeny, approval.ScopeNever
	for _, tc := range []struct {
		name   string
		change func(*approval.Ask)
		want   []approval.Scope
	}{
		{"known and lasting", func(*approval.Ask) {}, []approval.Scope{once, session, here, program, deny, never}},
		{"known", func(a *approval.Ask) { a.Lasting = false }, []approval.Scope{once, session, deny, never}},
		{"neither", func(a *approval.Ask) { a.Known, a.Lasting = false, false }, []approval.Scope{once, deny, never}},
		{"a stranger among its programs", func(a *approval.Ask) { a.Known = false }, []approval.Scope{once, session, deny, never}},
		{"a stranger outside of the sandbox", func(a *approval.Ask) { a.Known, a.Unconfined = false, true }, []approval.Scope{once, deny, never}},
		{"known, outside of the sandbox", func(a *approval.Ask) { a.Unconfined = true }, []approval.Scope{once, session, here, deny, never}},
		{"a stranger that is not bound", func(a *approval.Ask) { a.Known, a.Digest = false, [32]byte{} }, []approval.Scope{once, deny, never}},
		{"no command", func(a *approval.Ask) { a.Known, a.Kind = false, approval.KindFile }, []approval.Scope{once, deny, never}},
	} {
		a := ask("r1", "gadget --now")
		tc.change(&a)
		if diff := cmp.Diff(tc.want, a.Scopes()); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}
