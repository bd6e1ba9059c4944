package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// asks is what waits for the person's yes. It opens only when they want to: a
// key that was meant for a message must not allow anything.
type asks struct {
	list []protocol.Approval
	open bool
	at   int
	top  int  // the first line that is seen
	read bool // the end was on the screen, so the whole was
}

type asksMsg struct {
	list []protocol.Approval
	err  error
}

func (m *Model) listAsks() tea.Cmd {
	return func() tea.Msg {
		var l []protocol.Approval
		err := m.wire.Call(m.ctx, protocol.MethodExecApprovalList, nil, &l)
		return asksMsg{l, err}
	}
}

func (m *Model) tookAsks(msg asksMsg) {
	if msg.err != nil {
		return // without the right to decide there is nothing to show
	}
	m.asks.list = msg.list
	m.turnTo(min(m.asks.at, len(msg.list)-1))
}

// asked and answered take the events.
func (m *Model) asked(payload json.RawMessage) {
	var a protocol.Approval
	if json.Unmarshal(payload, &a) != nil || a.ID == "" || slices.ContainsFunc(m.asks.list, func(o protocol.Approval) bool {
		return o.ID == a.ID
	}) {
		return
	}
	m.asks.list = append(m.asks.list, a)
}

func (m *Model) answered(payload json.RawMessage) {
	var a protocol.ApprovalResolved
	if json.Unmarshal(payload, &a) != nil {
		return
	}
	i := slices.IndexFunc(m.asks.list, func(o protocol.Approval) bool { return o.ID == a.ID })
	if i < 0 {
		return
	}
	m.asks.list = slices.Delete(m.asks.list, i, i+1)
	if m.asks.at == i { // a key for this one must not meet another
		m.asks.open = false
	}
	if m.asks.at >= i {
		m.turnTo(max(0, m.asks.at-1))
	}
}

// turnTo shows another request, from its beginning.
func (m *Model) turnTo(i int) {
	m.asks.at, m.asks.top, m.asks.read = max(0, i), 0, false
	if len(m.asks.list) == 0 {
		m.asks.open = false
	}
}

func (m *Model) openAsks() {
	if len(m.asks.list) == 0 {
		if m.openDoor() {
			return
		}
		m.notice = "Nothing waits for your yes."
		return
	}
	m.asks.open = true
	m.turnTo(0)
}

// asksKey takes a key of the open requests.
func (m *Model) asksKey(k string) tea.Cmd {
	scopes := map[string]string{"y": "once", "s": "session", "h": "here", "p": "program", "f": "folder", "n": "deny", "N": "never",
		"shift+n": "never"}
	page := max(1, m.h-3)
	switch k {
	case "esc", "ctrl+g", "q":
		m.asks.open = false
	case "tab", "right":
		m.turnTo((m.asks.at + 1) % len(m.asks.list))
	case "up":
		m.asks.top--
	case "down":
		m.asks.top++
	case "pgup":
		m.asks.top -= page
	case "pgdown", "space", " ":
		m.asks.top += page
	default:
		if scope := scopes[k]; scope != "" {
			return m.decideAsk(scope)
		}
	}
	return nil
}

func (m *Model) decideAsk(scope string) tea.Cmd {
	a := m.asks.list[m.asks.at]
	yes := scope != "deny" && scope != "never"
	switch {
	case !slices.Contains(a.Request.HearthScopes, scope):
		m.notice = "This cannot be allowed that far."
		return nil
	case yes && !m.asks.read:
		m.notice = "Read it to the end first (↓)."
		return nil
	}
	decision := protocol.DecisionAllowAlways
	switch {
	case !yes:
		decision = protocol.DecisionDeny
	case scope == "once":
		decision = protocol.DecisionAllowOnce
	}
	return func() tea.Msg {
		var res protocol.OKResult
		err := m.wire.Call(m.ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: a.ID, Decision: decision,
			HearthScope: scope}, &res)
		return doneMsg{what: "decide about the request", err: err}
	}
}

// askLines is a request, whole.
func (m *Model) askLines(a *protocol.Approval, w int) (out []string) {
	t, q := &m.theme, &a.Request
	put := func(s string, l look) { out = append(out, wrap([]span{{terminal.Line(s), l}}, w, "", "  ")...) }
	put(q.Says(), t.bold)
	out = append(out, "")
	for _, l := range q.HearthLines {
		put(l, "")
	}
	if len(q.HearthLines) == 0 {
		put(q.Command, "")
		if q.Cwd != nil {
			put("Folder: "+*q.Cwd, "")
		}
	}
	for _, l := range q.HearthWarn {
		if !slices.Contains(q.HearthLines, l) {
			put("! "+l, t.warn)
		}
	}
	for _, s := range q.HearthScripts {
		out = append(out, "")
		put("Text of "+s.Path, t.bold)
		rows, more := s.Head(1 << 20)
		for _, l := range rows {
			out = append(out, wrap([]span{{strings.ReplaceAll(terminal.Clean(l), "\t", "    "), ""}}, w, "| ", "|   ")...)
		}
		if len(rows) == 0 {
			put("! "+s.Why, t.warn)
		}
		if more > 0 {
			put(fmt.Sprintf("! %d more lines stand in the file itself", more), t.warn)
		}
	}
	if q.HearthWhy != "" {
		put("Why: "+q.HearthWhy, t.dim)
	}
	put("Asked by "+q.AgentID+" in "+q.SessionKey+", from "+q.HearthFrom, t.dim)
	return out
}

// asksScreen draws the request; it counts as read once its end was seen.
func (m *Model) asksScreen(w, h int) []string {
	t := &m.theme
	a := &m.asks.list[m.asks.at]
	body := m.askLines(a, w)
	room := max(1, h-2)
	m.asks.top = max(0, min(m.asks.top, len(body)-room))
	end := min(len(body), m.asks.top+room)
	m.asks.read = m.asks.read || end == len(body)
	head := t.brand.paint("May I do this?")
	if n := len(m.asks.list); n > 1 {
		head += t.dim.paint(" · " + itoa(m.asks.at+1) + " of " + itoa(n) + ", Tab shows the next")
	}
	lines := append([]string{clip(head, w)}, body[m.asks.top:end]...)
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	foot := strings.Join(askKeys(a.Request.HearthScopes), " · ") + " · Esc later"
	if !m.asks.read {
		foot = "↓ read on · n no · Esc later"
	}
	if m.notice != "" {
		foot = m.notice
	}
	return append(lines, clip(t.warn.paint(foot), w))
}

func askKeys(scopes []string) (out []string) {
	words := map[string]string{"once": "y once", "session": "s this session", "here": "h exactly this here",
		"program": "p with any arguments here", "folder": "f read in this folder", "deny": "n no", "never": "N never"}
	for _, s := range scopes {
		if w := words[s]; w != "" {
			out = append(out, w)
		}
	}
	return out
}
