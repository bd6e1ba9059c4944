package gateway

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/apart"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/session"
	skillcatalog "github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/web"
)

// ReaderArg is the one argument with which this program starts itself again, to
// read what strangers made.
const ReaderArg = "__reader"

// GuardianArg is the one with which it starts itself to watch over a command.
const GuardianArg = "__child"

// Guardian is that process; it returns the exit code.
func Guardian() int { return process.Child() }

// Reader is that process: it does one job within limits, see package apart.
func Reader() int { return apart.Main(map[string]apart.Job{web.Job: web.Convert}) }

// reader is the command that starts it, nil for none.
func (g *Gateway) reader() []string {
	if n := len(g.opts.Guardian); n > 1 {
		return append(slices.Clone(g.opts.Guardian[:n-1]), ReaderArg)
	}
	return nil
}

// runTools is what a run may use, and on whose behalf.
func (g *Gateway) runTools(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set) {
	scope := g.scopes.Of(rec, ref)
	own := func(name string) bool { return g.toolGate.May(name, scope).Allowed && !g.hook.HasTool(rec.ID, name) }
	tools := g.withProgramTools(rec, g.tools.Tools().Only(own)).Before(g.toolGate.Before).After(g.taint.After).Broken(g.toolBroke)
	out := g.code.Surface(scope, tools)
	if n := g.agents.Limits(scope.AgentID).ToolResultMaxChars; n > 0 && out.Exact() == nil { // programs have a limit of their own
		out = out.Most(n)
	}
	return scope, out
}

// openTools gathers every tool that there is; a run gets some of them.
func (g *Gateway) openTools() error {
	g.execution = execution.Open(execution.Options{
		Dir: g.opts.Dir, Settings: g.config, Guardian: g.opts.Guardian, Env: g.opts.Env, Now: g.opts.Now, Logger: g.log,
	})
	g.skills = skillcatalog.Open(skillcatalog.Options{
		Dir: g.opts.Dir, DB: g.store, Settings: g.config, Agents: g.agents, Workspaces: &g.workspaces, Secrets: g.secrets, Env: g.opts.Env,
		Execution: g.execution, Work: g.work, Now: g.opts.Now, Logger: g.log,
	})
	if err := g.openUndo(); err != nil {
		return err
	}
	g.web = publicweb.New(g.config)
	g.tools = tool.NewCatalog(&g.redactor, g.log)
	return nil
}
