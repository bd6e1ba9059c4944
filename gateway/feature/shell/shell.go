// Package shell is the feature of running commands: the tools exec and process.
// How they work is package tool/shell's, what commands find on this machine is
// package execution's; this one asks the owner in their words, applies the
// settings tools.exec, and tells a conversation of a command that has ended.
package shell

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Nodes run commands on other machines.
type Nodes interface {
	Exec(ctx context.Context, call tool.Call, r shell.Remote) (tool.Result, error)
}

// Options are the parts that the feature needs; all of them but Nodes.
type Options struct {
	Execution  *execution.Environment
	Workspaces *safepath.Workspaces
	Skills     *catalog.Catalog
	Gate       *gate.Gate
	Settings   *config.File
	Sessions   *session.Manager
	Undo       *undo.Log
	Nodes      Nodes // nil: there are none
	Work       *background.Group
	Log        *slog.Logger
}

type feature struct {
	o       Options
	closing atomic.Bool
}

// New makes the feature.
func New(o Options) host.Feature {
	f, ex := &feature{o: o}, o.Execution
	opts := shell.Options{
		Keeper: ex.Processes, Home: ex.Home, Environ: ex.Environ, Hide: ex.Hide, Resolver: ex.Resolver,
		Hold: o.Workspaces.Hold, Stay: o.Skills.Workspaces, Extra: o.Skills.Environment, Undo: o.Undo,
		Permit: f.permit, Settings: f.settings, Probe: func() sandbox.Report { return ex.Sandbox }, Ended: f.ended,
	}
	if o.Nodes != nil {
		opts.Elsewhere = o.Nodes.Exec
	}
	return host.Feature{
		Tools: shell.New(opts),
		Close: func(context.Context) error {
			f.closing.Store(true)
			return nil
		},
	}
}

// settings are those of commands now.
func (f *feature) settings() shell.Settings {
	home, c := f.o.Execution.Home, f.o.Settings.Snapshot().Config
	how, within := Section.Of(c), execution.Section.Of(c).Sandbox
	s := shell.Settings{
		Yield: time.Duration(how.BackgroundMs) * time.Millisecond, Timeout: time.Duration(how.TimeoutSec) * time.Second,
		Read: statedir.Expand(home, within.Read), Write: statedir.Expand(home, within.Write),
		Network: within.Network, NoSandbox: within.Backend == "off",
	}
	s.Read = append(s.Read, f.o.Skills.Managed, f.o.Skills.Bundled) // their scripts and instructions
	s.Read = append(s.Read, f.o.Skills.Extra()...)
	return s
}

// ended leaves a note where a command was left running, unless somebody
// stopped it, who knows.
func (f *feature) ended(scope tool.Scope, i process.Info, _ string) {
	if i.Exit.Stopped || f.closing.Load() || !Section.Of(f.o.Settings.Snapshot().Config).NotifyOnExit {
		return
	}
	text := fmt.Sprintf("The command %s (session %s) has ended%s. `process log` shows what it printed.", plan.Show(i.Title), i.ID,
		shell.Ending(i))
	if _, err := f.o.Sessions.Inject(f.o.Work.Context(), scope.SessionKey, text, "background command"); err != nil {
		f.o.Log.Warn("the end of a background command could not be noted", "session", scope.SessionKey, "err", err)
	}
}
