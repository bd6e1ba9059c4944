package sessions

import (
	"context"
	"fmt"
	"time"

	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// tools are those about conversations.
func (f *feature) tools() []tool.Tool {
	status := &sessiontool.Status{Now: f.now, Start: f.started, Facts: f.sessionFacts, Switch: f.switchModel, Clock: func() sessiontool.Clock {
		return sessiontool.Clock{Zone: f.clock.Zone(), Name: f.clock.ZoneName(), Hours: f.clock.Hours()}
	}}
	return append([]tool.Tool{status}, sessiontool.New(others{f})...)
}

func (f *feature) sessionFacts(_ context.Context, key string) (sessiontool.Facts, error) {
	row, ok, err := f.sessions.Get(key)
	if err != nil || !ok {
		return sessiontool.Facts{}, err
	}
	return sessiontool.Facts{
		Messages: row.MessageCount, CreatedAt: time.UnixMilli(row.CreatedAt),
		Usage: model.Usage{Input: row.InputTokens, Output: row.OutputTokens},
	}, nil
}

// switchModel is session_status with a model.
func (f *feature) switchModel(ctx context.Context, call tool.Call, name string) (string, error) {
	p := protocol.SessionsPatchParams{Model: protocol.Patch[string]{Set: true}}
	def, _ := f.registry.Default()
	said := def.String() + ", the default model,"
	if name != "default" {
		ref, err := f.models.ForAssistant(name)
		if err != nil {
			return "", err
		}
		p.Model, said = protocol.PatchTo(f.models.Pin(call.SessionKey, ref)), ref
	}
	if _, err := f.sessions.Patch(ctx, call.SessionKey, p); err != nil {
		return "", fmt.Errorf("the model could not be changed: %w", err)
	}
	return said, nil
}
