package gateway

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

// What happens when the allowance is used up: messages wait in the queue, runs
// before their next call, until a person allows more, a new day or month begins,
// or a model that costs nothing is chosen.

// lookAgain bounds how long nobody looks at the clock: a computer that slept
// wakes on another day.
const lookAgain = time.Minute

// howOn says what ends the wait.
const howOn = "Raise it with `hearth usage allow`, let one answer through with `/usage allow once`, or choose a model that costs nothing with `/model`."

func usedUpWords(st spend.Standing) string {
	return fmt.Sprintf("The allowance for %s is used up: %s of %s. Nothing more that costs is asked until %s.",
		st.Period, spend.Money(st.Spent, st.Currency), spend.Money(st.Limit, st.Currency), st.Ends.Format("15:04 on 2 January"))
}

// usedUp ends work that belongs to no run.
type usedUp struct{ spend.Standing }

func (e *usedUp) Error() string {
	return usedUpWords(e.Standing) + " " + howOn + " Then send the message again."
}

// explain words failures of runs.
func (g *Gateway) explain(err error, ref model.Ref) (message, kind string) {
	var used *usedUp
	if errors.As(err, &used) {
		return used.Error(), provider.KindUnknown
	}
	return provider.Explain(err, ref)
}

// payer is the run that calls of a model are made for.
type payer struct {
	run, session string // "" for work that belongs to no run
	tell         func(ctx context.Context, text string)
	rechosen     func() bool // another model was chosen since the last call
}

func payerOf(s failover.Session) payer {
	r, ok := s.(interface {
		RunID() string
		SessionKey() string
		Rechosen() bool
		Notice(ctx context.Context, text string)
	})
	if !ok {
		return payer{}
	}
	return payer{r.RunID(), r.SessionKey(), r.Notice, r.Rechosen}
}

// payerKey finds the payer in a context.
type payerKey struct{}

// paid tells every call of a model for whom it is made.
type paid struct {
	model.Provider
	by payer
}

// Stream keeps the promises of model.Provider.
func (p paid) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.Provider.Stream(context.WithValue(ctx, payerKey{}, p.by), req)
}

// hold is the session's hook: it waits while a message may not be answered.
func (g *Gateway) hold(ctx context.Context, rec session.Run, tell func(ctx context.Context, text string)) {
	if _, ok := g.pasted.LoadAndDelete(rec.ID); ok {
		tell(ctx, pastedWords)
	}
	if rec.AwaitModel && g.setup.Await(ctx, func() bool { return g.hasModel(rec) }) != nil {
		return
	}
	if g.pause.Wait(ctx, pause.CallModel) != nil || !g.allowance().Any() {
		return
	}
	for {
		change := g.spend.Changed()
		st, err := g.standing()
		if err != nil || st.Level < spend.Used || g.costsNothing(ctx, rec) || g.spend.TakePass(rec.ID) {
			return // what is wrong is told when the answer begins
		}
		if g.waitForMore(ctx, change, st, payer{run: rec.ID, session: rec.SessionKey, tell: tell}) != nil {
			return
		}
	}
}

// costsNothing reports whether a run would be answered by a model that is free.
func (g *Gateway) costsNothing(ctx context.Context, rec session.Run) bool {
	g.awaitSecrets(ctx)
	if cheap, ok := g.cheapModel(); ok && g.free(cheap) {
		return true
	}
	sel, err := g.session.Selection(rec)
	if err != nil {
		return true
	}
	c, err := g.models.Resolve(ctx, sel.Ref)
	return err != nil || g.free(c.Ref)
}

// afford waits before a call that may not be paid now. Work that belongs to no
// run does not wait: nobody would know for what.
func (g *Gateway) afford(ctx context.Context, ref model.Ref) error {
	by, _ := ctx.Value(payerKey{}).(payer)
	for g.allowance().Any() && !g.free(ref) {
		change := g.spend.Changed()
		st, err := g.standing()
		switch {
		case err != nil:
			return err
		case st.Level < spend.Used, by.run != "" && g.spend.TakePass(by.run):
			return nil
		case by.run == "":
			return &usedUp{st}
		case by.rechosen():
			return failover.ErrReselect
		}
		if err := g.waitForMore(ctx, change, st, by); err != nil {
			return err
		}
	}
	return nil
}

// waitForMore returns when it is time to look again.
func (g *Gateway) waitForMore(ctx context.Context, change <-chan struct{}, st spend.Standing, by payer) error {
	if g.spend.Tell(by.session, spend.Used) {
		by.tell(ctx, "💰 "+usedUpWords(st)+" This conversation waits. "+howOn)
	}
	g.unpaid.Add(1)
	defer g.unpaid.Add(-1)
	defer session.Waiting(ctx)() // a person's answer is not the run's work
	again := time.NewTimer(max(time.Millisecond, min(lookAgain, st.Ends.Sub(g.opts.Now()))))
	defer again.Stop()
	select {
	case <-change:
	case <-again.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// touched is told of every change of a session: another model may be chosen.
func (g *Gateway) touched(key string) {
	g.search.Touch(key)
	g.spend.Wake()
	g.setup.Wake()
}

// spendProblems says that messages wait.
func (g *Gateway) spendProblems() []protocol.Problem {
	n := g.unpaid.Load()
	if n == 0 {
		return nil
	}
	st, err := g.standing()
	if err != nil || st.Level < spend.Used {
		return nil
	}
	waits := "A message waits. "
	if n > 1 {
		waits = fmt.Sprintf("%d messages wait. ", n)
	}
	return []protocol.Problem{{Code: "ALLOWANCE", Message: usedUpWords(st) + " " + waits + howOn}}
}
