package budget

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

// lookAgain bounds how long nobody looks at the clock: a computer that slept
// wakes on another day.
const lookAgain = time.Minute

// HowOn says what ends the wait.
const HowOn = "Raise it with `hearth usage allow`, let one answer through with `/usage allow once`, or choose a model that costs " +
	"nothing with `/model`."

const sendAgain = "Then send the message again."

// Words says that the allowance is used up.
func Words(st spend.Standing) string {
	return fmt.Sprintf("The allowance for %s is used up: %s of %s. Nothing more that costs is asked until %s.",
		st.Period, spend.Money(st.Spent, st.Currency), spend.Money(st.Limit, st.Currency), st.Ends.Format("15:04 on 2 January"))
}

// UsedUpError ends work that belongs to no run.
type UsedUpError struct{ spend.Standing }

func (e *UsedUpError) Error() string {
	return Words(e.Standing) + " " + HowOn + " " + sendAgain
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

// PaidBy makes the run of a session the one that a provider's calls are made for.
func PaidBy(s failover.Session, p model.Provider) model.Provider { return paid{p, payerOf(s)} }

// Stream keeps the promises of model.Provider.
func (p paid) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return p.Provider.Stream(context.WithValue(ctx, payerKey{}, p.by), req)
}

// Message is one that waits to be answered.
type Message struct {
	Run, Session string
	// Free reports whether a model that costs nothing would answer it.
	Free func() bool
	// Tell puts words of Hearth's own into its conversation.
	Tell func(ctx context.Context, text string)
}

// Hold waits while a message may not be answered. What is wrong is told when
// the answer begins.
func (b *Budget) Hold(ctx context.Context, m Message) {
	if !b.Allowance().Any() {
		return
	}
	for {
		change := b.Ledger.Changed()
		st, err := b.Standing()
		if err != nil || st.Level < spend.Used || m.Free() || b.Ledger.TakePass(m.Run) {
			return
		}
		if b.wait(ctx, change, st, payer{run: m.Run, session: m.Session, tell: m.Tell}) != nil {
			return
		}
	}
}

// Afford waits before a call that may not be paid now. Work that belongs to no
// run does not wait: nobody would know for what.
func (b *Budget) Afford(ctx context.Context, ref model.Ref) error {
	by, _ := ctx.Value(payerKey{}).(payer)
	for b.Allowance().Any() && !b.Free(ref) {
		change := b.Ledger.Changed()
		st, err := b.Standing()
		switch {
		case err != nil:
			return err
		case st.Level < spend.Used, by.run != "" && b.Ledger.TakePass(by.run):
			return nil
		case by.run == "":
			return &UsedUpError{st}
		case by.rechosen():
			return failover.ErrReselect
		}
		if err := b.wait(ctx, change, st, by); err != nil {
			return err
		}
	}
	return nil
}

// wait returns when it is time to look again.
func (b *Budget) wait(ctx context.Context, change <-chan struct{}, st spend.Standing, by payer) error {
	if b.Ledger.Tell(by.session, spend.Used) {
		by.tell(ctx, "💰 "+Words(st)+" This conversation waits. "+HowOn)
	}
	b.waits.Add(1)
	defer b.waits.Add(-1)
	defer b.Idle(ctx)()
	again := time.NewTimer(max(time.Millisecond, min(lookAgain, st.Ends.Sub(b.Now()))))
	defer again.Stop()
	select {
	case <-change:
	case <-again.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Problem says that messages wait, "" when none does.
func (b *Budget) Problem() string {
	n := b.waits.Load()
	if n == 0 {
		return ""
	}
	st, err := b.Standing()
	if err != nil || st.Level < spend.Used {
		return ""
	}
	waits := "A message waits. "
	if n > 1 {
		waits = fmt.Sprintf("%d messages wait. ", n)
	}
	return Words(st) + " " + waits + HowOn
}
