package tui

import (
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// event takes one event of the gateway.
func (m *Model) event(e protocol.Event) tea.Cmd {
	switch e.Event {
	case protocol.EventChat:
		var ev protocol.ChatEvent
		if json.Unmarshal(e.Payload, &ev) == nil {
			return m.chat(&ev)
		}
	case protocol.EventSessionMessage:
		var ev protocol.SessionMessage
		if json.Unmarshal(e.Payload, &ev) == nil && ev.Message != nil {
			return m.message(&ev)
		}
	case protocol.EventAgent, protocol.EventSessionTool:
		var ev protocol.AgentEvent
		if json.Unmarshal(e.Payload, &ev) == nil && ev.Stream == "tool" {
			m.tool(&ev)
		}
	case protocol.EventExecApprovalRequested:
		m.asked(e.Payload)
	case protocol.EventExecApprovalResolved:
		m.answered(e.Payload)
	case protocol.EventPairRequested:
		m.knocked(e.Payload)
	case protocol.EventPairResolved:
		m.opened(e.Payload)
	case protocol.EventSessionsChanged:
		var ev protocol.SessionsChanged
		if json.Unmarshal(e.Payload, &ev) == nil {
			return m.changed(&ev)
		}
	}
	return nil
}

// chat takes news of a run.
func (m *Model) chat(ev *protocol.ChatEvent) tea.Cmd {
	r := m.find(ev.SessionKey)
	if r == nil || r != m.room || r.ended[ev.RunID] {
		return nil
	}
	switch ev.State {
	case protocol.ChatStatus:
		if ev.Phase != "queued" {
			m.begin(r, ev.RunID).phase = ev.Phase
		}
		return m.reload(r)
	case protocol.ChatDelta:
		l := m.begin(r, ev.RunID)
		first := len(l.text) == 0
		l.phase = ""
		if l.delta(ev) || first && len(r.queue()) > 0 { // a waiting message may have joined
			return m.reload(r)
		}
	case protocol.ChatFinal, protocol.ChatAborted, protocol.ChatError:
		r.ended[ev.RunID] = true
		if r.live != nil && r.live.run == ev.RunID {
			r.live = nil
		}
		if ev.Message != nil {
			r.put(*ev.Message)
		}
		return m.reload(r)
	}
	return nil
}

func (m *Model) begin(r *room, run string) *live {
	if r.live == nil || r.live.run != run {
		r.live = &live{run: run, since: m.now()}
	}
	return r.live
}

// message takes an entry of the transcript.
func (m *Model) message(ev *protocol.SessionMessage) tea.Cmd {
	r := m.find(ev.SessionKey)
	if r == nil || r != m.room {
		return nil
	}
	r.put(*ev.Message)
	if meta := ev.Message.Meta; meta != nil && ev.Message.Role == protocol.MessageAssistant && r.live != nil && r.live.run == meta.RunID {
		r.live.text = nil // these words stand in the transcript now
	}
	r.settleOut()
	if ev.Message.ExcludeFromContext { // the reply to a command: its question has no event
		return m.reload(r)
	}
	return nil
}

// tool notes how long tool calls take.
func (m *Model) tool(ev *protocol.AgentEvent) {
	r := m.find(ev.SessionKey)
	id, _ := ev.Data["toolCallId"].(string)
	if r == nil || id == "" {
		return
	}
	switch ev.Data["phase"] {
	case "start":
		r.started[id] = m.now()
	case "result":
		if ms, ok := ev.Data["durationMs"].(float64); ok {
			r.took[id] = time.Duration(ms) * time.Millisecond
		}
	}
}

// changed takes news of a session's row.
func (m *Model) changed(ev *protocol.SessionsChanged) tea.Cmd {
	i := slices.IndexFunc(m.rows, func(s protocol.SessionRow) bool { return s.Key == ev.SessionKey })
	if s := ev.Session; s != nil && (ev.Phase == "end" || ev.Phase == "error") && s.ActiveRunID == ev.RunID {
		s.HasActiveRun, s.ActiveRunID = false, "" // the row was read while its run was being put away
	}
	switch {
	case ev.Reason == "delete":
		if i >= 0 {
			m.rows = slices.Delete(m.rows, i, i+1)
		}
	case ev.Session == nil:
	case i >= 0:
		m.rows[i] = *ev.Session
	default:
		m.rows = append(m.rows, *ev.Session)
	}
	m.sortRows()
	if r := m.find(ev.SessionKey); r != nil && r == m.room {
		return m.reload(r)
	}
	return nil
}

func (m *Model) sortRows() {
	open := ""
	if m.list.at < len(m.rows) && m.list.open {
		open = m.rows[m.list.at].Key
	}
	slices.SortStableFunc(m.rows, func(a, b protocol.SessionRow) int {
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return int(min(1, max(-1, b.UpdatedAt-a.UpdatedAt)))
	})
	if open != "" { // the mark stays on its session
		m.list.at = max(0, slices.IndexFunc(m.rows, func(s protocol.SessionRow) bool { return s.Key == open }))
	}
}
