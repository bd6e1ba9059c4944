package gate

import (
	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Sessions are the rows of conversations.
type Sessions interface {
	Get(key string) (row protocol.SessionRow, ok bool, err error)
}

// Models know the default model.
type Models interface {
	Default() (ref model.Ref, source string)
}

// Direct makes the scopes of tools that the owner calls at one of our own
// clients, without a run of a model.
type Direct struct {
	scopes   *scope.Scopes
	agents   *agents.Directory
	sessions Sessions
	models   Models
}

// NewDirect returns the owner's way to the tools.
func NewDirect(scopes *scope.Scopes, agents *agents.Directory, sessions Sessions, models Models) *Direct {
	return &Direct{scopes, agents, sessions, models}
}

// Scope is that of the owner in the session of a key, which may name no agent.
func (d *Direct) Scope(key, agent, runID string) (tool.Scope, error) {
	key, err := d.agents.Canonical(key, agent)
	if err != nil {
		return tool.Scope{}, err
	}
	rec := session.Run{ID: runID, SessionKey: key, Owner: true}
	row, ok, err := d.sessions.Get(key)
	if err != nil {
		return tool.Scope{}, err
	}
	ref, _ := d.models.Default()
	if !ok {
		if err := d.agents.Check(session.AgentOf(key)); err != nil {
			return tool.Scope{}, err
		}
	}
	if ok {
		rec.SessionID = row.SessionID
		if row.ModelOverride {
			ref = model.Ref{Provider: row.ModelProvider, Model: row.Model}
		}
	}
	return d.scopes.Of(rec, ref), nil
}
