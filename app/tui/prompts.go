package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Prompts that a person keeps: found behind the slash, their fields asked for one after
// the other where messages are written, and what comes of it is a message to be sent.

// filling is a prompt whose fields are being asked for.
type filling struct {
	prompt protocol.PromptTemplate
	values map[string]string
	at     int // the field that is asked for
	field  composer
}

type promptsMsg struct{ list protocol.PromptsList }

func (m *Model) listPrompts() tea.Cmd {
	return func() tea.Msg {
		var l protocol.PromptsList
		if m.wire.Call(m.ctx, protocol.MethodPromptsList, nil, &l) != nil {
			return nil // those that are known stay
		}
		return promptsMsg{l}
	}
}

// promptChoices are the prompts whose names begin like what is typed: behind a slash of
// their own, or behind /prompts.
func (m *Model) promptChoices(head, rest string, args bool) (out []choice) {
	begin := strings.TrimPrefix(head, "/")
	if args {
		if head != "/prompts" {
			return nil
		}
		begin = rest
	}
	for _, p := range m.prompts {
		name := terminal.Line(p.Name)
		if !strings.HasPrefix(strings.ToLower(name), strings.ToLower(begin)) || args && name == rest {
			continue
		}
		note := terminal.Line(p.About)
		if note == "" {
			note = terminal.Line(p.Text)
		}
		out = append(out, choice{"/prompts " + name, "/" + name, note})
	}
	return out
}

// takePrompt begins to fill a prompt in, or lists those that there are.
func (m *Model) takePrompt(name string) {
	name = strings.TrimPrefix(name, "/")
	i := slices.IndexFunc(m.prompts, func(p protocol.PromptTemplate) bool { return terminal.Line(p.Name) == name })
	switch {
	case i >= 0:
		m.fill = &filling{prompt: m.prompts[i], values: map[string]string{}}
		m.filled()
	case len(m.prompts) == 0:
		m.notice = "No prompts are kept. The page keeps some under Settings, Chat & messages."
	case name == "":
		var names []string
		for _, p := range m.prompts {
			names = append(names, p.Name)
		}
		m.notice = "Which prompt? " + strings.Join(names, ", ")
	default:
		m.notice = "There is no prompt " + name + ". /prompts names those that there are."
	}
}

// filled goes on to the next field; behind the last one the prompt is the message that
// is being written.
func (m *Model) filled() {
	f := m.fill
	if f.at < len(f.prompt.Fields) {
		return
	}
	m.fill = nil
	m.room.draft = composer{}
	m.room.draft.insert(f.prompt.Fill(f.values))
	m.notice = "Enter sends it."
}

// fillKey takes a key while a field is asked for.
func (m *Model) fillKey(k, text string) {
	f := m.fill
	switch k {
	case "esc":
		m.fill = nil
		m.notice = "The prompt was left."
	case "enter", "tab":
		said := strings.TrimSpace(f.field.text)
		if said == "" {
			m.notice = "It asks for this. Esc leaves the prompt."
			return
		}
		f.values[f.prompt.Fields[f.at]] = said
		f.at++
		f.field = composer{}
		m.filled()
	case "up", "shift+tab":
		if f.at > 0 {
			f.at--
			f.field.set(f.values[f.prompt.Fields[f.at]])
		}
	case "down":
	default:
		if !f.field.key(k, 1<<20) && text != "" {
			f.field.insert(text)
		}
	}
}

// drawFill asks for a field where messages are written.
func (m *Model) drawFill(w int) (line string, x int) {
	f := m.fill
	label := clip(terminal.Line(f.prompt.Fields[f.at])+":", max(1, w/2)) + " "
	room := max(1, w-width(label)-1)
	before := f.field.text[:f.field.at]
	for width(before) > room { // its end is what is being written
		_, before = cutCells(before, 1)
	}
	line = clip(m.theme.bold.paint(label)+before+f.field.text[f.field.at:], w)
	return line, width(label) + width(before)
}
