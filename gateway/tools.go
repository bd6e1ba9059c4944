package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// surfacePage is where runs without a route come from: our own clients.
const surfacePage = "webchat"

// runTools is what a run may use, and on whose behalf.
func (g *Gateway) runTools(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set) {
	return tool.Scope{
		RunID: rec.ID, SessionKey: rec.SessionKey, SessionID: rec.SessionID, AgentID: session.AgentOf(rec.SessionKey), Model: ref,
		Workspace: g.workspace(g.config.Snapshot().Config.Agents.Defaults.Workspace),
		Owner:     rec.Route == "", Surface: surfacePage,
	}, g.tools
}
