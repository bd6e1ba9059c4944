package tui

import (
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestDevicesThatAskAreShown(t *testing.T) {
	b := newBench(t, 100, 24).connect()
	off := time.Duration(0) // of the gateway's clock
	ask := func(id, name string, life time.Duration) {
		at := b.now().Add(off)
		b.event(protocol.EventPairRequested, protocol.PairRequest{RequestID: id, DisplayName: name, Code: "230104", TS: at.UnixMilli(), ExpiresAtMs: at.Add(life).UnixMilli()})
	}
	b.wants("!asks to be let in")
	ask("one", "laptop\x1b[31m\n", time.Minute)
	b.wants("laptop", "asks to be let in: 230 104", "hearth devices")
	b.event(protocol.EventPairResolved, protocol.PairResolved{RequestID: "one", Decision: "approved"})
	b.wants("!asks to be let in")
	ask("two", "", -time.Second) // too late
	b.wants("!asks to be let in")

	// However far the gateway's clock is off (F-CLK-01).
	for i, o := range []time.Duration{-9 * time.Hour, 9 * time.Hour} {
		off = o
		id := string(rune('a' + i))
		ask(id, "laptop", time.Minute)
		b.wants("laptop", "asks to be let in: 230 104")
		b.event(protocol.EventPairResolved, protocol.PairResolved{RequestID: id, Decision: "approved"})
		b.wants("!asks to be let in")
	}
}
