package protocol_test

import (
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What leaves the gateway says what repairs it, and does not change the error itself.
func TestErrorsCarryTheirRepair(t *testing.T) {
	locked := protocol.Invalid("locked").With("code", "SECRETS_LOCKED")
	if e := protocol.AsError(fmt.Errorf("set: %w", locked)); e.Details["repair"] != protocol.RepairUnlock || locked.Details["repair"] != nil {
		t.Errorf("%+v, %+v", e, locked)
	}
	own := locked.With("repair", protocol.RepairKey)
	if e := protocol.AsError(own); e.Details["repair"] != protocol.RepairKey {
		t.Errorf("%+v", e)
	}
	if e := protocol.AsError(protocol.Invalid("no").With("code", "NOT_FOUND")); e.Details["repair"] != nil {
		t.Errorf("%+v", e)
	}
}
