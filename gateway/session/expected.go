package session

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Expected is what a client believes that a session is. Somebody else may have
// begun it anew since the client looked; what was meant for the old transcript
// must then not happen to the new one. The zero value expects nothing.
type Expected struct {
	SessionID string // "" = any
	UpdatedAt *int64 // nil = any
	Archived  bool   // it must be archived
	// Unknown is set when the client expects something that our sessions never
	// have, so that it cannot be so.
	Unknown bool
	// OrNone lets a session be missing: the act makes it.
	OrNone bool
}

// What an act with an Expected returns when it was not done.
var (
	ErrChanged     = errors.New("the session is not the one that was expected")
	ErrNotArchived = errors.New("the session is not archived")
)

// holds is nil when the row is what was expected.
func (e Expected) holds(row Row, there bool) error {
	switch {
	case e.Archived && (!there || !row.Archived):
		return ErrNotArchived
	case !there && e.OrNone && !e.Unknown:
		return nil
	case e.Unknown, e.SessionID != "" && (!there || row.SessionID != e.SessionID), e.UpdatedAt != nil &&
		(!there || row.UpdatedAt != *e.UpdatedAt):
		return ErrChanged
	}
	return nil
}

// Expect checks before an act what the act checks again in its own transaction.
func (m *Manager) Expect(key string, e Expected) error {
	if e == (Expected{}) {
		return nil
	}
	return m.DB.View(func(tx *store.Tx) error {
		row, ok, err := m.t.sessions.Get(tx, []byte(key))
		if err != nil {
			return err
		}
		return e.holds(row, ok)
	})
}

// stop is Abort for an act that is meant for one transcript: runs of another
// one that the same key leads to by now go on.
func (m *Manager) stop(ctx context.Context, key string, e Expected) error {
	if err := m.Expect(key, e); err != nil {
		return err
	}
	_, err := m.abort(ctx, key, "", e.SessionID)
	return err
}
