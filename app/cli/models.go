package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModels(a *app) *cobra.Command {
	return group("models", "Show the models that can answer", &cobra.Command{
		Use: "list", Short: "List the models; * marks the one that answers", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runModelsList(ctx, a) }),
	}, newModelsAuth(a))
}

func runModelsList(ctx context.Context, a *app) error {
	var l protocol.ModelsList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsList, nil, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	var rows [][]string
	for _, m := range l.Models {
		mark, source, note := " ", "", m.Name
		if slices.Contains(m.Tags, "default") {
			mark = "*"
		}
		if h := m.Hearth; h != nil {
			source = h.Source
			if !m.Available {
				note = "not available"
				if h.Reason != "" {
					note += ": " + h.Reason
				}
			}
		}
		context := "-"
		if m.ContextWindow > 0 {
			context = fmt.Sprintf("%dk", (m.ContextWindow+500)/1000)
		}
		rows = append(rows, []string{mark, m.Provider + "/" + m.ID, context, source, note})
	}
	return a.out().table([]string{" ", "MODEL", "CONTEXT", "FROM", "NAME"}, rows)
}
