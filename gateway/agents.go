package gateway

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// The agents of the settings: who there is, who answers, and what each reads.

// madeBook is a book and the settings that it was made of.
type madeBook struct {
	snap *config.Snapshot
	book *agents.Book
}

// agentBook knows the agents of the settings now.
func (g *Gateway) agentBook() *agents.Book {
	snap := g.config.Snapshot()
	if m := g.agents.Load(); m != nil && m.snap == snap {
		return m.book
	}
	made := &madeBook{snap, agents.New(g.agentList(snap.Config), bindingsOf(snap.Config), g.agentOf(config.Agent{ID: agents.Main}, snap.Config))}
	g.agents.Store(made)
	return made.book
}

func (g *Gateway) agentList(c config.Config) (out []agents.Agent) {
	for _, a := range c.Agents.List {
		out = append(out, g.agentOf(a, c))
	}
	return out
}

// agentOf fills in what an agent does not say.
func (g *Gateway) agentOf(a config.Agent, c config.Config) agents.Agent {
	out := agents.Agent{
		ID: a.ID, Default: a.Default, Name: cmp.Or(a.Identity.Name, a.Name), Emoji: a.Identity.Emoji, Avatar: a.Identity.Avatar, Theme: a.Identity.Theme, SkillChars: a.SkillsLimits.MaxSkillsPromptChars,
		Workspace: g.workspace(a.Workspace), Primary: a.Model.Primary, Fallbacks: a.Model.Fallbacks,
	}
	if a.Skills == nil {
		a.Skills = c.Agents.Defaults.Skills
	}
	if out.AllSkills = a.Skills == nil; !out.AllSkills {
		out.Skills = *a.Skills
	}
	if a.Workspace == "" {
		out.Workspace = g.workspace(c.Agents.Defaults.Workspace)
		if a.ID != agents.Main {
			out.Workspace += "-" + a.ID
		}
	}
	if a.ID == agents.Main {
		out.Name, out.Emoji = cmp.Or(out.Name, assistantName), cmp.Or(out.Emoji, assistantEmoji)
	}
	out.Name = cmp.Or(out.Name, a.ID)
	return out
}

func bindingsOf(c config.Config) (out []agents.Binding) {
	for _, b := range c.Bindings {
		x := agents.Binding{Agent: b.AgentID, Channel: b.Match.Channel, Account: b.Match.Account}
		if p := b.Match.Peer; p != nil {
			x.PeerKind, x.PeerID = p.Kind, p.ID
		}
		out = append(out, x)
	}
	return out
}

// agentNamed is the agent of an id; one that is gone is as the main one, under its
// own name and in its own folder.
func (g *Gateway) agentNamed(id string) agents.Agent {
	if a, ok := g.agentBook().Get(id); ok {
		return a
	}
	return g.agentOf(config.Agent{ID: id}, g.config.Snapshot().Config)
}

// canonical is session.Canonical where a key that names no agent belongs to the
// default one.
func (g *Gateway) canonical(key, agentID string) (string, error) {
	return session.Canonical(key, cmp.Or(agentID, g.agentBook().Default().ID))
}

// answerer is the agent that answers a message of a network.
func (g *Gateway) answerer(in channel.Inbound) string {
	peer := in.SenderID
	if in.Chat != channel.Direct {
		peer = in.Conversation
	}
	id, _ := g.agentBook().Route(agents.Source{Channel: in.Channel, Account: in.Account, Kind: string(in.Chat), Peer: peer, Topic: in.Thread})
	return id
}

// agentLayers are the rules of each agent.
func agentLayers(c config.Config) map[string]policy.Layer {
	out := map[string]policy.Layer{}
	for _, a := range c.Agents.List {
		out[a.ID] = policyLayer(a.Tools)
	}
	return out
}

// seeded remembers the workspaces that were looked at since the start.
type seeded struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// first reports whether a folder was not asked about before.
func (s *seeded) first(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirs == nil {
		s.dirs = map[string]bool{}
	}
	was := s.dirs[dir]
	s.dirs[dir] = true
	return !was
}

// promptFiles are the files of the workspace that a run reads. A new workspace
// gets its starters with the owner's first message.
func (g *Gateway) promptFiles(c config.Config, scope tool.Scope) (out []prompt.File) {
	b := c.Agents.Defaults.Bootstrap
	private := scope.Owner && !scope.Group
	if private && scope.Depth == 0 && !b.SkipBootstrap && g.seeded.first(scope.Workspace) {
		_, _, err := g.workspaces.Hold(scope.Workspace)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = workspace.Seed(scope.Workspace)
		}
		if err != nil {
			g.log.Warn("the workspace got no starter files", "err", err)
		}
	}
	names := workspace.For(workspace.Reader{Helper: scope.Depth > 0, Stranger: !private, Heartbeat: g.heartbeatPrompt(c, scope) != ""})
	for _, f := range g.files.Load(scope.Workspace, names, workspace.Limits{File: b.BootstrapMaxChars, Total: b.BootstrapTotalMaxChars}) {
		out = append(out, prompt.File(f))
	}
	return out
}

// warns reports whether the model is told that files were cut.
func warns(c config.Config, messages int) bool {
	switch c.Agents.Defaults.BootstrapPromptTruncationWarning {
	case "off":
		return false
	case "once":
		return messages <= 1
	}
	return true
}

var errAgentID = errors.New("an agent's name needs a letter or digit")

// slug makes an id of a name.
func slug(name string) (string, error) {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	id := strings.Trim(b.String()[:min(b.Len(), 64)], "-")
	if !config.AgentID(id) {
		return "", errAgentID
	}
	return id, nil
}
