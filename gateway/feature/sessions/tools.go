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
	status := &sessiontool.Status{
		Now: f.o.Now, Start: f.o.Started, Facts: f.sessionFacts, Switch: f.switchModel,
		Clock: func() sessiontool.Clock {
			return sessiontool.Clock{Zone: f.o.Clock.Zone(), Name: f.o.Clock.ZoneName(), Hours: f.o.Clock.Hours()}
		},
	}
	return append([]tool.Tool{status}, sessiontool.New(others{f})...)
}

func (f *feature) sessionFacts(_ context.Context, key string) (sessiontool.Facts, error) {
	row, ok, err := f.o.Sessions.Get(key)
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
	def, _ := f.o.Models.Default()
	said := def.String() + ", the default model,"
	if name != "default" {
		ref, err := f.o.Choice.ForAssistant(name)
		if err != nil {
			return "", err
		}
		p.Model, said = protocol.PatchTo(f.o.Choice.Pin(call.SessionKey, ref)), ref
	}
	if _, err := f.o.Sessions.Patch(ctx, call.SessionKey, p); err != nil {
		return "", fmt.Errorf("the model could not be changed: %w", err)
	}
	return said, nil
}
