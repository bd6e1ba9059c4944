package gateway

import (
	"context"
	"iter"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
)

// pausing stands in front of a model: nothing is asked while it is paused, or
// while the allowance is used up. A run that has begun waits. Secrets that Hearth knows do not pass, in neither
// direction (A-SEC-05).
type pausing struct {
	model.Provider
	g   *Gateway
	ref model.Ref
}

func (p pausing) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		act := pause.CallService
		if p.g.models.Nearby(p.ref) {
			act = pause.CallModel
		}
		if err := p.g.pause.Wait(ctx, act); err != nil {
			yield(model.Event{}, err)
			return
		}
		if err := p.g.purse.Afford(ctx, p.ref); err != nil {
			yield(model.Event{}, err)
			return
		}
		p.g.discreet(p.Provider.Stream(ctx, p.g.scrubbed(req)))(yield)
	}
}
