package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type importOptions struct{ dry, yes bool }

func newImport(a *app) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use: "import [FROM] [PATH]", Short: "Bring in chats, memory and more from another assistant", Args: cobra.MaximumNArgs(2),
		Long: "Bring in what another assistant left: chats, memory, files, skills, jobs, MCP servers, keys, people and settings.\n\n" +
			"FROM is openclaw, milaidy, hermes, claude-desktop, chatgpt or claude; without it, what lies at PATH tells.\n" +
			"PATH is its folder, or the export of an account (the zip file or what is in it); without it, the usual place.\n\n" +
			"A table is shown first. Nothing of the other program is changed, and nothing of yours is overwritten. What is\n" +
			"here already is not taken twice, so importing again brings what came since.",
		Example: "  hearth import openclaw --dry-run\n  hearth import ~/.openclaw\n  hearth import chatgpt ~/Downloads/export.zip --yes",
		RunE:    a.run(func(ctx context.Context, args []string) error { return runImport(ctx, a, o, args) }),
	}
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show the table and write nothing")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

// importParams tells a program from a path.
func importParams(args []string) (p protocol.ImportParams, err error) {
	path := ""
	switch {
	case len(args) == 2:
		p.From, path = args[0], args[1]
	case len(args) == 1 && strings.ContainsAny(args[0], `/\.~`):
		path = args[0]
	case len(args) == 1:
		p.From = args[0]
	}
	if path != "" {
		p.Path, err = filepath.Abs(path)
	}
	return p, err
}

// lookHere takes a word that names no program for what has this name in the current
// folder.
func lookHere(ctx context.Context, c *client.Client, p *protocol.ImportParams) error {
	if _, err := os.Stat(p.From); err != nil {
		return nil // the gateway says which programs it knows
	}
	var known protocol.ImportSources
	if err := c.Call(ctx, protocol.MethodImportSources, nil, &known); err != nil {
		return err
	}
	for _, s := range known.Sources {
		if s.ID == p.From {
			return nil
		}
	}
	path, err := filepath.Abs(p.From)
	p.From, p.Path = "", path
	return err
}

func runImport(ctx context.Context, a *app, o importOptions, args []string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite}})
	if err != nil {
		return err
	}
	defer c.Close()
	if len(args) == 0 {
		return listImports(ctx, a, c)
	}
	p, err := importParams(args)
	if err == nil && p.Path == "" {
		err = lookHere(ctx, c, &p)
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(p.Path); err != nil && p.Path != "" && a.gateway == "" {
		return unreadable(p.Path, err)
	}
	var plan protocol.ImportReport
	if err := c.Call(ctx, protocol.MethodImportPlan, p, &plan); err != nil {
		return err
	}
	news := 0
	for _, r := range plan.Rows {
		news += r.New + r.Grown
	}
	if o.dry || news == 0 {
		return printImport(a, plan)
	}
	if !a.asJSON {
		if err := printImport(a, plan); err != nil {
			return err
		}
	}
	if !o.yes {
		if !a.InTerminal {
			return usage("nothing was imported; say --yes to import without a question, or --dry-run to see the table only")
		}
		if yes, err := a.agree("\nImport this? [y/N] "); err != nil || !yes {
			return err
		}
	}
	rep, err := followImport(ctx, a, c, protocol.ImportParams{From: plan.From, Path: plan.Path})
	if err != nil {
		return err
	}
	if rep.Error != "" {
		return &failure{exitFailure, rep.Error, "import again: what came in is not taken twice"}
	}
	return printImport(a, rep)
}

// followImport begins an import and shows how far it is. Ctrl-C ends it.
func followImport(ctx context.Context, a *app, c *client.Client, p protocol.ImportParams) (rep protocol.ImportReport, err error) {
	var started protocol.ImportStarted
	if err := c.Call(ctx, protocol.MethodImportStart, p, &started); err != nil {
		return rep, err
	}
	id := protocol.TaskIDParams(started)
	for {
		select {
		case <-time.After(400 * time.Millisecond):
		case <-ctx.Done():
			end, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer stop()
			_ = c.Call(end, protocol.MethodTasksCancel, protocol.TaskCancelParams{TaskID: started.TaskID}, nil)
			return rep, ctx.Err()
		}
		var t protocol.TaskResult
		if err := c.Call(ctx, protocol.MethodTasksGet, id, &t); err != nil {
			return rep, err
		}
		if !t.Task.Open() {
			break
		}
	}
	err = c.Call(ctx, protocol.MethodImportReport, protocol.ImportReportParams(started), &rep)
	return rep, err
}

func listImports(ctx context.Context, a *app, c *client.Client) error {
	var res protocol.ImportSources
	if err := c.Call(ctx, protocol.MethodImportSources, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	var rows [][]string
	for _, s := range res.Sources {
		rows = append(rows, []string{s.ID, s.Takes, line(s.Path)})
	}
	if err := a.out().table([]string{"FROM", "BRINGS", "FOUND HERE"}, rows); err != nil {
		return err
	}
	return a.errs().print(dim("`hearth import FROM --dry-run` shows what would come in."), "\n")
}

// importKinds are the kinds in words.
func importKinds() map[string]string {
	return map[string]string{
		"chat": "chats", "memory": "memory files", "file": "files", "skill": "skills", "job": "jobs", "server": "MCP servers",
		"key": "keys of services", "person": "people", "setting": "settings", "other": "other",
	}
}
