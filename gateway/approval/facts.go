package approval

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Fact is one line of an ask, taken apart so that a client can name it in the
// language of its person. All of them together say what Lines say.
type Fact struct {
	Code  string // of the fixed list below, "" = the text speaks for itself
	Label string // the same in English
	Text  string // safe to show; of several lines where Block is set
	Block bool   // words to be shown as they are: the command, a message, a change
	// Detail: it says how, not what. Nothing is lost for who reads the rest.
	Detail bool
}

// FactCommand is the command, once and whole.
const FactCommand = "command"

// code of a line's label.
func factCode(label string) (code string, detail, ok bool) {
	switch label {
	case "Starts", "Script", "Tool", "Device":
		return strings.ToLower(label), true, true
	case "Folder", "File", "Variable", "Server", "Message", "Change", "Arguments", "Where", "Machine", "Setting", "Now", "Then", "Before",
		"Emoji", "Answers", "Command", "To":
		return strings.ToLower(label), false, true
	case "Environment":
		return "variable", false, true
	case "Writes to":
		return "writes", false, true
	case "Written as":
		return "written", false, true
	}
	if strings.HasPrefix(label, "Text for ") {
		return "shell", true, true
	}
	return "", false, strings.HasPrefix(label, "Argument ")
}

// Facts takes the lines of an ask apart. Warnings are not among them.
func (a Ask) Facts() (out []Fact) {
	if c := a.shownCommand(); c != "" {
		out = append(out, Fact{Code: FactCommand, Label: "Command", Text: c, Block: true})
	}
	whole := len(out) > 0
	said := func(name string) bool { return a.Says.Params[name] != "" }
	for _, l := range a.Lines {
		if slices.Contains(a.Warnings, l) {
			continue
		}
		if rest, ok := strings.CutPrefix(l, "  "); ok && len(out) > 0 {
			last := &out[len(out)-1]
			if last.Code == "shell" && last.Block { // it is the command, which stands above
				continue
			}
			last.Text, last.Block = strings.TrimPrefix(last.Text+"\n"+rest, "\n"), true
			continue
		}
		label, text, ok := strings.Cut(l, ":")
		code, detail, known := factCode(label)
		switch {
		case l == "Text:" && whole:
			out = append(out, Fact{Code: "shell", Label: "Text", Detail: true, Block: true})
			continue
		case !ok || !known:
			out = append(out, Fact{Text: l})
			continue
		case code == "shell":
			out = append(out, Fact{Code: code, Label: "Shell", Text: strings.TrimPrefix(label, "Text for "), Detail: true, Block: whole})
			continue
		case a.Kind != KindExec && (code == "starts" || code == "script"):
			detail = false
		case code == "": // Argument n
			detail = whole && len(a.Argv) > 0
		case code == "folder":
			detail = said("folder") || said("paths")
		case code == "file":
			detail = said("paths")
		}
		out = append(out, Fact{Code: code, Label: label, Text: strings.TrimPrefix(text, " "), Detail: detail})
	}
	// The text of a shell is in the command; an empty one says nothing.
	return slices.DeleteFunc(out, func(f Fact) bool { return f.Text == "" && f.Code == "shell" })
}

// shownCommand is what runs, as people would type it, safe to show.
func (a Ask) shownCommand() string {
	switch {
	case a.Kind != KindExec:
		return ""
	case a.Command != "":
		return plan.Show(a.Command)
	case len(a.Argv) > 0:
		return plan.Quoted(a.Argv)
	}
	return ""
}
