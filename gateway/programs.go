package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/hook"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// What programs that speak OpenAI's API need of the engine.

func (g *Gateway) openHook() {
	g.hook = hook.New(hook.Options{
		Admit: g.door.Admit, Now: g.opts.Now, NewID: newUUID, Mark: untrusted.Wrapper{}.Wrap,
		Enabled: func() hook.Endpoints {
			e := g.config.Snapshot().Config.Gateway.HTTP.Endpoints
			return hook.Endpoints{Chat: e.ChatCompletions.Enabled, Responses: e.Responses.Enabled}
		},
	})
	g.toolGate.SetPrograms(g.hook)
}

// withProgramTools adds the tools that the program of a run brought. What they
// say is hidden like everything else that tools say.
func (g *Gateway) withProgramTools(rec session.Run, set *tool.Set) *tool.Set {
	more := g.hook.Tools(rec.ID)
	if len(more) == 0 {
		return set
	}
	out, err := set.With(more...)
	if err != nil { // names were compared before
		g.log.Error("the tools of a program are left out", "run", rec.ID, "err", err)
		return set
	}
	return out
}

// programRounds is for runs whose program runs tools of its own: it asks for each
// step by itself, and long work has many.
const programRounds = 250

func (g *Gateway) roundsOf(rec session.Run) int {
	if len(g.hook.Tools(rec.ID)) > 0 {
		return programRounds
	}
	return 0
}

// asksOf is what the program of a run wants of the model; nil for all others.
func (g *Gateway) asksOf(rec session.Run) *model.Options { return g.hook.Asked(rec.ID) }

func (g *Gateway) stopRun(ctx context.Context, key, runID string) {
	if _, err := g.session.Abort(ctx, key, runID); err != nil {
		g.log.Warn("a run of a program could not be stopped", "run", runID, "err", err)
	}
}
