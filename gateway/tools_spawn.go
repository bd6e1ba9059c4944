package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/spawn"
)

// openSpawns takes up the sub-agents of the store.
func (g *Gateway) openSpawns() {
	g.spawns = spawn.New(spawn.Options{
		DB: g.store, Now: g.opts.Now, Logger: g.log, Limits: func() spawn.Limits { return rules.Subagents(g.config.Snapshot().Config) },
	})
}

// stopChildren stops what a stopped run had started.
func (g *Gateway) stopChildren(ctx context.Context, key, runID string) {
	if err := g.spawns.Stopped(ctx, key, runID); err != nil {
		g.log.Error("the sub-agents of a stopped session go on", "session", key, "err", err)
	}
}
