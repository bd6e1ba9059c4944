package gateway

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/watchdog"
)

// Stuck tells when a part of the gateway has not moved for so long that only a new
// start helps: whoever runs it ends the process, without waiting for Serve.
func (g *Gateway) Stuck() <-chan error { return g.stuck }

// watchParts notices parts that do not move any more.
func (g *Gateway) watchParts(ctx context.Context) {
	watchdog.Run(ctx, watchdog.Options{
		Parts: []watchdog.Part{
			{Name: "the database", Ask: g.store.Moves},
			{Name: "the conversations", Ask: func() { g.session.Load() }},
			{Name: "the state of Hearth", Ask: func() { g.problems() }},
		},
		Stuck: func(part string, stacks []byte) {
			err := statedir.WriteFile(g.opts.Dir.Stacks(), stacks)
			g.log.Error("a part of Hearth does not move any more", "part", part, "stacks", g.opts.Dir.Stacks(), "err", err)
			g.broke(part, "it has not answered for a minute; what it was doing is in "+g.opts.Dir.Stacks())
		},
		GiveUp: func(part string) {
			err := fmt.Errorf("%s has not answered for three minutes, so Hearth ends here and can be started again; what it was doing is in %s",
				part, g.opts.Dir.Stacks())
			g.log.Error("the gateway gives itself up", "err", err)
			select {
			case g.stuck <- err:
			default:
			}
		},
	})
}
