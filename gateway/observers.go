package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// What sessions are given that is made after them, or needs several parts.

// prompterOf makes system prompts.
type prompterOf struct{ g *Gateway }

// Prompt implements session.Prompter.
func (p prompterOf) Prompt(a session.Asked) (string, int) { return p.g.prompts.Prompt(a) }

// gateOf holds runs back.
type gateOf struct{ g *Gateway }

// Hold implements session.Gate.
func (h gateOf) Hold(ctx context.Context, run session.Run, choose func() (failover.Selection, error), tell func(context.Context, string)) {
	h.g.waits.Hold(ctx, run, h.g.dispatch.Pasted(run.ID), choose, tell)
}

// Held implements session.Gate.
func (h gateOf) Held() bool { return h.g.waits.Held() }

// observerOf hears what becomes of runs and sessions.
type observerOf struct{ g *Gateway }

// Over implements session.Observer.
func (o observerOf) Over(ctx context.Context, runID string) {
	o.g.code.Over(ctx, runID)
	o.g.taint.Over(ctx, runID)
}

// Stopped implements session.Observer.
func (o observerOf) Stopped(ctx context.Context, key, runID string) {
	o.g.spawns.Stopped(ctx, key, runID)
}

// Left implements session.Observer.
func (o observerOf) Left(key string) { o.g.execution.Processes.StopOwner(key) }

// Broke implements session.Observer.
func (o observerOf) Broke(where string, panicked any) { o.g.broke(where, panicked) }
