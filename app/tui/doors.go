package tui

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxDoors is how many devices that ask are remembered; one line is shown.
const maxDoors = 32

// knocked: a device asks to be let in.
func (m *Model) knocked(payload json.RawMessage) {
	var r protocol.PairRequest
	if json.Unmarshal(payload, &r) != nil || r.RequestID == "" || len(m.doors) >= maxDoors {
		return
	}
	// It ends by the gateway's clock, which may not agree with this machine's.
	r.ExpiresAtMs = m.now().UnixMilli() + max(0, r.ExpiresAtMs-r.TS)
	m.doors = append(m.doors, r)
}

// opened: that was decided, somewhere.
func (m *Model) opened(payload json.RawMessage) {
	var r protocol.PairResolved
	if json.Unmarshal(payload, &r) == nil {
		m.doors = slices.DeleteFunc(m.doors, func(d protocol.PairRequest) bool { return d.RequestID == r.RequestID })
	}
}

// door is the line about the device that asks, "" without one. Deciding is for
// `hearth devices` and the page: there is room there to say what it means.
func (m *Model) door() string {
	m.doors = slices.DeleteFunc(m.doors, func(d protocol.PairRequest) bool { return m.now().UnixMilli() >= d.ExpiresAtMs })
	if len(m.doors) == 0 {
		return ""
	}
	d := m.doors[len(m.doors)-1]
	name := strings.TrimSpace(terminal.Line(d.DisplayName))
	if name == "" {
		name = "a device"
	}
	line := clip(name, 20) + " asks to be let in"
	if d.Code != "" {
		line += ": " + protocol.ShownCode(terminal.Line(d.Code))
	}
	return line + " · hearth devices"
}
