package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// maxOnce bounds the words of one question.
const maxOnce = 64 << 10

// AskOnce puts one question to a model, beside every conversation. What it costs
// is booked to the session of key. see is called with the model before it is
// asked; its error ends the question.
func (m *Manager) AskOnce(ctx context.Context, key string, sel failover.Selection, req model.Request, see func(Model) error) (text string,
	ref model.Ref, err error) {
	used := &tally{}
	defer m.bookTally(ctx, key, used)
	mdl, err := m.Models.Begin(ctx, sel, used)
	if err != nil {
		return "", ref, fmt.Errorf("find a model: %w", err)
	}
	if err := see(mdl); err != nil {
		return "", mdl.Ref, err
	}
	req.Model = mdl.Ref.Model
	var said strings.Builder
	for ev, err := range mdl.Provider.Stream(ctx, req) {
		if err != nil {
			return "", mdl.Ref, err
		}
		if ev.Kind == model.EventText && said.Len() < maxOnce {
			said.WriteString(ev.Text)
		}
	}
	return strings.TrimSpace(said.String()), mdl.Ref, nil
}
