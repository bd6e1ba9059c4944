package gateway

import (
	"context"
	"time"
)

const (
	// janitorEvery is how often old records are looked for.
	janitorEvery = time.Hour
	// keepDelivered is how long the receipt of a delivered answer is kept.
	keepDelivered = 30 * 24 * time.Hour
	// pruneChunk bounds one transaction.
	pruneChunk = 1000
)

// tidy forgets what nobody needs any more, until ctx ends.
func (g *Gateway) tidy(ctx context.Context) {
	for {
		before := g.opts.Now().Add(-keepDelivered).UnixMilli()
		if _, err := g.deliverer.Prune(ctx, before, pruneChunk); err != nil && ctx.Err() == nil {
			g.log.Warn("old deliveries could not be forgotten", "err", err)
		}
		select {
		case <-time.After(janitorEvery):
		case <-ctx.Done():
			return
		}
	}
}
