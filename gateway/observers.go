package gateway

import (
	"context"
)

// What sessions are given that is made after them, or needs several parts.

// observer hears what becomes of runs and sessions.
type observer struct{ g *Gateway }

// Over implements session.Observer.
func (o observer) Over(ctx context.Context, runID string) {
	o.g.code.Over(ctx, runID)
	o.g.taint.Over(ctx, runID)
}

// Stopped implements session.Observer.
func (o observer) Stopped(ctx context.Context, key, runID string) {
	o.g.spawns.Stopped(ctx, key, runID)
}

// Left implements session.Observer.
func (o observer) Left(key string) { o.g.execution.Processes.StopOwner(key) }

// Broke implements session.Observer.
func (o observer) Broke(where string, panicked any) { o.g.incidents.Broke(where, panicked) }
