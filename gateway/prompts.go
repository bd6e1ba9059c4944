package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// toolsOfRuns are the tools of runs.
type toolsOfRuns struct{ g *Gateway }

// For implements systemprompt.Tools.
func (t toolsOfRuns) For(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set) {
	return t.g.toolset.For(rec, ref)
}

// Rounds implements session.Tools.
func (t toolsOfRuns) Rounds(rec session.Run) int { return t.g.toolset.Rounds(rec) }

// Asks implements session.Tools.
func (t toolsOfRuns) Asks(rec session.Run) *model.Options { return t.g.toolset.Asks(rec) }
