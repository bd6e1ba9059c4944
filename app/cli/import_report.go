package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// shownNames is how many names a line of a report has.
const shownNames = 6

func printImport(a *app, rep protocol.ImportReport) error {
	if a.asJSON {
		return a.out().json(rep)
	}
	out := a.out()
	if err := out.print(bold(line(rep.Program)), "  ", line(rep.Path), "\n\n"); err != nil {
		return err
	}
	if len(rep.Rows) == 0 {
		return out.print("There is nothing in it that Hearth can take.\n")
	}
	came := "NEW"
	if !rep.Dry {
		came = "CAME IN"
	}
	var rows [][]string
	for _, r := range rep.Rows {
		what := importKinds()[r.Kind]
		if r.Messages > 0 {
			what += fmt.Sprintf(" (%d messages, %d new)", r.Messages, r.NewSaid)
		}
		rows = append(rows, []string{
			what, fmt.Sprint(r.Found), fmt.Sprint(r.New), fmt.Sprint(r.Grown), fmt.Sprint(r.Here), fmt.Sprint(r.Left),
			someNames(r.Names, r.New+r.Grown),
		})
	}
	if err := out.table([]string{"WHAT", "FOUND", came, "GROWN", "HERE", "NOT TAKEN", "NEW ONES"}, rows); err != nil {
		return err
	}
	if err := printImportedSettings(a, rep); err != nil {
		return err
	}
	for i, l := range rep.Left {
		if i == 0 {
			if err := out.print("\nNot taken:\n"); err != nil {
				return err
			}
		}
		if err := out.print("  ", someNames(l.Names, l.Many), dim(": "+line(l.Why)), "\n"); err != nil {
			return err
		}
	}
	for _, n := range rep.Notes {
		if err := out.print("\n", line(n), "\n"); err != nil {
			return err
		}
	}
	return nil
}

// printImportedSettings names every setting that would come in or is kept as it is here: each
// may change what Hearth does, so somebody has to be able to read them before.
func printImportedSettings(a *app, rep protocol.ImportReport) error {
	i := slices.IndexFunc(rep.Rows, func(r protocol.ImportRow) bool { return r.Kind == "setting" })
	if i < 0 {
		return nil
	}
	r := rep.Rows[i]
	for _, l := range []struct {
		title string
		names []string
		shown bool
	}{
		{"New settings:", r.Names, rep.Dry && len(r.Names) > shownNames},
		{"Settings that are here already, and stay:", r.Kept, rep.Dry},
	} {
		if !l.shown || len(l.names) == 0 {
			continue
		}
		names := make([]string, len(l.names))
		for i, n := range l.names {
			names[i] = line(n)
		}
		if err := a.out().print("\n", l.title, "\n", fold("  ", strings.Join(names, ", "), widest), "\n"); err != nil {
			return err
		}
	}
	return nil
}

// someNames are the first of the names of many things. One name may stand for several.
func someNames(names []string, many int) string {
	shown := names[:min(len(names), shownNames)]
	out := line(strings.Join(shown, ", "))
	switch {
	case len(names) > len(shown):
		out += fmt.Sprintf(" … and %d more (`--dry-run --json` names them)", many-len(shown))
	case many > len(names) && len(names) > 0:
		out += fmt.Sprintf(" … (%d)", many)
	}
	return out
}
