package session

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// asked answers turns in tests.
type asked struct {
	begin func(context.Context, failover.Selection, failover.Session) (Model, error)
	book  func(tx *store.Tx, key string, attempts []failover.Attempt) error // nil: nowhere
}

func (a asked) Begin(ctx context.Context, sel failover.Selection, s failover.Session) (Model, error) {
	return a.begin(ctx, sel, s)
}

func (a asked) Book(tx *store.Tx, key string, attempts []failover.Attempt) error {
	if a.book == nil {
		return nil
	}
	return a.book(tx, key, attempts)
}

func (asked) Cost(failover.Attempt) float64                   { return 0 }
func (asked) Explain(err error, _ model.Ref) (string, string) { return err.Error(), "unknown" }
func (asked) Repair(error) protocol.Repair                    { return "" }
func (asked) RetryAt(error) time.Time                         { return time.Time{} }

// always gives every run the same tools.
type always struct{ set *tool.Set }

func (a always) For(Run, model.Ref) (tool.Scope, *tool.Set) { return tool.Scope{}, a.set }
func (always) Rounds(Run) int                               { return 0 }
func (always) Asks(Run) *model.Options                      { return nil }

// prompted makes system prompts.
type prompted func(Asked) (string, int)

func (p prompted) Prompt(a Asked) (string, int) { return p(a) }

// putAway is the run whose work is put away.
type putAway string

func (p putAway) Suspended(_ *store.Tx, runID string) bool { return runID == string(p) }

// heard hears what becomes of runs.
type heard struct {
	over  func(runID string)
	broke func(where string, panicked any)
}

func (h heard) Over(_ context.Context, runID string) {
	if h.over != nil {
		h.over(runID)
	}
}

func (h heard) Broke(where string, panicked any) {
	if h.broke != nil {
		h.broke(where, panicked)
	}
}

func (heard) Stopped(context.Context, string, string) {}
func (heard) Left(string)                             {}
