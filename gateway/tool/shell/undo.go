package shell

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// How far a command can be taken back.
const (
	undoKept   = "kept"   // all that it changes
	undoPartly = "partly" // some of it
	undoNo     = "no"
)

// keep copies what the command is about to write, as far as its plan says that.
func (r *run) keep(ctx context.Context) error {
	writes := r.wish.Plan.Writes
	if r.Undo == nil || len(writes) == 0 {
		return nil
	}
	turn := undo.Turn{RunID: r.call.RunID, SessionKey: r.call.SessionKey, CallID: r.call.ID, Tool: "exec"}
	var err error
	if r.watched, err = r.Undo.Watch(ctx, turn, writes); err != nil {
		return fmt.Errorf("not run, because no copy of what it writes to could be kept: %w", err)
	}
	return nil
}

// settle takes down what the command left in those files.
func (r *run) settle(ctx context.Context) {
	if r.watched == nil {
		return
	}
	if err := r.watched.Settle(ctx); err != nil {
		// The copies stay, and taking back asks for force.
		r.watched.Missed = append(r.watched.Missed, err.Error())
	}
}

// undoable says whether what the command changes can be taken back.
func (r *run) undoable() string {
	only := r.wish.Plan.OnlyWrites
	switch {
	case only && len(r.wish.Plan.Writes) == 0:
		return ""
	case r.watched == nil || r.watched.Kept == 0:
		return undoNo
	case only && len(r.watched.Missed) == 0:
		return undoKept
	}
	return undoPartly
}

func (r *run) details(i process.Info, cut bool) json.RawMessage {
	d := describe(i, cut, r.sandbox())
	d.Undo = r.undoable()
	return details(d)
}
