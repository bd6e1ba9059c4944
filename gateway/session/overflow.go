package session

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// shorter is the conversation for a run whose model said that it is too long:
// summarized once, and at most half as long. Where that changes nothing, what
// the model said is the run's failure. The transcript is not touched.
func (m *Manager) shorter(ctx context.Context, r *run, mdl Model, said error) ([]model.Message, error) {
	_, before, err := m.conversation(r, mdl, mdl.ContextWindow)
	if err != nil {
		return nil, err
	}
	row, err := m.rowOf(r.rec.SessionKey)
	if err != nil {
		return nil, err
	}
	m.chatStatus(r, "compacting")
	_, err = m.compact(ctx, row, mdl, "")
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, ErrNothingToCompact):
		m.Logger.Warn("a conversation that is too long could not be summarized; its oldest part is left out", "session", row.Key, "err", err)
	}
	history, after, err := m.conversation(r, mdl, windowFor(before/2))
	if err == nil && after >= before {
		err = said
	}
	if err != nil {
		return nil, err
	}
	m.because(&r.rec, protocol.WhyCompacted,
		"the model said that the conversation is too long for it; the oldest part was summarized or left out")
	return history, nil
}

// windowFor is the window with room for so many bytes.
func windowFor(bytes int) int { return max(1, bytes*answerShare/((answerShare-1)*bytesPerToken)) }
