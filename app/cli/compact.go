package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type compactOptions struct {
	restore      bool
	instructions string
}

func newCompact(a *app) *cobra.Command {
	var o compactOptions
	c := &cobra.Command{
		Use: "compact SESSION", Short: "Give the model a summary in place of a conversation's older part", Args: cobra.ExactArgs(1),
		Long: "Gives the model a summary in place of a conversation's older part. Nothing is\n" +
			"deleted: the page and the command line show all of it, and --restore shows it to\nthe model again.",
		RunE: a.run(func(ctx context.Context, args []string) error { return runCompact(ctx, a, o, args[0]) }),
	}
	c.Flags().BoolVar(&o.restore, "restore", false, "take the summary away again")
	c.Flags().StringVar(&o.instructions, "instructions", "", "what the summary should keep")
	return c
}

func runCompact(ctx context.Context, a *app, o compactOptions, key string) error {
	if o.restore && o.instructions != "" {
		return usage("--restore makes no summary, so it takes no --instructions")
	}
	var res protocol.SessionsCompactResult
	p := protocol.SessionsCompactParams{Key: key, Restore: o.restore, Instructions: o.instructions}
	if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodSessionsCompact, p, &res); err != nil {
		if refused(err, "NOT_FOUND") {
			return noSession(key)
		}
		return err
	}
	switch {
	case a.asJSON:
		return a.out().json(res)
	case o.restore:
		return a.out().print("The model sees the whole conversation again.\n")
	case !res.Compacted:
		return a.out().print("Nothing was done: ", line(res.Reason), ".\n")
	}
	return a.out().print("The older part is summarized for the model. Nothing was deleted; `hearth compact ", line(key),
		" --restore` undoes it.\n")
}
