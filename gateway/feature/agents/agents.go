// Package agents is the feature of several assistants side by side: the methods
// agents.* and agent.identity.get, the files that tell an agent who it is, and
// what is wrong with their workspaces. Who there is and who answers is package
// gateway/agents'.
package agents

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Agents   *agents.Directory
	Settings *config.File
	Models   *provider.Registry
	Files    *workspace.Keeper // those that tell an agent who it is
	Undo     *undo.Log
	Sessions *session.Manager
	Children *subagent.Book // sub-agents
	StateDir string         // Hearth's own folder, where no workspace may be
	Logger   *slog.Logger
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodAgentsList, f.list),
			method.Plain(protocol.MethodAgentIdentityGet, f.identity),
			method.Plain(protocol.MethodAgentsCreate, f.create),
			method.Plain(protocol.MethodAgentsUpdate, f.update),
			method.Plain(protocol.MethodAgentsDelete, f.remove),
			method.Plain(protocol.MethodAgentsFilesList, f.filesList),
			method.Plain(protocol.MethodAgentsFilesGet, f.filesGet),
			method.Plain(protocol.MethodAgentsFilesSet, f.filesSet),
		},
		Problems: f.problems, Checks: f.checks,
	}
}

func (f *feature) list(context.Context, method.None) (protocol.AgentsList, error) {
	c := f.o.Settings.Snapshot().Config
	def, _ := f.o.Models.Default()
	book := f.o.Agents.Book()
	out := protocol.AgentsList{DefaultID: book.Default().ID, Ownership: "sole", MainKey: policy.Section.Of(c).Keys.MainKey,
		Scope: "per-sender", Agents: []protocol.AgentInfo{}}
	for _, a := range book.All() {
		info := protocol.AgentInfo{
			ID: a.ID, Name: a.Name, Workspace: a.Workspace, Identity: identityOf(a),
			Model: protocol.AgentModels{Primary: cmp.Or(a.Primary, def.String()), Fallbacks: a.Fallbacks},
		}
		if a.Primary == "" {
			info.Model.Fallbacks = choice.Section.Of(c).Model.Fallbacks
		}
		out.Agents = append(out.Agents, info)
	}
	return out, nil
}

func identityOf(a agents.Agent) protocol.AgentIdentity {
	return protocol.AgentIdentity{Name: a.Name, Theme: a.Theme, Emoji: a.Emoji, Avatar: a.Avatar}
}

func (f *feature) identity(_ context.Context, p protocol.AgentIdentityParams) (protocol.AgentIdentity, error) {
	if p.AgentID == "" {
		key, err := f.o.Agents.Canonical(p.SessionKey, "")
		if err != nil {
			return protocol.AgentIdentity{}, err
		}
		p.AgentID = session.AgentOf(key)
	}
	out := identityOf(f.o.Agents.Named(p.AgentID))
	out.AgentID = p.AgentID
	return out, nil
}

// known finds an agent, or says that there is none.
func (f *feature) known(id string) (agents.Agent, error) {
	a, ok := f.o.Agents.Book().Get(id)
	if !ok {
		return a, protocol.Invalid("There is no agent %q. `hearth agents list` shows those that are there.", id).With("code", "NOT_FOUND")
	}
	return a, nil
}
