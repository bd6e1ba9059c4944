package session

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// modelOf tells a session of the models that answer one of its runs. It is
// used by the run's goroutine.
type modelOf struct {
	*Manager
	r      *run
	end    *ending
	row    Row      // as it was read last
	before Override // what a fallback took the place of
}

// begin finds the model that answers a run. What becomes of it meanwhile is
// written to end.
func (m *Manager) begin(ctx context.Context, r *run, end *ending) (Model, failover.Selection, Row, error) {
	row, err := m.rowOf(r.rec.SessionKey)
	if err != nil {
		return Model{}, failover.Selection{}, row, err
	}
	sel := row.selectionFor(r.rec)
	if end.ref = sel.Ref; sel.Source == failover.SourceAuto {
		end.ref = sel.Origin
	}
	mdl, err := m.Models.Begin(ctx, sel, &modelOf{Manager: m, r: r, end: end, row: row})
	return mdl, sel, row, err
}

// CeilingError ends a run that has cost as much as it may.
type CeilingError struct{ Spent, Most float64 }

func (e *CeilingError) Error() string {
	return fmt.Sprintf("it has cost %.4f, and no more than %.4f are allowed for one run (hearth.maxCostUsd), so no model was asked any more",
		e.Spent, e.Most)
}

// within ends the run before its next call of a model when it has cost as much as
// it may.
func (r *run) within() {
	if t := r.rec.Terms; t != nil && t.MaxCost > 0 && r.spent >= t.MaxCost {
		r.cancel(&CeilingError{Spent: r.spent, Most: t.MaxCost})
	}
}

// selectionFor is what a run is to be answered with: its message's own model
// comes first.
func (row Row) selectionFor(rec Run) failover.Selection {
	sel := row.chosenFor(rec)
	if rec.Terms == nil || rec.Terms.Fallbacks == nil {
		return sel
	}
	sel.Fallbacks = []model.Ref{}
	for _, name := range rec.Terms.Fallbacks {
		if ref, ok := model.ParseRef(name); ok {
			sel.Fallbacks = append(sel.Fallbacks, ref)
		}
	}
	if sel.Source == failover.SourceUser {
		sel.Source = failover.SourceAgent // its list counts
	}
	return sel
}

func (row Row) chosenFor(rec Run) failover.Selection {
	if ref, account, ok := profile.ParseRef(rec.ownModel()); ok {
		return failover.Selection{Ref: ref, Source: failover.SourceUser, Session: row.Key, Pin: failover.Pinned{ID: account, User: account != ""}}
	}
	return row.selection()
}

// Selection is what a run that has not begun would be answered with now.
func (m *Manager) Selection(rec Run) (failover.Selection, error) {
	row, err := m.rowOf(rec.SessionKey)
	return row.selectionFor(rec), err
}

// RunID names the run, to whom the model is handed.
func (s *modelOf) RunID() string { return s.r.id }

// SessionKey names its session.
func (s *modelOf) SessionKey() string { return s.row.Key }

// own reports whether the row still belongs to the run's conversation and to
// the choice that the run was begun with.
func (s *modelOf) own(row *Row) bool {
	return row.SessionID == s.r.rec.SessionID && row.Choices == s.row.Choices
}

// change edits the row where it is still the run's own, and reads it again.
func (s *modelOf) change(ctx context.Context, do func(tx *store.Tx, row *Row) error) error {
	row, err := s.editIn(ctx, s.row.Key, "model", false, func(tx *store.Tx, row *Row) error {
		if !s.own(row) {
			return nil
		}
		return do(tx, row)
	})
	if err == nil && s.own(&row) {
		s.row = row
	}
	return err
}

// Persist writes a fallback down before it is asked, so that everybody who
// reads the session sees the model that is about to answer.
func (s *modelOf) Persist(ctx context.Context, o failover.Override) error {
	if s.r.rec.ownModel() != "" {
		return nil // this message's own model says nothing of the session
	}
	return s.change(ctx, func(_ *store.Tx, row *Row) error {
		s.before = row.Override
		row.Override.Provider, row.Override.Model, row.Override.Source = o.Ref.Provider, o.Ref.Model, byAuto
		row.Override.Origin, row.Override.Reason = o.Origin.String(), string(o.Reason)
		if row.Override.ProfileSource != byUser {
			row.Override.clearProfile()
			if o.Account != "" {
				row.Override.Profile, row.Override.ProfileSource, row.Override.ProfileCompactions = o.Account, byAuto, row.Compactions
			}
		}
		return nil
	})
}

// Rollback takes back what Persist wrote, where nobody wrote anything else
// since.
func (s *modelOf) Rollback(ctx context.Context, failed failover.Override) {
	err := s.change(context.WithoutCancel(ctx), func(_ *store.Tx, row *Row) error {
		if row.Override.Source == byAuto && row.Override.ref() == failed.Ref {
			row.Override = s.before
		}
		return nil
	})
	if err != nil {
		s.Logger.Warn("a model that failed stays selected for now", "session", s.row.Key, "model", failed.Ref.String(), "err", err)
	}
}

// Asking is the model that the run's answer is of from now on.
func (s *modelOf) Asking(t failover.Target) {
	if s.end.ref == t.Ref && s.end.asked {
		return
	}
	s.end.ref, s.end.builtIn, s.end.asked = t.Ref, t.BuiltIn, true
	s.agentEvent(s.r, "lifecycle", map[string]any{"phase": "model", "provider": t.Ref.Provider, "model": t.Ref.Model})
	s.chatStatus(s.r, "starting_model")
}

// Landed: the model answers. The account is kept to, a model that is back takes
// its place again, and a change is shown once.
func (s *modelOf) Landed(ctx context.Context, l failover.Landing) {
	if s.r.rec.ownModel() != "" {
		return
	}
	text := s.notice(l)
	settled := l.Active == l.Selected && s.row.Fallback != nil
	back := l.Active == l.Selected && s.row.Override.Source == byAuto
	pin := l.Accounts > 1 && l.Account != s.row.Override.Profile && s.row.Override.ProfileSource != byUser
	if text == "" && !back && !pin && !settled {
		return
	}
	var msg *protocol.Message
	err := s.change(context.WithoutCancel(ctx), func(tx *store.Tx, row *Row) error {
		if back {
			row.Override.clearModel()
		}
		if pin {
			row.Override.Profile, row.Override.ProfileSource, row.Override.ProfileCompactions = l.Account, byAuto, row.Compactions
		}
		if settled {
			row.Fallback = nil
		}
		if text == "" {
			return nil
		}
		row.Fallback = nil
		if l.Active != l.Selected {
			row.Fallback = &Fallback{Selected: l.Selected.String(), Active: l.Active.String(), Reason: string(l.Reason)}
		}
		msg = s.noticeMessage(text)
		row.Messages++
		if err := s.tell(tx, msg); err != nil {
			return err
		}
		return s.t.putEntry(tx, row.SessionID, *msg)
	})
	if err != nil {
		s.Logger.Warn("a change of the model could not be remembered", "session", s.row.Key, "model", l.Active.String(), "err", err)
		return
	}
	if msg != nil {
		s.because(&s.r.rec, protocol.WhyFallback, "%s", text)
		s.Outbox.Wake()
		s.Publish.Message(s.sessionMessage(s.r, msg))
	}
}

// notice is what the person is told of a landing, empty when nothing changed.
func (s *modelOf) notice(l failover.Landing) string {
	was := s.row.Fallback
	if l.Active == l.Selected {
		if was == nil || was.Active == l.Active.String() { // the other one is chosen now
			return ""
		}
		return fmt.Sprintf("↪️ Model Fallback cleared: %s (was %s)", l.Selected, was.Active)
	}
	if was != nil && was.Selected == l.Selected.String() && was.Active == l.Active.String() {
		return ""
	}
	return fmt.Sprintf("↪️ Model Fallback: %s (selected %s; %s)", l.Active, l.Selected, l.Reason.Words())
}

// noticeMessage is a notice as the transcript keeps it: not of the assistant,
// and never before a model. It bears no run: it is no sign of an answer.
func (s *modelOf) noticeMessage(text string) *protocol.Message {
	msg := &protocol.Message{
		Role: protocol.MessageSystem, Content: protocol.TextBlocks(text), Timestamp: s.nowMs(), ExcludeFromContext: true, Meta: s.nextMeta(s.r),
	}
	msg.Meta.RunID = ""
	return msg
}

// tell sends a notice where the run's answer goes.
func (s *modelOf) tell(tx *store.Tx, msg *protocol.Message) error {
	if s.Tell == nil || s.r.rec.Route == "" {
		return nil
	}
	return s.Tell(tx, s.r.rec, msg.Meta.ID, msg.Text())
}

// Switched: the person chose another model since.
func (s *modelOf) Switched() (failover.Selection, bool) {
	if s.r.rec.ownModel() != "" {
		return failover.Selection{}, false
	}
	row, err := s.rowOf(s.row.Key)
	if err != nil || row.SessionID != s.r.rec.SessionID || row.Choices == s.row.Choices {
		return failover.Selection{}, false
	}
	s.row = row
	s.because(&s.r.rec, protocol.WhyModel, "another model was chosen during the answer")
	return row.selection(), true
}

// Rechosen reports whether Switched would return another choice.
func (s *modelOf) Rechosen() bool {
	if s.r.rec.ownModel() != "" {
		return false
	}
	row, err := s.rowOf(s.row.Key)
	return err == nil && row.SessionID == s.r.rec.SessionID && row.Choices != s.row.Choices
}

// Noted keeps what became of each attempt.
func (s *modelOf) Noted(_ context.Context, a failover.Attempt) {
	s.r.calls = append(s.r.calls, a)
	s.tellAsked(s.r.id, a)
	if s.r.rec.Terms != nil && !a.Skipped {
		s.r.spent += s.Models.Cost(a)
	}
	switch {
	case a.Reason == "" || a.Reason == failover.ReasonAborted:
	case a.Skipped:
		s.because(&s.r.rec, protocol.WhySkipped, "%s was not asked: %s", a.Ref, a.Reason.Words())
	default:
		s.because(&s.r.rec, protocol.WhyRetried, "%s failed: %s", a.Ref, a.Reason.Words())
	}
}

// Waiting shows that nothing will happen for a while.
func (s *modelOf) Waiting(d time.Duration, why failover.Reason) {
	s.agentEvent(s.r, "lifecycle", map[string]any{"phase": "waiting", "ms": d.Milliseconds(), "reason": string(why)})
	s.chatStatus(s.r, "starting_model")
}
