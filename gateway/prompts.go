package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// execSandbox is where commands run.
type execSandbox struct{ g *Gateway }

// Of implements systemprompt.Sandbox.
func (s execSandbox) Of(c config.Config, scope tool.Scope) *prompt.Sandbox {
	g, set := s.g, c.Tools.Exec.Sandbox
	if set.Backend == "off" || !g.confined.Confined || !g.toolGate.May("exec", scope).Allowed {
		return nil
	}
	return &prompt.Sandbox{Kind: g.confined.Backend, Writes: append([]string{scope.Workspace}, statedir.Expand(statedir.Home(g.opts.Env), set.Write)...), Network: set.Network}
}

// toolsOfRuns are the tools of runs.
type toolsOfRuns struct{ g *Gateway }

// For implements systemprompt.Tools.
func (t toolsOfRuns) For(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set) {
	return t.g.runTools(rec, ref)
}

// Rounds implements session.Tools.
func (t toolsOfRuns) Rounds(rec session.Run) int { return t.g.roundsOf(rec) }

// Asks implements session.Tools.
func (t toolsOfRuns) Asks(rec session.Run) *model.Options { return t.g.asksOf(rec) }
