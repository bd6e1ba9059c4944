package session

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// book hands the model calls of a run that are not booked yet to the ledger,
// with the transaction that makes durable what came of them.
func (m *Manager) book(tx *store.Tx, r *run) error {
	if len(r.calls) == 0 {
		return nil
	}
	return m.Models.Book(tx, r.rec.SessionKey, r.calls)
}

// Notice tells the person something that is not the assistant's: it stands in
// the transcript, goes where the run's answer goes, and no model reads it.
func (s *modelOf) Notice(ctx context.Context, text string) {
	var msg *protocol.Message
	err := s.change(context.WithoutCancel(ctx), func(tx *store.Tx, row *Row) error {
		msg = s.noticeMessage(text)
		row.Messages++
		if err := s.tell(tx, msg); err != nil {
			return err
		}
		return s.t.putEntry(tx, row.SessionID, *msg)
	})
	switch {
	case err != nil:
		s.Logger.Warn("a notice could not be kept", "session", s.row.Key, "err", err)
	case msg != nil:
		s.because(&s.r.rec, protocol.WhyNotice, "%s", text)
		s.Outbox.Wake()
		s.Publish.Message(s.sessionMessage(s.r, msg))
	}
}

// teller tells the person of a run that has not begun.
func (m *Manager) teller(r *run) func(ctx context.Context, text string) {
	return func(ctx context.Context, text string) {
		row, err := m.rowOf(r.rec.SessionKey)
		if err != nil {
			m.Logger.Warn("a notice could not be kept", "session", r.rec.SessionKey, "err", err)
			return
		}
		(&modelOf{Manager: m, r: r, end: &ending{}, row: row}).Notice(ctx, text)
	}
}

// tally collects the calls of model work that belongs to no run.
type tally struct{ calls []failover.Attempt }

func (*tally) Persist(context.Context, failover.Override) error { return nil }
func (*tally) Rollback(context.Context, failover.Override)      {}
func (*tally) Asking(failover.Target)                           {}
func (*tally) Landed(context.Context, failover.Landing)         {}
func (*tally) Switched() (failover.Selection, bool)             { return failover.Selection{}, false }
func (*tally) Waiting(time.Duration, failover.Reason)           {}

// Noted keeps what became of an attempt.
func (t *tally) Noted(_ context.Context, a failover.Attempt) { t.calls = append(t.calls, a) }

// bookTally books what belongs to no run.
func (m *Manager) bookTally(ctx context.Context, key string, t *tally) {
	if len(t.calls) == 0 {
		return
	}
	err := m.DB.Update(context.WithoutCancel(ctx),
		store.Write{Must: true, Do: func(tx *store.Tx) error { return m.Models.Book(tx, key, t.calls) }})
	if err != nil {
		m.Logger.Error("model calls could not be booked", "session", key, "calls", len(t.calls), "err", err)
	}
}
