package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/acp"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newACP(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "acp", Short: "Be an editor's agent, by the Agent Client Protocol",
		Long: "Be an editor's agent, by the Agent Client Protocol over standard input and output.\n" +
			"Set it as the command of an agent in the editor. It needs a running gateway; what\nwaits for a yes is asked in the editor.",
		Args: cobra.NoArgs, RunE: a.run(func(ctx context.Context, _ []string) error { return runACP(ctx, a) }),
	}
}

func runACP(ctx context.Context, a *app) error {
	agent := acp.New(a.Version)
	c, err := a.dial(ctx, client.Options{
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals},
		Caps:   []string{protocol.CapSlimDeltas, protocol.CapToolEvents, protocol.CapThoughts}, OnEvent: agent.Event,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-c.Done()
		cancel(c.Err())
	}()
	return agent.Run(ctx, c, a.In, a.Out)
}
