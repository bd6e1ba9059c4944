package tui

import (
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestDevicesThatAskAreShown(t *testing.T) {
	b := newBench(t, 100, 24).connect()
	ask := func(id, name string, life time.Duration) {
		b.event(protocol.EventPairRequested, protocol.PairRequest{RequestID: id, DisplayName: name, Code: "230104", ExpiresAtMs: b.now().Add(life).UnixMilli()})
	}
	b.wants("!asks to be let in")
	ask("one", "laptop\x1b[31m\n", time.Minute)
	b.wants("laptop", "asks to be let in: 230 104", "hearth devices")
	b.event(protocol.EventPairResolved, protocol.PairResolved{RequestID: "one", Decision: "approved"})
	b.wants("!asks to be let in")
	ask("two", "", -time.Second) // too late
	b.wants("!asks to be let in")
}
