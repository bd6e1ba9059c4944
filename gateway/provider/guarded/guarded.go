// Package guarded is what stands in front of every call of a model: the pause
// that a person set, the allowance, and the secrets that Hearth knows, which
// pass in neither direction (A-SEC-05).
//
// It does not own the switch (package pause), the money (package budget) nor the
// list of secrets (package redact); it makes sure that nobody goes around them.
package guarded

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// Guard stands in front of models. Its exported fields are all needed, and not
// changed.
type Guard struct {
	Pause  *pause.Switch
	Budget *budget.Budget
	Models *provider.Registry // knows which are on this computer
	Hide   *redact.Redactor

	system atomic.Pointer[cleared] // the system prompt that was looked through last
}

// May reports why a model may not be asked now because of a pause.
func (g *Guard) May(ref model.Ref) error { return g.Pause.Check(g.act(ref)) }

func (g *Guard) act(ref model.Ref) pause.Act {
	if g.Models.Nearby(ref) {
		return pause.CallModel
	}
	return pause.CallService
}

// Provider is p behind the guard: nothing is asked while it is paused, or while
// the allowance is used up. A run that has begun waits.
func (g *Guard) Provider(p model.Provider, ref model.Ref) model.Provider {
	return guarded{p, g, ref}
}

type guarded struct {
	model.Provider
	*Guard
	ref model.Ref
}

// Stream keeps the promises of model.Provider.
func (p guarded) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := p.Pause.Wait(ctx, p.act(p.ref)); err != nil {
			yield(model.Event{}, err)
			return
		}
		if err := p.Budget.Afford(ctx, p.ref); err != nil {
			yield(model.Event{}, err)
			return
		}
		p.answer(p.Provider.Stream(ctx, p.request(req)))(yield)
	}
}
