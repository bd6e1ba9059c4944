package failover

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Override is what a session remembers while another model answers than the
// selected one.
type Override struct {
	Ref     model.Ref
	Account string
	Origin  model.Ref // what was selected
	Reason  Reason    // why it was left
}

// Landing says which model answers now.
type Landing struct {
	Selected model.Ref
	Active   model.Ref
	Account  string
	Accounts int    // how many the service has
	Reason   Reason // why it is not the selected one; empty when it is
}

// Session is what a run tells and asks the session that it belongs to. Its
// methods are called from the goroutine that reads the stream.
type Session interface {
	// Persist remembers a fallback before it is asked, so that nobody reads the
	// old choice meanwhile. An error ends the run.
	Persist(ctx context.Context, o Override) error
	// Rollback takes back what Persist wrote, where it still stands.
	Rollback(ctx context.Context, failed Override)
	// Asking: this model is asked from now on.
	Asking(t Target)
	// Landed: it answers. It is called once for each model and account in a row.
	Landed(ctx context.Context, l Landing)
	// Switched returns the new selection when the person chose another model
	// since the last one was read.
	Switched() (Selection, bool)
	// Noted: an attempt ended, or a candidate was skipped.
	Noted(ctx context.Context, a Attempt)
	// Waiting: nothing happens for so long, because of reason.
	Waiting(d time.Duration, why Reason)
}

// Attempt is what became of one candidate or one of its accounts.
type Attempt struct {
	Ref     model.Ref
	Account string
	Reason  Reason // empty: it answered
	Status  int    // HTTP status, 0 when there was none
	Detail  string // the failure in a line
	Skipped bool   // it was not asked
	Nobody  bool   // nobody could be asked: the service is not known, not there, or has no such model
	Until   time.Time
	Usage   model.Usage
	At      time.Time
	Took    time.Duration
}

// alone is the Session of a call that belongs to no run.
type alone struct{}

func (alone) Persist(context.Context, Override) error { return nil }
func (alone) Rollback(context.Context, Override)      {}
func (alone) Asking(Target)                           {}
func (alone) Landed(context.Context, Landing)         {}
func (alone) Switched() (Selection, bool)             { return Selection{}, false }
func (alone) Noted(context.Context, Attempt)          {}
func (alone) Waiting(time.Duration, Reason)           {}
