// Package execution is the machine as commands of the assistant find it: where
// programs are looked for, what they get of our environment, what a sandbox can
// do here, and what keeps everything that runs. The tools exec and process, the
// servers of MCP, skills and the system prompt go by it. It decides about no
// command; one start is worked out by package launch, and done by process.
package execution

import (
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Options are the parts that an Environment is made of; all of them.
type Options struct {
	Dir      statedir.Dir
	Settings *config.File
	// Guardian is what ends in process.Child: a file, then its arguments.
	Guardian []string
	Env      func(string) string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Environment is what commands run in. It does not change while Hearth runs.
type Environment struct {
	launch.Place
	Processes  *process.Keeper
	Sandbox    sandbox.Report // what can be done here
	SearchPath string         // where programs are looked for
}

// Open looks at this machine.
func Open(o Options) *Environment {
	home := statedir.Home(o.Env)
	e := &Environment{
		Place:     launch.Place{Home: home, Environ: passedOn(o.Env), Hide: []string{string(o.Dir), o.Settings.Path()}},
		Processes: process.New(process.Options{Helper: o.Guardian, Now: o.Now}), Sandbox: sandbox.Probe(),
	}
	o.Logger.Info("commands", "sandbox", e.Sandbox.Summary())
	e.Resolver = plan.New(plan.Options{
		Own:  statedir.Expand(home, Section.Of(o.Settings.Snapshot().Config).PathPrepend),
		Home: home, Confined: e.Sandbox.Confined, Now: o.Now,
	})
	e.SearchPath = e.Resolver.SearchPath()
	return e
}

// passedOn is what commands may get of our environment.
func passedOn(env func(string) string) (out []string) {
	for _, name := range launch.Passed() {
		if v := env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}
