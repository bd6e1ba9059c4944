package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

const (
	// janitorEvery is how often old records are looked for.
	janitorEvery = time.Hour
	// keepDelivered is how long the receipt of a delivered answer is kept.
	keepDelivered = 30 * 24 * time.Hour
	// healthEvery is how often problems are looked at, to tell clients of a change.
	healthEvery = 15 * time.Second
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
		if err := g.undo.Tidy(ctx); err != nil && ctx.Err() == nil {
			g.log.Warn("old copies for undo could not be removed", "err", err)
		}
		select {
		case <-time.After(janitorEvery):
		case <-ctx.Done():
			return
		}
	}
}

// watchHealth tells clients when there are other problems than before: a full
// disk, a broken settings file, a channel that fell silent.
func (g *Gateway) watchHealth(ctx context.Context) {
	last := g.problems()
	for {
		select {
		case <-time.After(healthEvery):
		case <-ctx.Done():
			return
		}
		now := g.problems()
		if slices.Equal(now, last) {
			continue
		}
		last = now
		h, err := g.health(ctx, method.None{})
		if err != nil {
			g.log.Warn("health could not be told", "err", err)
			continue
		}
		g.server.Broadcast(server.Broadcast{Event: protocol.EventHealth, Payload: h})
	}
}
