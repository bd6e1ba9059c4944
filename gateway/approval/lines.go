package approval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Shown is the ask as people are shown it, or why it cannot be.
func (a Ask) Shown() (Ask, error) {
	err := a.check()
	return a, err
}

// whole makes Lines all that a person is asked about, on every surface: who made
// the ask may have named less, or nothing.
func (a *Ask) whole() {
	if len(a.Lines) == 0 {
		a.Lines = a.fields()
	}
	for _, s := range a.Scripts {
		row := "Script: " + s.Path + " (" + s.About() + ")"
		if i := slices.Index(a.Lines, "Script: "+s.Path); i >= 0 {
			a.Lines[i] = row
		} else if !slices.Contains(a.Lines, row) {
			a.Lines = append(a.Lines, row)
		}
	}
	for _, w := range a.Warnings {
		if !slices.Contains(a.Lines, w) {
			a.Lines = append(a.Lines, w)
		}
	}
}

// fields are the facts of an ask that came without lines.
func (a *Ask) fields() (out []string) {
	row := func(name, text string) {
		if text != "" {
			out = append(out, name+": "+strings.ReplaceAll(plan.Show(text), "\n", `\u{a}`))
		}
	}
	if a.Command != "" {
		out = append(out, "Text:")
		for _, l := range strings.Split(plan.Show(a.Command), "\n") {
			out = append(out, "  "+l)
		}
	}
	for i, arg := range a.Argv {
		row(fmt.Sprintf("Argument %d", i), arg)
	}
	row("Folder", a.Dir)
	for _, e := range a.Env {
		row("Variable", e)
	}
	row("File", a.Path)
	row("To", a.Host)
	for _, w := range a.Writes {
		row("Writes to", w)
	}
	return out
}

// Words are what a rule allows, for a list of rules: never less than it does.
func (r Rule) Words() string {
	words := r.Title
	if r.Scope == ScopeProgram {
		words = "Run " + plan.Show(r.Program) + " with any arguments in " + plan.Show(r.Dir)
	}
	if r.Unconfined && r.Scope.Allows() {
		words += ", outside the sandbox"
	}
	return words
}
