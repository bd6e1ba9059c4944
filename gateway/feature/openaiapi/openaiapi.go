// Package openaiapi is the feature that lets programs talk to Hearth by OpenAI's
// API below /v1/: chat completions, responses, models and vectors. The form of
// requests and answers is package openaiserver's; this one says what they mean here.
package openaiapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/vectors"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// Code leaves the programs of code mode out of what other programs are told.
type Code interface {
	WithoutPrograms(runID string, msg model.Message) model.Message
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Server   *openaiserver.Handler
	Settings *config.File
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Agents   *agents.Directory
	Models   *provider.Registry
	Choice   *choice.Chooser
	Vectors  *vectors.Maker
	Budget   *budget.Budget
	Pause    *pause.Switch
	Code     Code
	Secrets  *redact.Redactor
	Work     *background.Group
	Started  time.Time
	Log      *slog.Logger
}

type feature struct{ o Options }

// New makes the feature and connects the handler of requests to the engine.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Server.Connect(f)
	o.Sessions.Subscribe(session.Subscriber{Follow: follower{f}})
	return host.Feature{Mounts: map[string]http.Handler{"/v1/": o.Server}}
}

// Endpoints implements openaiserver.Engine.
func (f *feature) Endpoints() openaiserver.Endpoints {
	return openaiserver.Section.Of(f.o.Settings.Snapshot().Config)
}

// Stop implements openaiserver.Engine.
func (f *feature) Stop(ctx context.Context, key, runID string) {
	if _, err := f.o.Sessions.Abort(ctx, key, runID); err != nil {
		f.o.Log.Warn("a run of a program could not be stopped", "run", runID, "err", err)
	}
}
