package outbound

import (
	"context"
	"time"
)

const (
	// tidyEvery is how often old receipts are looked for.
	tidyEvery = time.Hour
	// keepDelivered is how long the receipt of a delivered answer is kept.
	keepDelivered = 30 * 24 * time.Hour
	// pruneChunk bounds one transaction.
	pruneChunk = 1000
)

// Tidy forgets receipts that nobody needs any more, until ctx ends.
func (d *Deliverer) Tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		before := d.Now().Add(-keepDelivered).UnixMilli()
		if _, err := d.Prune(ctx, before, pruneChunk); err != nil && ctx.Err() == nil {
			d.Logger.Warn("old deliveries could not be forgotten", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
