package gateway

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/hearth-assistant/hearth/gateway/incident"
)

// Failures of Hearth itself: whoever asked is answered, and the failure is kept
// where doctor and status find it. Nothing is dropped without a sign.

// broke keeps what panicked. It is called where that happened.
func (g *Gateway) broke(where string, panicked any) {
	g.incidents.Note(g.work.Context(), where, panicked)
}

func (g *Gateway) messageBroke(_ context.Context, panicked any) {
	g.log.Error("handling a message panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	g.broke("a message from a channel", panicked)
}

func (g *Gateway) openIncidents() { g.incidents = incident.New(g.store, g.opts.Now) }
