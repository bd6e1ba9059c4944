package toolset

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/taint"
)

// Code is the programs of runs.
type Code interface {
	// Over hears that a run has ended for good.
	Over(ctx context.Context, runID string)
}

// Observer ends what runs and sessions began, when they end; it implements
// session.Observer.
type Observer struct {
	Code      Code
	Taint     *taint.Tracker
	Children  *subagent.Book
	Processes *process.Keeper
	Incidents *incident.Log
}

// Over hears that a run has ended for good.
func (o Observer) Over(ctx context.Context, runID string) {
	o.Code.Over(ctx, runID)
	o.Taint.Over(ctx, runID)
}

// Stopped hears that runs of a session were stopped by somebody.
func (o Observer) Stopped(ctx context.Context, key, runID string) {
	o.Children.Stopped(ctx, key, runID)
}

// Left hears that a session begins anew or is deleted.
func (o Observer) Left(key string) { o.Processes.StopOwner(key) }

// Broke hears that Hearth itself failed while it made an answer.
func (o Observer) Broke(where string, panicked any) { o.Incidents.Broke(where, panicked) }
