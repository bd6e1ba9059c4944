package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModels(a *app) *cobra.Command {
	var all, configured bool
	list := &cobra.Command{Use: "list", Short: "List the models that can answer; * marks the one that does", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return listModels(ctx, a, all, configured) })}
	list.Flags().BoolVar(&all, "all", false, "also models of services that are not set up, with what is missing")
	list.Flags().BoolVar(&configured, "configured", false, "only models that the settings name")
	list.MarkFlagsMutuallyExclusive("all", "configured")
	c := group("models", "Choose, test and download models, and look after accounts at model services",
		list, newModelsStatus(a), newModelsSet(a), newModelsTest(a), newModelsAuth(a), newModelsPull(a))
	return c
}

func listModels(ctx context.Context, a *app, all, configured bool) error {
	view := ""
	switch {
	case all:
		view = "all"
	case configured:
		view = "configured"
	}
	var l protocol.ModelsList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsList, protocol.ModelsListParams{View: view}, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	var rows [][]string
	for i := range l.Models {
		m := &l.Models[i]
		rows = append(rows, []string{markOf(m), m.Provider + "/" + m.ID, contextOf(m), toolsOf(m), costOf(m), modelNote(m)})
	}
	return a.out().table([]string{" ", "MODEL", "CONTEXT", "TOOLS", "COST", "NAME"}, rows)
}

// markOf is * for the default, a number for a fallback.
func markOf(m *protocol.ModelInfo) string {
	for _, t := range m.Tags {
		if t == "default" {
			return "*"
		}
		if n, ok := strings.CutPrefix(t, "fallback#"); ok {
			return n
		}
	}
	return " "
}

// contextOf is the window, and whether a test has seen it hold.
func contextOf(m *protocol.ModelInfo) string {
	if m.ContextWindow <= 0 {
		return "-"
	}
	s := thousands(m.ContextWindow)
	h := m.Hearth
	if h == nil {
		return s
	}
	if h.Trained > m.ContextWindow {
		s += " of " + thousands(h.Trained)
	}
	if v := h.Verified; v != nil && v.ContextWindow >= m.ContextWindow {
		if v.Less || h.Trained > m.ContextWindow {
			return "really " + s
		}
		return s + " ✓"
	}
	return s
}

func toolsOf(m *protocol.ModelInfo) string {
	h := m.Hearth
	switch {
	case h == nil:
		return "-"
	case h.NoTools:
		return "no"
	case h.Verified != nil && h.Verified.Tools == "work":
		return "yes ✓"
	}
	return "yes"
}

func costOf(m *protocol.ModelInfo) string {
	switch h := m.Hearth; {
	case h == nil || !h.Priced:
		return "unknown"
	case h.Free:
		return "free"
	}
	return "known"
}

func modelNote(m *protocol.ModelInfo) string {
	h, note := m.Hearth, m.Name
	if m.Alias != "" {
		note = m.Alias + " · " + note
	}
	if h == nil {
		return note
	}
	if !m.Available {
		note = "not available"
		if h.Reason != "" {
			note += ": " + h.Reason
		}
	}
	if h.Resting > 0 {
		note += " · rests until " + clock(h.Resting)
	}
	return note
}

// clock is a moment of today, or with its day.
func clock(ms int64) string {
	t := time.UnixMilli(ms)
	if time.Until(t) < 20*time.Hour {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// thousands is 32768 as 32,768.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func newModelsStatus(a *app) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Show which model answers, what would in its place, and which accounts rest",
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return modelsStatus(ctx, a) })}
}

type modelsStatusJSON struct {
	Default   *protocol.ModelInfo           `json:"default"`
	Fallbacks []protocol.ModelInfo          `json:"fallbacks"`
	Accounts  []protocol.ModelsAuthProvider `json:"accounts"`
}

func modelsStatus(ctx context.Context, a *app) error {
	var l protocol.ModelsList
	var s protocol.ModelsAuthStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsList, protocol.ModelsListParams{View: "all"}, &l); err != nil {
		return err
	}
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsAuthStatus, nil, &s); err != nil {
		return err
	}
	res := modelsStatusJSON{Fallbacks: []protocol.ModelInfo{}, Accounts: s.Providers}
	for i := range l.Models {
		m := &l.Models[i]
		switch {
		case slices.Contains(m.Tags, "default"):
			res.Default = m
		case markOf(m) != " ":
			res.Fallbacks = append(res.Fallbacks, *m)
		}
	}
	slices.SortStableFunc(res.Fallbacks, func(x, y protocol.ModelInfo) int { return strings.Compare(markOf(&x), markOf(&y)) })
	if a.asJSON {
		return a.out().json(res)
	}
	put := func(label string, m *protocol.ModelInfo) error {
		facts := []string{contextOf(m) + " tokens", "tools: " + toolsOf(m), "cost: " + costOf(m)}
		if !m.Available || m.Hearth != nil && m.Hearth.Resting > 0 {
			facts = append(facts, modelNote(m))
		}
		return a.out().print(dim(fmt.Sprintf("%-10s", label)), " ", bold(line(m.Provider+"/"+m.ID)), "  ", line(strings.Join(facts, " · ")), "\n")
	}
	if res.Default != nil {
		if err := put("Answers", res.Default); err != nil {
			return err
		}
	}
	for i := range res.Fallbacks {
		if err := put(fmt.Sprintf("Fallback %d", i+1), &res.Fallbacks[i]); err != nil {
			return err
		}
	}
	return printAccounts(a.out(), s.Providers)
}
