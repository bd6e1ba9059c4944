// Package toolset puts together the tools of one run: those of the catalogue that
// it may use and those that its program brought, behind the gate, heard by whoever
// follows text from outside, and shown to its model as they are or by code mode.
// What a tool does is the tool's; who may use it is decided by package gate.
package toolset

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
)

// Programs are those outside that speak for a run over HTTP.
type Programs interface {
	// Tools are those that the program of a run brought.
	Tools(runID string) []tool.Tool
	// HasTool reports whether it brought one of this name.
	HasTool(runID, name string) bool
	// Asked is what it wants of the model, nil for nothing.
	Asked(runID string) *model.Options
}

// Surface shows the tools of a run to its model in another way.
type Surface interface {
	Surface(scope tool.Scope, tools *tool.Set) *tool.Set
}

// Options are the parts that Runs need; all of them.
type Options struct {
	Catalog   *tool.Catalog
	Scopes    *scope.Scopes
	Gate      *gate.Gate
	Agents    *agents.Directory
	Programs  Programs
	Taint     *taint.Tracker
	Incidents *incident.Log
	Work      *background.Group
	Logger    *slog.Logger
}

// Runs have the tools of runs; it implements session.Tools. Its methods may be
// called from several goroutines, SetSurface before anything else.
type Runs struct {
	o       Options
	surface Surface // nil: as they are
}

// New returns the tools of runs.
func New(o Options) *Runs { return &Runs{o: o} }

// SetSurface says how models see their tools.
func (r *Runs) SetSurface(s Surface) { r.surface = s }

// For is what a run may use, and on whose behalf.
func (r *Runs) For(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set) {
	scope := r.o.Scopes.Of(rec, ref)
	own := r.o.Catalog.Tools().Only(func(name string) bool {
		return r.o.Gate.May(name, scope).Allowed && !r.o.Programs.HasTool(rec.ID, name)
	})
	out := r.withProgram(rec, own).Before(r.o.Gate.Before).After(r.o.Taint.After).Broken(r.broke)
	if r.surface != nil {
		out = r.surface.Surface(scope, out)
	}
	if n := r.o.Agents.Limits(scope.AgentID).ToolResultMaxChars; n > 0 && out.Exact() == nil { // programs have a limit of their own
		out = out.Most(n)
	}
	return scope, out
}

// withProgram adds the tools that the program of a run brought. What they say is
// hidden like everything else that tools say.
func (r *Runs) withProgram(rec session.Run, set *tool.Set) *tool.Set {
	more := r.o.Programs.Tools(rec.ID)
	if len(more) == 0 {
		return set
	}
	out, err := set.With(more...)
	if err != nil { // names were compared before
		r.o.Logger.Error("the tools of a program are left out", "run", rec.ID, "err", err)
		return set
	}
	return out
}

func (r *Runs) broke(name string, panicked any) {
	r.o.Logger.Error("a tool panicked", "tool", name, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	r.o.Incidents.Note(r.o.Work.Context(), "the tool "+name, panicked)
}

// programRounds is for runs whose program runs tools of its own: it asks for each
// step by itself, and long work has many.
const programRounds = 250

// Rounds is how often a run may go back to the model, 0 as usual.
func (r *Runs) Rounds(rec session.Run) int {
	if len(r.o.Programs.Tools(rec.ID)) > 0 {
		return programRounds
	}
	return 0
}

// Asks is what the program of a run wants of the model, nil for nothing.
func (r *Runs) Asks(rec session.Run) *model.Options { return r.o.Programs.Asked(rec.ID) }
