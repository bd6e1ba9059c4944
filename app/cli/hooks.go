package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

type hooksOptions struct {
	agent                  string
	eligible, verbose, yes bool
}

func newHooks(a *app) *cobra.Command {
	var o hooksOptions
	list := func(ctx context.Context, _ []string) error { return listHooks(ctx, a, o) }
	one := func(use, short string, do func(ctx context.Context, a *app, o hooksOptions, name string) error) *cobra.Command {
		return &cobra.Command{Use: use + " NAME", Short: short, Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return do(ctx, a, o, args[0]) })}
	}
	listCmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the hooks and whether they are told what happens",
		Args: cobra.NoArgs, RunE: a.run(list)}
	listCmd.Flags().BoolVar(&o.eligible, "eligible", false, "only those that are told")
	listCmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "also what is missing, and the last failure")
	enable := &cobra.Command{
		Use: "enable NAME", Short: "Have a hook told what happens, with the files that it has now", Args: cobra.ExactArgs(1),
		Long: "Have a hook told what happens. A hook that did not come with Hearth is a program or\n" +
			"script that does what it wants: look at its files first. It runs only while no file\n" +
			"of it changes; after a change this command enables it anew.",
		RunE: a.run(func(ctx context.Context, args []string) error { return enableHook(ctx, a, o, args[0]) }),
	}
	enable.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c := group("hooks", "See hooks and switch them on and off: programs that are told what happens in Hearth",
		listCmd, one("info", "Show what a hook is for, what it needs, and how it went", hookInfo),
		&cobra.Command{Use: "check", Short: "Show why hooks are not told", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return checkHooks(ctx, a, o) })},
		enable, one("disable", "Have a hook told nothing any more", func(ctx context.Context, a *app, o hooksOptions, name string) error {
			return switchHook(ctx, a, protocol.HookEnableParams{Name: name, AgentID: o.agent})
		}),
	)
	c.PersistentFlags().StringVar(&o.agent, "agent", "", "whose workspace: the id of an agent (the default one)")
	c.RunE = a.run(list)
	return c
}

func hooksStatus(ctx context.Context, a *app, agent string) (res protocol.HooksStatus, err error) {
	err = a.call(ctx, protocol.ScopeRead, protocol.MethodHooksStatus, protocol.HooksStatusParams{AgentID: agent}, &res)
	return res, err
}

func hookSource(h protocol.HookInfo) string { return strings.TrimPrefix(h.Source, "openclaw-") }

func hookMark(h protocol.HookInfo) string {
	switch {
	case h.Loadable:
		return "ready"
	case !h.EnabledByConfig:
		return "off"
	}
	return "blocked"
}

func listHooks(ctx context.Context, a *app, o hooksOptions) error {
	res, err := hooksStatus(ctx, a, o.agent)
	if err != nil {
		return err
	}
	all := len(res.Hooks)
	ready := slices.DeleteFunc(slices.Clone(res.Hooks), func(h protocol.HookInfo) bool { return !h.Loadable })
	if o.eligible {
		res.Hooks = ready
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if err := a.out().print(fmt.Sprintf("Hooks (%d/%d ready)\n", len(ready), all)); err != nil || len(res.Hooks) == 0 {
		return err
	}
	head := []string{"", "HOOK", "FROM", "WHAT IT DOES"}
	if o.verbose {
		head = append(head, "WHY NOT")
	}
	var rows [][]string
	for _, h := range res.Hooks {
		row := []string{hookMark(h), line(strings.TrimSpace(h.Emoji + " " + h.Name)), hookSource(h), text.Ellipsis(line(h.Description), 60)}
		if o.verbose {
			row = append(row, text.Ellipsis(line(hookTrouble(h)), 90))
		}
		rows = append(rows, row)
	}
	return a.out().table(head, rows)
}

// hookTrouble says why a hook is not told, or how it failed last.
func hookTrouble(h protocol.HookInfo) string {
	if missing := hookMissing(h); missing != "" && h.EnabledByConfig {
		return missing
	}
	if h.BlockedReason == "" && h.Hearth.LastError != "" {
		return "failed: " + h.Hearth.LastError
	}
	return h.BlockedReason
}

func hookMissing(h protocol.HookInfo) string {
	var why []string
	for _, m := range []struct {
		words string
		list  []string
	}{
		{"is for ", h.Missing.OS}, {"needs the programs ", h.Missing.Bins}, {"needs one of the programs ", h.Missing.AnyBins},
		{"needs the variables ", h.Missing.Env}, {"needs the settings ", h.Missing.Config},
	} {
		if len(m.list) > 0 {
			why = append(why, m.words+strings.Join(m.list, ", "))
		}
	}
	return strings.Join(why, "; ")
}

// findHook finds a hook by its name, else by its key.
func findHook(ctx context.Context, a *app, agent, name string) (h protocol.HookInfo, err error) {
	res, err := hooksStatus(ctx, a, agent)
	if err != nil {
		return h, err
	}
	for _, fits := range []func(h protocol.HookInfo) bool{
		func(h protocol.HookInfo) bool { return strings.EqualFold(h.Name, name) },
		func(h protocol.HookInfo) bool { return h.HookKey == name },
	} {
		if i := slices.IndexFunc(res.Hooks, fits); i >= 0 {
			return res.Hooks[i], nil
		}
	}
	return h, &failure{exitFailure, "there is no hook " + line(name), "`hearth hooks list` lists them"}
}

func hookInfo(ctx context.Context, a *app, o hooksOptions, name string) error {
	h, err := findHook(ctx, a, o.agent, name)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(h)
	}
	form := map[string]string{"builtin": "a part of Hearth", "program": "a program", "script": "a script of code mode"}[h.Hearth.Form]
	rows := [][]string{{"Name", line(h.Name)}, {"State", hookMark(h)}, {"Events", line(strings.Join(h.Events, ", "))}}
	for _, r := range [][]string{
		{"What it does", h.Description}, {"From", hookSource(h)}, {"Why not", h.BlockedReason}, {"Missing", hookMissing(h)}, {"Runs as", form},
		{"Files", h.BaseDir}, {"SHA-256", h.Hearth.SHA256}, {"Homepage", h.Homepage},
		{"Never told of", h.Hearth.NeverTold}, {"Last failure", h.Hearth.LastError},
	} {
		if r[1] != "" {
			rows = append(rows, []string{r[0], line(r[1])})
		}
	}
	if h.Hearth.Runs > 0 {
		rows = append(rows, []string{"Told", strconv.Itoa(h.Hearth.Runs) + " times since the start, the last time at " +
			time.UnixMilli(h.Hearth.LastRunAtMs).Format("15:04:05") + " for " +
			(time.Duration(h.Hearth.LastDurationMs) * time.Millisecond).String()})
	}
	return a.out().table([]string{"", ""}, rows)
}

func checkHooks(ctx context.Context, a *app, o hooksOptions) error {
	res, err := hooksStatus(ctx, a, o.agent)
	if err != nil {
		return err
	}
	type not struct {
		Name          string              `json:"name"`
		BlockedReason string              `json:"blockedReason,omitempty"`
		Missing       protocol.SkillNeeds `json:"missing"`
	}
	type never struct {
		Name   string   `json:"name"`
		Events []string `json:"events"`
		Reason string   `json:"reason"`
	}
	out := struct {
		Total       int `json:"total"`
		Eligible    int `json:"eligible"`
		NotEligible int `json:"notEligible"`
		Hooks       struct {
			Eligible    []string `json:"eligible"`
			NotEligible []not    `json:"notEligible"`
			NeverTold   []never  `json:"neverTold"`
		} `json:"hooks"`
	}{Total: len(res.Hooks)}
	out.Hooks.Eligible, out.Hooks.NotEligible, out.Hooks.NeverTold = []string{}, []not{}, []never{}
	var rows, silent [][]string
	for _, h := range res.Hooks {
		if h.Loadable {
			out.Hooks.Eligible = append(out.Hooks.Eligible, h.Name)
		}
		if h.Hearth.NeverTold != "" {
			out.Hooks.NeverTold = append(out.Hooks.NeverTold, never{h.Name, h.UnknownEvents, h.Hearth.NeverTold})
			if h.BlockedReason != h.Hearth.NeverTold {
				silent = append(silent, []string{line(h.Name), line(h.Hearth.NeverTold)})
			}
		}
		if h.Loadable {
			continue
		}
		out.Hooks.NotEligible = append(out.Hooks.NotEligible, not{h.Name, h.BlockedReason, h.Missing})
		rows = append(rows, []string{line(h.Name), line(cmp.Or(hookMissing(h), h.BlockedReason))})
	}
	out.Eligible, out.NotEligible = len(out.Hooks.Eligible), len(out.Hooks.NotEligible)
	if a.asJSON {
		return a.out().json(out)
	}
	words := fmt.Sprintf("Hooks: %d, ready: %d, not ready: %d.\n", out.Total, out.Eligible, out.NotEligible)
	if err := a.out().print(words); err != nil {
		return err
	}
	return printChecks(a, rows, silent)
}

// printChecks shows why hooks are not told, and of what those are not told that are.
func printChecks(a *app, blocked, silent [][]string) error {
	if len(blocked) > 0 {
		if err := a.out().table([]string{"HOOK", "WHY NOT"}, blocked); err != nil {
			return err
		}
	}
	if len(silent) == 0 {
		return nil
	}
	if err := a.out().print("\nNever told of all their events (docs/hooks.md lists those that happen):\n"); err != nil {
		return err
	}
	return a.out().table([]string{"HOOK", "WHICH NEVER HAPPENS, AND WHY"}, silent)
}

// enableHook shows what a hook is made of, asks, and enables exactly that.
func enableHook(ctx context.Context, a *app, o hooksOptions, name string) error {
	h, err := findHook(ctx, a, o.agent, name)
	if err != nil {
		return err
	}
	if h.Hearth.Form != "builtin" && !o.yes {
		words := fmt.Sprintf("%s: %s\nIt is told of: %s\nIt runs as you. Look at its files in %s first:\n  %s\n",
			line(h.Name), line(h.Description), line(strings.Join(h.Events, ", ")), line(h.BaseDir), line(strings.Join(h.Hearth.Files, ", ")))
		if err := a.errs().print(words); err != nil {
			return err
		}
		ok, err := a.agree("Enable it with these files? [y/N] ")
		if err != nil {
			return err
		}
		if !ok {
			return &failure{exitFailure, "nothing was changed", "--yes enables it without a question"}
		}
	}
	return switchHook(ctx, a, protocol.HookEnableParams{Name: h.Name, AgentID: o.agent, Enabled: true, SHA256: h.Hearth.SHA256})
}

func switchHook(ctx context.Context, a *app, p protocol.HookEnableParams) error {
	var res protocol.HookInfo
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodHookEnable, p, &res); err != nil {
		return err
	}
	if !p.Enabled {
		return a.done(res, "Disabled the hook "+line(res.Name)+".")
	}
	words := "Enabled the hook " + line(res.Name) + "."
	if res.Hearth.NeverTold != "" {
		words += " Of some of its events it is never told: " + line(res.Hearth.NeverTold) + "."
	}
	if !res.Loadable {
		words += " It is not told yet: " + line(res.BlockedReason) + "."
	}
	return a.done(res, words)
}
