package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newPause(a *app) *cobra.Command {
	var length time.Duration
	var reason string
	c := &cobra.Command{
		Use: "pause [tools|network|everything]", Short: "Stop Hearth from acting",
		Long: "Stop Hearth from acting, until `hearth resume` or for a time:\n\n" +
			"  tools       no tool starts\n  network     and no model outside this machine is called\n" +
			"  everything  and no model at all: messages wait (default)\n\n" +
			"What runs already is not cut off; `hearth chat /stop` does that.",
		Args: cobra.MaximumNArgs(1), ValidArgs: []string{"tools", "network", "everything"},
		RunE: a.run(func(ctx context.Context, args []string) error {
			level := "everything"
			if len(args) == 1 {
				level = args[0]
			}
			return setPause(ctx, a, protocol.PauseSetParams{Level: level, DurationMs: length.Milliseconds(), Reason: reason})
		}),
	}
	c.Flags().DurationVar(&length, "for", 0, "`TIME`: how long, for example 1h30m (default: until `hearth resume`)")
	c.Flags().StringVar(&reason, "reason", "", "a note for yourself")
	return c
}

func newResume(a *app) *cobra.Command {
	return &cobra.Command{Use: "resume", Short: "End a pause", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return setPause(ctx, a, protocol.PauseSetParams{Level: "off"})
		})}
}

func setPause(ctx context.Context, a *app, p protocol.PauseSetParams) error {
	var res protocol.Pause
	if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodPauseSet, p, &res); err != nil {
		return err
	}
	return a.done(res, pauseWords(&res))
}

// pauseWords says how far Hearth may act.
func pauseWords(p *protocol.Pause) string {
	var what string
	switch p.Level {
	case "tools":
		what = "Paused: no tool starts."
	case "network":
		what = "Paused: no tool starts, and no model outside this machine is called."
	case "everything":
		what = "Paused: nothing is answered. Messages wait."
	default:
		return "Hearth is not paused."
	}
	if p.UntilMs > 0 {
		return what + " It ends at " + stamp(p.UntilMs) + ", or with `hearth resume`."
	}
	return what + " `hearth resume` ends it."
}
