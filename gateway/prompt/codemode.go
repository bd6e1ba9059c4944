package prompt

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Code mode: the model is shown two tools, and calls the others from programs.

// mostNames bounds how many tools are named; a program can search for the rest.
const mostNames = 80

// split parts the tools that are shown from those behind them.
func split(all []model.ToolSpec) (shown, hidden []model.ToolSpec) {
	for _, t := range all {
		if t.Hidden {
			hidden = append(hidden, t)
		} else {
			shown = append(shown, t)
		}
	}
	return shown, hidden
}

// programs is how to work in code mode.
func programs(shown, hidden []model.ToolSpec) string {
	var b strings.Builder
	b.WriteString("You work in code mode. Exactly two tools exist; their schemas came with the request:\n")
	for _, t := range shown {
		b.WriteString("- " + t.Name + ": " + firstSentence(t.Description) + "\n")
	}
	b.WriteString("All other tools are called inside such a program, with `await tools.NAME({...})` or `await tools.call(id, {...})`, and " +
		"never directly. ")
	names := make([]string, 0, len(hidden))
	for _, t := range hidden {
		names = append(names, oneLine(t.Name))
	}
	if n := len(names) - mostNames; n > 0 {
		names = append(names[:mostNames], fmt.Sprintf("and %d more", n))
	}
	b.WriteString("There are: " + strings.Join(names, ", ") + ". ALL_TOOLS holds one line about each; tools.search(\"words\") finds them, " +
		"and tools.describe(id) gives the schema: look before you guess arguments.\n")
	b.WriteString("Where these notes say to call a tool, let a program call it. ")
	if has(hidden, "exec") {
		b.WriteString("A shell command is `await tools.exec({command: \"...\"})` in a program; the exec that you see runs programs, not " +
			"commands. ")
	}
	b.WriteString("Do in one program what belongs together: several calls at once with Promise.all, loops, joining and filtering; return " +
		"only what you need to see.\n")
	return b.String()
}
