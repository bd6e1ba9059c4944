package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newUndo(a *app) *cobra.Command {
	var preview, last, force bool
	var limit int
	c := &cobra.Command{
		Use: "undo [RUN]", Short: "Take back what a turn did to files",
		Long: "Take back what a turn did to files: without RUN the newest one that was not taken\n" +
			"back. Files that were changed since are left alone unless --force is given. Taking\n" +
			"back can be taken back as well. Copies are kept for seven days.",
		Args: cobra.MaximumNArgs(1),
	}
	c.RunE = a.run(func(ctx context.Context, args []string) error {
		p := protocol.UndoParams{Force: force}
		if len(args) == 1 {
			p.RunID = args[0]
		}
		if last && p.RunID != "" {
			return usage("--last and a RUN do not go together")
		}
		return takeBack(ctx, a, p, preview)
	})
	c.Flags().BoolVar(&preview, "preview", false, "only show what would happen")
	c.Flags().BoolVar(&last, "last", false, "the newest turn that was not taken back (as without RUN)")
	c.Flags().BoolVar(&force, "force", false, "also files that were changed since")
	list := &cobra.Command{Use: "list", Short: "List the turns that changed files", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return listUndo(ctx, a, limit) })}
	list.Flags().IntVar(&limit, "limit", 20, "how many")
	c.AddCommand(list)
	return c
}

func listUndo(ctx context.Context, a *app, limit int) error {
	if limit < 1 {
		return usage("--limit must be 1 or more")
	}
	var res protocol.UndoList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodUndoList, protocol.UndoListParams{Limit: limit}, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Turns) == 0 {
		return a.out().print("No turn changed files in the last seven days.\n")
	}
	var rows [][]string
	for _, t := range res.Turns {
		state := ""
		switch {
		case t.UndoneBy != "":
			state = "taken back"
		case t.UndoOf != "":
			state = "took back " + t.UndoOf
		}
		rows = append(rows, []string{t.RunID, stamp(t.At), strings.Join(t.Tools, ", "), text.Ellipsis(line(fileNames(t.Files)), 80), state})
	}
	return a.out().table([]string{"RUN", "WHEN", "BY", "FILES", "STATE"}, rows)
}

// fileNames names the first files of a turn.
func fileNames(paths []string) string {
	const most = 3
	var names []string
	for i, p := range paths {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(paths)-most))
			break
		}
		names = append(names, filepath.Base(p))
	}
	return strings.Join(names, ", ")
}

func takeBack(ctx context.Context, a *app, p protocol.UndoParams, preview bool) error {
	scope, method := protocol.ScopeWrite, protocol.MethodUndoApply
	if preview {
		scope, method = protocol.ScopeRead, protocol.MethodUndoPreview
	}
	var res protocol.UndoPlan
	err := a.call(ctx, scope, method, p, &res)
	var refusal *protocol.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidRequest:
		return &failure{exitFailure, refusalWords(refusal), "`hearth undo list` lists what can be taken back"}
	case err != nil:
		return err
	case a.asJSON:
		return a.out().json(res)
	}
	conflicts, failed := 0, 0
	var rows [][]string
	for _, f := range res.Files {
		rows = append(rows, []string{undoWords(f, preview), line(f.Path), line(f.Reason)})
		switch f.Action {
		case "conflict":
			conflicts++
		case "failed":
			failed++
		}
	}
	if err := a.out().table([]string{"WHAT", "FILE", "WHY"}, rows); err != nil {
		return err
	}
	switch {
	case failed > 0 && !preview:
		return &failure{exitFailure, fmt.Sprintf("%d of %d files could not be taken back", failed, len(res.Files)),
			"mend what stands in the way and run it again; nothing else was lost"}
	case conflicts > 0:
		return a.out().print("\nFiles that were changed since are left alone; --force takes them back as well.\n")
	case res.UndoID != "":
		return a.out().print("\nDone. `hearth undo ", res.UndoID, "` takes that back.\n")
	}
	return nil
}

// undoWords says what happens to a file.
func undoWords(f protocol.UndoFile, preview bool) string {
	words := map[string][2]string{
		"restore": {"goes back", "went back"}, "recreate": {"comes back", "came back"}, "delete": {"is deleted", "was deleted"},
		"nothing": {"is as it was", "is as it was"}, "conflict": {"is left alone", "was left alone"}, "failed": {"cannot be done", "failed"},
	}
	w := words[f.Action]
	if preview {
		return w[0]
	}
	return w[1]
}
