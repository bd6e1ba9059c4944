package update

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// An update, and the way back, are begun by an administrator who sits before the
// machine, and by nobody else.
func TestSec_A_UPD_03_OnlyHereAndOnlyAdministrators(t *testing.T) {
	f := &feature{}
	away := &server.Caller{Scopes: []protocol.Scope{protocol.ScopeAdmin}}
	for name, call := range map[string]func() error{
		protocol.MethodUpdateRun:  func() error { _, err := f.start(t.Context(), away, protocol.UpdateRunParams{}); return err },
		protocol.MethodUpdateBack: func() error { _, err := f.back(t.Context(), away, method.None{}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "on the machine that it runs on") {
			t.Errorf("%s from elsewhere: %v", name, err)
		}
	}
	if f.run != nil {
		t.Error("an update has begun")
	}
	want := map[string]protocol.Scope{
		protocol.MethodUpdateRun: protocol.ScopeAdmin, protocol.MethodUpdateBack: protocol.ScopeAdmin,
		protocol.MethodUpdateCheck: protocol.ScopeAdmin, protocol.MethodUpdateStatus: protocol.ScopeRead,
	}
	found := 0
	for _, m := range protocol.Methods() {
		if scope, ok := want[m.Name]; ok {
			found++
			if m.Scope != scope {
				t.Errorf("%s needs %s", m.Name, m.Scope)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d methods are in the table", found, len(want))
	}
}
