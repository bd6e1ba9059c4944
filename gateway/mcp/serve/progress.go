package serve

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// beatTime is how often a caller hears that a call is still under way. Clients
// give up after a minute of silence unless they hear something.
const beatTime = 10 * time.Second

// beat tells a caller that gave a token for it that the call goes on, until the
// returned function is called, which waits for the last word.
func beat(ctx context.Context, s *mcp.ServerSession, token any) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(beatTime)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if s.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n,
					Message: "The assistant is at work."}) != nil {
					return // the caller has left
				}
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
