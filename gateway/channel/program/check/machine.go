package check

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/child"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// Machine is this computer, where programs are started as the gateway starts them.
type Machine struct {
	Launch channel.Launch
	// Confined: in a sandbox. Summary says what can be done here.
	Confined bool
	Summary  string

	keeper *process.Keeper
}

// MachineOptions are what a Machine is made of; all of them.
type MachineOptions struct {
	Home     string
	Hide     []string // what no program may see
	Guardian []string // what ends in process.Child: a file, then its arguments
	Env      func(string) string
	Now      func() time.Time
}

// NewMachine looks at this computer. Close ends all that was started.
func NewMachine(o MachineOptions) *Machine {
	box := sandbox.Probe()
	var environ []string
	for _, name := range launch.Passed() {
		if v := o.Env(name); v != "" {
			environ = append(environ, name+"="+v)
		}
	}
	found := plan.New(plan.Options{Home: o.Home, Confined: box.Confined, Now: o.Now})
	k := process.New(process.Options{Helper: o.Guardian, Now: o.Now})
	return &Machine{
		Launch: child.Launcher(&execution.Environment{
			Place:     launch.Place{Home: o.Home, Environ: environ, Hide: o.Hide, Resolver: found},
			Processes: k, Sandbox: box, SearchPath: found.SearchPath(),
		}, nil),
		Confined: box.Confined, Summary: box.Summary(), keeper: k,
	}
}

// Close ends all that was started.
func (m *Machine) Close(ctx context.Context) error { return m.keeper.Close(ctx) }
