package cli

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/tui"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type tuiOptions struct {
	session string
	theme   string
}

func newTUI(a *app) *cobra.Command {
	var o tuiOptions
	c := &cobra.Command{
		Use:   "tui",
		Short: "Chat in this terminal: sessions, streaming answers, the queue",
		Long: `Chat in this terminal: sessions, streaming answers, the queue.

Enter sends; while an answer is given it steers that answer, Tab queues behind
it and Esc stops. ? shows all keys, Ctrl-C leaves; answers go on without it.

If the gateway restarts, the chat waits for it: a message is never lost and
never sent twice.`,
		Example: "  hearth tui\n  hearth tui --session review",
		Args:    cobra.NoArgs,
		RunE:    a.run(func(ctx context.Context, _ []string) error { return runTUI(ctx, a, o) }),
	}
	c.Flags().StringVarP(&o.session, "session", "s", "", "the conversation to open; a new name begins one (default: the main one)")
	c.Flags().StringVar(&o.theme, "theme", "auto", "auto, light, dark, contrast (nothing faint) or none (no colour)")
	return c
}

func runTUI(ctx context.Context, a *app, o tuiOptions) error {
	if !a.InTerminal || !a.OutTerminal {
		return &failure{exitUsage, "the chat needs a terminal, and input or output is something else", "use `hearth chat \"…\"` in scripts " +
			"and pipes"}
	}
	if !slices.Contains([]string{"auto", "light", "dark", "contrast", "none"}, o.theme) {
		return usage("there is no theme %s: auto, light, dark, contrast and none are known", line(o.theme))
	}
	if a.Env("TERM") == "dumb" {
		return &failure{exitUsage, "this terminal (TERM=dumb) cannot be drawn on", "use `hearth chat` here"}
	}
	dial := a.dial
	if a.gateway == "" { // on its own machine people also hear of devices that ask to be let in
		dial = func(ctx context.Context, o client.Options) (*client.Client, error) {
			o.Scopes = append(slices.Clone(o.Scopes), protocol.ScopePairing)
			return a.dial(ctx, o)
		}
	}
	unsent, err := tui.Run(ctx, tui.Options{
		In: a.In, Out: a.Out, Environ: os.Environ(), Colour: a.out().colour, Session: o.session, Theme: o.theme, Dial: dial,
	})
	for _, text := range unsent {
		_ = a.errs().print(yellow("Not sent: "), text, "\n")
	}
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}
