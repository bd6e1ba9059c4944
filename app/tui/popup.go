package tui

import (
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/app/terminal"
)

// popup completes slash commands above the composer.
type popup struct {
	at     int
	closed string // the text for which a person closed it
}

// choice is one thing that completes the text.
type choice struct {
	text string // what the composer holds then
	name string
	note string
}

// choices are the completions of what stands in the composer: commands for
// "/…", a command's arguments behind it.
func (m *Model) choices() (out []choice) {
	if m.room == nil || m.rename != nil || m.fill != nil {
		return nil
	}
	c := &m.room.draft
	if !strings.HasPrefix(c.text, "/") || c.at != len(c.text) || strings.Contains(c.text, "\n") || c.text == m.popup.closed {
		return nil
	}
	head, rest, args := strings.Cut(c.text, " ")
	for _, cmd := range m.commands {
		for _, alias := range cmd.TextAliases {
			alias = terminal.Line(alias)
			if !args && strings.HasPrefix(alias, strings.ToLower(head)) {
				text := alias
				if cmd.AcceptsArgs {
					text += " "
				}
				note := terminal.Line(cmd.Description)
				name := alias
				if len(cmd.Args) > 0 {
					name += " " + terminal.Line(cmd.Args[0].Name)
				}
				out = append(out, choice{text, name, note})
				break
			}
			if args && alias == strings.ToLower(head) && len(cmd.Args) > 0 && !strings.Contains(rest, " ") {
				for _, c := range cmd.Args[0].Choices {
					if v := terminal.Line(c.Value); strings.HasPrefix(v, strings.ToLower(rest)) && v != rest {
						out = append(out, choice{head + " " + v, v, ""})
					}
				}
			}
		}
	}
	for _, c := range ours() {
		if !args && len(head) > 1 && strings.HasPrefix(c.text, strings.ToLower(head)) {
			out = append(out, c)
		}
	}
	return append(out, m.promptChoices(head, rest, args)...)
}

// drawPopup draws at most h completions.
func (m *Model) drawPopup(w, h int) (lines []string) {
	all := m.choices()
	if len(all) == 0 || h <= 0 {
		return nil
	}
	t := &m.theme
	m.popup.at = min(m.popup.at, len(all)-1)
	from := max(0, m.popup.at-h+1)
	wide := 0
	for _, c := range all {
		wide = max(wide, width(c.name))
	}
	wide = min(wide, max(12, w/2))
	for i := from; i < len(all) && i < from+h; i++ {
		c := all[i]
		mark, l := "  ", t.plain
		if i == m.popup.at {
			mark, l = "› ", t.bold
		}
		lines = append(lines, clip(mark+l.paint(fit(c.name, wide))+"  "+t.dim.paint(c.note), w))
	}
	return lines
}

// popupKey takes a key while completions are shown.
func (m *Model) popupKey(k string) bool {
	all := m.choices()
	if len(all) == 0 {
		m.popup.at = 0
		return false
	}
	m.popup.at = min(m.popup.at, len(all)-1)
	switch k {
	case "up", "ctrl+p":
		m.popup.at = (m.popup.at + len(all) - 1) % len(all)
	case "down":
		m.popup.at = (m.popup.at + 1) % len(all)
	case "tab":
		m.room.draft.set(all[m.popup.at].text)
		m.popup.at = 0
	case "esc":
		m.popup.closed = m.room.draft.text
	case "enter":
		// Enter takes a completion that says more than what was typed; a whole
		// command is sent.
		c := all[m.popup.at]
		if strings.TrimSpace(c.text) == strings.TrimSpace(m.room.draft.text) ||
			m.exact() && !strings.HasPrefix(c.text, "/prompts ") {
			return false
		}
		m.room.draft.set(c.text)
		m.popup.at = 0
		if !strings.HasSuffix(c.text, " ") {
			return false
		}
	default:
		return false
	}
	return true
}

// exact reports whether a command is written out in the composer.
func (m *Model) exact() bool {
	head, _, args := strings.Cut(m.room.draft.text, " ")
	if args {
		return true
	}
	for _, c := range ours() {
		if strings.TrimSpace(c.text) == head {
			return true
		}
	}
	for _, c := range m.commands {
		for _, a := range c.TextAliases {
			if a == strings.ToLower(head) {
				return true
			}
		}
	}
	return false
}

func itoa(n int) string { return strconv.Itoa(n) }
