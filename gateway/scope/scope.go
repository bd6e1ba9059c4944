// Package scope tells on whose behalf a run acts: as which agent, in which
// folder, for whom. It does not decide what may be done (package tool/policy).
package scope

import (
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Scopes makes the scopes of runs. Its methods may be called from several
// goroutines.
type Scopes struct {
	agents   *agents.Directory
	sessions *session.Manager
}

// New returns the scopes of the agents and sessions that there are.
func New(a *agents.Directory, s *session.Manager) *Scopes { return &Scopes{a, s} }

// Of is on whose behalf a run acts, for a model.
func (c *Scopes) Of(rec session.Run, ref model.Ref) tool.Scope {
	agent := session.AgentOf(rec.SessionKey)
	s := tool.Scope{
		RunID: rec.ID, SessionKey: rec.SessionKey, SessionID: rec.SessionID, AgentID: agent, Model: ref,
		Workspace: c.agents.Named(agent).Workspace, Owner: rec.Owner, Surface: channel.Webchat, Sender: rec.Sender,
		Depth: subagent.Depth(rec.SessionKey), Relayed: rec.Relay.From != "",
	}
	if rec.Route == "" {
		s.Folder = c.editorFolder(rec)
		return s
	}
	r, ok := channel.ParseRoute(rec.Route)
	s.Surface, s.Group, s.Route = r.Channel, r.Chat != channel.Direct, rec.Route
	s.Owner = s.Owner && ok
	return s
}

// editorFolder is where an editor works that has this session, as long as that is
// a folder of this computer; "" is the workspace.
func (c *Scopes) editorFolder(rec session.Run) string {
	if !rec.Owner {
		return ""
	}
	dir, err := c.sessions.Folder(rec.SessionKey)
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Clean(dir)
}
