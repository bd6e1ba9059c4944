package accounts

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// Turns are the accounts as package failover wants them.
type Turns struct{ *Accounts }

// Candidates implements failover.Accounts.
func (t Turns) Candidates(service, modelID string, pin failover.Pinned) []failover.AccountState {
	list := t.book.Candidates(service, modelID, profile.Pin{Profile: pin.ID, User: pin.User}, t.o.Now())
	out := make([]failover.AccountState, len(list))
	for i, c := range list {
		out[i] = failover.AccountState{ID: c.ID, Until: c.Until, Scoped: c.Scope == profile.ScopeModel}
		if c.Blocked() {
			out[i].Reason = failover.ReasonOf(&model.Error{Class: c.Reason})
		}
	}
	return out
}

// Used implements failover.Accounts.
func (t Turns) Used(ctx context.Context, id string) {
	if id != "" {
		t.book.Use(ctx, id)
	}
}

// Failed implements failover.Accounts.
func (t Turns) Failed(ctx context.Context, id, modelID string, f failover.FailedCall) {
	t.book.Fail(ctx, id, modelID, profile.Failure{Class: f.Class, RetryAfter: f.RetryAfter})
}

// Succeeded implements failover.Accounts.
func (t Turns) Succeeded(ctx context.Context, id, modelID string) {
	t.book.Succeed(ctx, id, modelID)
}
