package turn

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// pastedWords follow a message of a person that holds a key. The words stay as
// they were said: taking them away would make the conversation a riddle.
const pastedWords = "🔑 Your message holds something that looks like a key or a password. It stands in this conversation's history, and " +
	"models may read it. " +
	"If it is a real one, replace it at its service and keep the new one with `hearth secrets set NAME`: there no model sees it."

// Waits keep a turn from beginning while it may not be answered: no model was
// chosen yet, everything is paused, or the allowance is used up.
type Waits struct {
	Models *Models
	Setup  *setup.Book
	Pasted Pasted
}

// Pasted knows messages that hold what looks like a key.
type Pasted interface {
	// Pasted reports, once, whether the message of a run does.
	Pasted(runID string) bool
}

// Hold implements session.Gate: it waits while a turn may not begin. choose is the
// model that the session or the turn names; tell puts words of Hearth's own into
// its conversation.
func (w *Waits) Hold(
	ctx context.Context, run session.Run, choose func() (failover.Selection, error), tell func(ctx context.Context, text string),
) {
	if w.Pasted.Pasted(run.ID) {
		tell(ctx, pastedWords)
	}
	m := w.Models
	chosen := func() bool {
		sel, err := choose()
		return err != nil || m.o.Choice.OfAgent(sel).Ref != model.Ref{}
	}
	if run.AwaitModel && w.Setup.Await(ctx, chosen) != nil {
		return
	}
	if m.o.Guard.Pause.Wait(ctx, pause.CallModel) != nil {
		return
	}
	m.budget().Hold(ctx, budget.Message{Run: run.ID, Session: run.SessionKey, Tell: tell, Free: func() bool { return m.free(ctx, choose) }})
}

// Held reports whether turns may not begin now.
func (w *Waits) Held() bool {
	return w.Models.budget().Poor() || w.Setup.Held() || w.Models.o.Guard.Pause.Check(pause.CallModel) != nil
}

// free reports whether a turn would be answered by a model that costs nothing.
func (m *Models) free(ctx context.Context, choose func() (failover.Selection, error)) bool {
	m.o.Secrets.Await(ctx)
	if cheap, ok := m.budget().Cheap(); ok && m.budget().Free(cheap) {
		return true
	}
	sel, err := choose()
	if err != nil {
		return true
	}
	c, err := m.o.Models.Resolve(ctx, sel.Ref)
	return err != nil || m.budget().Free(c.Ref)
}
