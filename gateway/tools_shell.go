package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
)

// GuardianArg is the one argument with which this program starts itself again,
// to watch over a command.
const GuardianArg = "__child"

// Guardian does that and returns the exit code.
func Guardian() int { return process.Child() }

// shellTools are the tools that run commands.
func (g *Gateway) shellTools() []tool.Tool {
	ex := g.execution
	return shell.New(shell.Options{
		Keeper: ex.Processes, Home: ex.Home, Environ: ex.Environ, Hold: g.workspaces.Hold, Stay: g.skills.Workspaces, Hide: ex.Hide, Resolver: ex.Resolver, Extra: g.skills.Environment,
		Permit: g.permitShell, Settings: g.shellSettings, Probe: func() sandbox.Report { return ex.Sandbox }, Ended: g.commandEnded, Undo: g.undo, Elsewhere: g.elsewhere,
	})
}

func (g *Gateway) shellSettings() shell.Settings {
	s := shellSettings(g.execution.Home, g.config.Snapshot().Config.Tools.Exec)
	s.Read = append(s.Read, g.skills.Managed, g.skills.Bundled) // their scripts and instructions
	s.Read = append(s.Read, g.skills.Extra()...)
	return s
}

func shellSettings(home string, e config.ToolsExec) shell.Settings {
	return shell.Settings{
		Yield: time.Duration(e.BackgroundMs) * time.Millisecond, Timeout: time.Duration(e.TimeoutSec) * time.Second,
		Read: statedir.Expand(home, e.Sandbox.Read), Write: statedir.Expand(home, e.Sandbox.Write), Network: e.Sandbox.Network, NoSandbox: e.Sandbox.Backend == "off",
	}
}

// permitShell is the question that exec and process ask before anything runs.
func (g *Gateway) permitShell(ctx context.Context, call tool.Call, w shell.Wish) (shell.Grant, error) {
	grant, err := g.toolGate.Permit(ctx, call, askShell(call, w))
	return shell.Grant{ID: grant.ID, Unconfined: grant.Unconfined}, err
}

func askShell(call tool.Call, w shell.Wish) approval.Ask {
	var a approval.Ask
	if w.Input != "" {
		a = approval.For(approval.KindExec, call)
		a.Tool, a.Title = "process", "Type "+plan.Show(fmt.Sprintf("%q", w.Input))+" into "+plan.Show(w.Into.Title)
		a.Command, a.Dir = w.Input, w.Into.Dir
		a.Digest = sha256.Sum256([]byte(w.Into.ID + "\x00" + w.Input))
		a.Warnings = []string{"What is typed into a program may be a command to it."}
	} else {
		a = approval.ForCommand(call, w.Plan, w.Why)
	}
	a.Unconfined = w.Unconfined || w.NoSandbox != ""
	switch {
	case w.NoSandbox != "":
		a.Warnings = append(a.Warnings, "It runs without a sandbox: it can read and change everything that you can. "+w.NoSandbox)
	case w.Unconfined:
		a.Warnings = append(a.Warnings, "It runs outside the sandbox: it can read and change everything that you can, and reach the network.")
	}
	if w.Loose != "" {
		a.Warnings = append(a.Warnings, w.Loose)
	}
	return a
}

// commandEnded leaves a note where a command was left running, unless somebody
// stopped it, who knows.
func (g *Gateway) commandEnded(scope tool.Scope, i process.Info, _ string) {
	if i.Exit.Stopped || g.closing.Load() || !g.config.Snapshot().Config.Tools.Exec.NotifyOnExit {
		return
	}
	text := fmt.Sprintf("The command %s (session %s) has ended%s. `process log` shows what it printed.", plan.Show(i.Title), i.ID, shell.Ending(i))
	if _, err := g.session.Inject(g.work.Context(), scope.SessionKey, text, "background command"); err != nil {
		g.log.Warn("the end of a background command could not be noted", "session", scope.SessionKey, "err", err)
	}
}

// elsewhere runs a command on another machine.
func (g *Gateway) elsewhere(ctx context.Context, call tool.Call, r shell.Remote) (tool.Result, error) {
	if g.remote == nil {
		return tool.Result{}, errors.New("other machines cannot be asked: the feature nodes is switched off")
	}
	return g.remote(ctx, call, r)
}
