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
		{"Ctrl+X", "take a waiting message back"},
		{"Ctrl+R", "send a failed message again"},
		{"PgUp PgDn, End", "scroll, jump to the latest"},
		{"Ctrl+O", "open or close tool calls"},
		{"Ctrl+B", "sessions; r there renames"},
		{"Ctrl+N, F2", "new session, rename this one"},
		{"/", "commands: /status, /model, /why …"},
		{"Ctrl+C", "leave; Hearth goes on"},
	}
}

func (m *Model) helpScreen(w, h int) []string {
	t := &m.theme
	lines := []string{t.brand.paint("Keys") + t.dim.paint(" · any key closes this")}
	if h > 16 {
		lines = append(lines, "")
	}
	for _, l := range helpLines() {
		lines = append(lines, clip("  "+t.bold.paint(fit(l[0], 18))+" "+l[1], w))
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}
