package tui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxDoors is how many devices that ask are remembered; one line is shown.
const maxDoors = 32

// doors are devices that ask to be let in. As with requests, nothing is decided
// before the person has opened the question.
type doors struct {
	list []protocol.PairRequest
	open string // the request that is asked about, "" for none
}

type doorsMsg struct {
	list []protocol.PairRequest
	err  error
}

func (m *Model) listDoors() tea.Cmd {
	return func() tea.Msg {
		var l protocol.PairedDevices
		err := m.wire.Call(m.ctx, protocol.MethodPairList, nil, &l)
		return doorsMsg{l.Pending, err}
	}
}

func (m *Model) tookDoors(msg doorsMsg) {
	if msg.err != nil {
		return // without the right to decide there is nothing to show
	}
	m.doors.list = msg.list[:min(len(msg.list), maxDoors)]
	for i, r := range m.doors.list {
		m.doors.list[i] = m.ours(r)
	}
}

// ours is the request with its end by this machine's clock, which may not agree
// with the gateway's.
func (m *Model) ours(r protocol.PairRequest) protocol.PairRequest {
	r.ExpiresAtMs = m.now().UnixMilli() + max(0, r.ExpiresAtMs-r.TS)
	return r
}

// knocked: a device asks to be let in.
func (m *Model) knocked(payload json.RawMessage) {
	var r protocol.PairRequest
	if json.Unmarshal(payload, &r) != nil || r.RequestID == "" || len(m.doors.list) >= maxDoors {
		return
	}
	m.doors.list = append(slices.DeleteFunc(m.doors.list, func(d protocol.PairRequest) bool { return d.RequestID == r.RequestID }), m.ours(r))
}

// opened: that was decided, somewhere.
func (m *Model) opened(payload json.RawMessage) {
	var r protocol.PairResolved
	if json.Unmarshal(payload, &r) == nil {
		m.doors.list = slices.DeleteFunc(m.doors.list, func(d protocol.PairRequest) bool { return d.RequestID == r.RequestID })
	}
}

// waitingDoors are the devices whose time to ask is not over.
func (m *Model) waitingDoors() []protocol.PairRequest {
	m.doors.list = slices.DeleteFunc(m.doors.list, func(d protocol.PairRequest) bool { return m.now().UnixMilli() >= d.ExpiresAtMs })
	return m.doors.list
}

// doorOpen is the device that is asked about on the screen, nil without one. A
// key for one that is gone must not meet another.
func (m *Model) doorOpen() *protocol.PairRequest {
	list := m.waitingDoors()
	if i := slices.IndexFunc(list, func(d protocol.PairRequest) bool { return d.RequestID == m.doors.open }); i >= 0 {
		return &list[i]
	}
	m.doors.open = ""
	return nil
}

// openDoor asks about the device that came last, and says whether there is one.
func (m *Model) openDoor() bool {
	list := m.waitingDoors()
	if len(list) == 0 {
		return false
	}
	m.doors.open = list[len(list)-1].RequestID
	return true
}

// doorKey takes a key of the question.
func (m *Model) doorKey(d protocol.PairRequest, k string) tea.Cmd {
	switch k {
	case "y":
		if d.Code == "" {
			m.notice = "This device shows no digits: `hearth devices` and the page say more of it."
			return nil
		}
		return m.decideDoor(d, protocol.MethodPairApprove, "let the device in")
	case "n":
		return m.decideDoor(d, protocol.MethodPairReject, "turn the device away")
	case "esc", "ctrl+g", "q":
		m.doors.open = ""
	}
	return nil
}

func (m *Model) decideDoor(d protocol.PairRequest, method, what string) tea.Cmd {
	return func() tea.Msg {
		var res json.RawMessage
		return doneMsg{what: what, err: m.wire.Call(m.ctx, method, protocol.PairDecisionParams{RequestID: d.RequestID}, &res)}
	}
}

// doorScreen draws the question.
func (m *Model) doorScreen(d protocol.PairRequest, w, h int) []string {
	t := &m.theme
	lines := []string{clip(t.brand.paint("Let this device in?"), w)}
	put := func(s string, l look) { lines = append(lines, wrap([]span{{terminal.Line(s), l}}, w, "", "  ")...) }
	put(doorName(d)+" at "+cmp.Or(d.RemoteIP, "an address that is not known")+" asks to be let in.", "")
	foot := "n no · Esc later"
	if d.Code != "" {
		lines = append(lines, "")
		put("Its screen shows: "+protocol.ShownCode(d.Code), t.bold)
		put("Do the digits differ? Then somebody sits between the two machines: say no.", t.warn)
		put("It may then talk, read and decide about requests, and change no settings.", t.dim)
		foot = "y the digits are the same: let it in · " + foot
	} else {
		put("It shows no digits that could be compared. `hearth devices` and the page say what it asks for.", t.dim)
	}
	if m.notice != "" {
		foot = m.notice
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	return append(lines[:h-1], clip(t.warn.paint(foot), w))
}

func doorName(d protocol.PairRequest) string {
	return cmp.Or(strings.TrimSpace(terminal.Line(d.DisplayName)), "a device")
}

// door is the line about the device that asks, "" without one.
func (m *Model) door() string {
	list := m.waitingDoors()
	if len(list) == 0 {
		return ""
	}
	d := list[len(list)-1]
	line := clip(doorName(d), 20) + " asks to be let in"
	if d.Code != "" {
		line += ": " + protocol.ShownCode(terminal.Line(d.Code))
	}
	return line + " · Ctrl+G"
}
