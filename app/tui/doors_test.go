package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestDevicesThatAskAreShown(t *testing.T) {
	b := newBench(t, 100, 24).connect()
	off := time.Duration(0) // of the gateway's clock
	ask := func(id, name string, life time.Duration) {
		at := b.now().Add(off)
		b.event(protocol.EventPairRequested, protocol.PairRequest{RequestID: id, DisplayName: name, Code: "230104", TS: at.UnixMilli(),
			ExpiresAtMs: at.Add(life).UnixMilli()})
	}
	b.wants("!asks to be let in")
	ask("one", "laptop\x1b[31m\n", time.Minute)
	b.wants("laptop", "asks to be let in: 230 104", "Ctrl+G")
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

func TestADeviceIsLetInOrTurnedAway(t *testing.T) {
	b := newBench(t, 100, 24).connect()
	ask := func(id, code string, life time.Duration) {
		b.event(protocol.EventPairRequested, protocol.PairRequest{RequestID: id, DisplayName: "laptop", RemoteIP: "192.168.1.7", Code: code,
			TS: b.now().UnixMilli(), ExpiresAtMs: b.now().Add(life).UnixMilli()})
	}
	last := func() string { return b.g.calls[len(b.g.calls)-1] }
	ask("one", "230104", time.Minute)
	b.keys("'y") // typing lets nobody in
	if strings.Contains(strings.Join(b.g.calls, "\n"), protocol.MethodPairApprove) {
		t.Fatal(b.g.calls)
	}
	b.keys("ctrl+g")
	b.wants("laptop at 192.168.1.7", "Its screen shows: 230 104", "y the digits are the same")
	b.keys("'y")
	if got := last(); got != `device.pair.approve {"requestId":"one"}` {
		t.Error(got)
	}
	ask("two", "111222", time.Minute)
	b.event(protocol.EventPairResolved, protocol.PairResolved{RequestID: "one", Decision: "approved"})
	b.wants("!Let this device in?") // a key for the one does not meet the other
	b.keys("ctrl+g", "'n")
	if got := last(); got != `device.pair.reject {"requestId":"two"}` {
		t.Error(got)
	}
	b.event(protocol.EventPairResolved, protocol.PairResolved{RequestID: "two", Decision: "rejected"})
	ask("three", "", time.Minute) // with the gateway's token: nothing to compare
	b.keys("ctrl+g", "'y")
	b.wants("shows no digits")
	if got := last(); got != `device.pair.reject {"requestId":"two"}` {
		t.Error(got)
	}
	b.keys("esc")
	b.wants("!Let this device in?")
}
