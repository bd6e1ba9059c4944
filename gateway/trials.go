package gateway

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/trial"
)

// trialSession is what tests of models are booked under.
const trialSession = "agent:" + session.DefaultAgent + ":model-test"

func (g *Gateway) openTrials(ctx context.Context) (err error) {
	g.trials, err = trial.Open(ctx, trial.Options{
		DB: g.store, Models: g.models, Begin: g.failover.Begin, May: g.mayAsk, Words: g.wordsOf,
		Free:    g.purse.Free,
		Book:    g.purse.Spent,
		Session: trialSession, Agent: session.DefaultAgent, Draw: draw, Now: g.opts.Now, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "What is known of your models could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	return nil
}

// draw is a number from 0 to n-1.
func draw(n int) int {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
}

// mayAsk reports why a model may not be asked now.
func (g *Gateway) mayAsk(ref model.Ref) error {
	act := pause.CallService
	if g.models.Nearby(ref) {
		act = pause.CallModel
	}
	return g.pause.Check(act)
}

// testModel asks a model a few questions.
func (g *Gateway) testModel(ctx context.Context, p protocol.ModelsTestParams) trial.Result {
	g.secrets.Await(ctx)
	return g.trials.Try(ctx, trial.Ask{Ref: g.testRef(p), Account: p.ProfileID, Window: p.Context})
}

// testRef is which model is meant.
func (g *Gateway) testRef(p protocol.ModelsTestParams) model.Ref {
	if p.Model != "" {
		if name, ok := g.choice.ByAlias(p.Model); ok {
			return g.models.Named(name)
		}
		return g.models.Named(p.Model)
	}
	if ref, ok := g.models.First(p.Provider); ok && p.Provider != "" {
		return ref
	}
	ref, _ := g.models.Default()
	return ref
}

func trialOnWire(r trial.Result) protocol.ModelsTestResult {
	out := protocol.ModelsTestResult{
		Model: r.Ref.String(), OK: r.OK, TookMs: r.Took.Milliseconds(), Claimed: r.Claimed, Trained: r.Trained,
		Line: r.Line, Notes: r.Notes, Error: r.Error, ErrorKind: string(r.Why),
	}
	if r.Found != (provider.Tested{}) {
		out.Verified = verifiedOf(r.Found)
	}
	return out
}

func verifiedOf(t provider.Tested) *protocol.ModelVerified {
	return &protocol.ModelVerified{ContextWindow: t.Window, Less: t.Limit > 0, Tools: t.Tools, At: t.At.UnixMilli()}
}

func (g *Gateway) wordsOf(err error, ref model.Ref) string {
	message, _ := g.explain(err, ref)
	var paused *pause.Error
	if errors.As(err, &paused) {
		message = protocol.Sentence(paused.Error())
	}
	return message
}
