package tui

// helpLines is what the keys do.
func helpLines() [][2]string {
	return [][2]string{
		{"Enter", "send; during an answer it steers"},
		{"Tab", "send behind the answer, or complete"},
		{"Alt+Enter, Ctrl+J", "new line"},
		{"Esc", "stop the answer and what waits"},
		{"↑", "bring back what was sent"},
		{"Alt+↑", "change a waiting message"},
		{"Alt+E", "change a sent message; again: before it"},
		{"Alt+R, Alt+V", "answer again; the next version"},
		{"Ctrl+X", "take a waiting message back"},
		{"Ctrl+R", "send a failed message again"},
		{"PgUp PgDn, End", "scroll, jump to the latest"},
		{"Ctrl+O", "open or close tool calls"},
		{"Alt+O", "open the picture in its program"},
		{"Ctrl+G", "what waits for your yes"},
		{"Ctrl+B", "sessions; r there renames"},
		{"Ctrl+N, F2", "new session, rename this one"},
		{"/", "commands: /status, /model, /why …"},
		{"Ctrl+L, Ctrl+C", "draw anew; leave, Hearth goes on"},
	}
}

// helpScreen draws the keys; what does not fit is reached by scrolling.
func (m *Model) helpScreen(w, h int) []string {
	t := &m.theme
	var body []string
	for _, l := range helpLines() {
		if w >= 56 {
			body = append(body, clip("  "+t.bold.paint(fit(l[0], 18))+" "+l[1], w))
			continue
		}
		body = append(body, clip(t.bold.paint(l[0]), w))
		body = append(body, wrap([]span{{l[1], ""}}, w, "  ", "  ")...)
	}
	room := max(1, h-1)
	m.helpAt = max(0, min(m.helpAt, len(body)-room))
	hint := " · any key closes this"
	if len(body) > room {
		hint = " · ↑↓ scroll, others close"
	}
	lines := []string{clip(t.brand.paint("Keys")+t.dim.paint(hint), w)}
	lines = append(lines, body[m.helpAt:min(len(body), m.helpAt+room)]...)
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}

func (m *Model) helpKey(k string) {
	page := max(1, m.h-2)
	switch k {
	case "up":
		m.helpAt--
	case "down":
		m.helpAt++
	case "pgup":
		m.helpAt -= page
	case "pgdown":
		m.helpAt += page
	default:
		m.help, m.helpAt = false, 0
	}
}
