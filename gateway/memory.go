package gateway

import (
	"context"
	"os"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	memorytool "github.com/hearth-assistant/hearth/gateway/tool/memory"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// openMemory opens what is remembered.
func (g *Gateway) openMemory() {
	g.memory = memory.New(memory.Options{
		DB: g.store, Finder: g.finder(), Undo: g.undo, Now: g.opts.Now, NewID: newUUID, Logger: g.log,
		Workspace: g.workspaceOf, Settings: g.memorySettings,
		Embedder: g.vectors.Embedder,
	})
}

// workspaceOf is the folder of an agent.
func (g *Gateway) workspaceOf(agent string) string { return g.agents.Named(agent).Workspace }

func (g *Gateway) memorySettings() memory.Settings {
	s := g.config.Snapshot().Config.Agents.Defaults.MemorySearch
	return memory.Settings{
		Tokens: s.Chunking.Tokens, Overlap: s.Chunking.Overlap, MaxResults: s.Query.MaxResults, MinScore: s.Query.MinScore,
		VectorWeight: s.Query.Hybrid.VectorWeight, TextWeight: s.Query.Hybrid.TextWeight,
	}
}

// memoryTools are the tools that look into what is remembered.
func (g *Gateway) memoryTools() []tool.Tool {
	return memorytool.New(memorytool.Options{Memory: g.memory, Secret: g.redactor.Has, Lines: func(s tool.Scope) int { return g.contextLimits(s.AgentID).MemoryGetDefaultLines }, Cite: func(s tool.Scope) bool {
		switch g.config.Snapshot().Config.Memory.Citations {
		case "on":
			return true
		case "off":
			return false
		}
		return !s.Group // places say little to others
	}})
}

// notes is where durable notes of a conversation go before it is summarized:
// the day's file of whoever spoke in it. ok is false while the person has no
// workspace folder; it is not made behind their back.
func (g *Gateway) notes(key string, runs []session.Run) (keep func(ctx context.Context, text string) error, ok bool) {
	agent := session.AgentOf(key)
	if !isFolder(g.workspaceOf(agent)) {
		return nil, false
	}
	scope, from := g.speakers(key, runs)
	return func(ctx context.Context, text string) error {
		_, err := g.memory.Keep(ctx, scope, g.redactor.Text(text), memory.Origin{By: "summary", Session: key, From: from})
		return err
	}, true
}

// speakers says whose memory a conversation goes to, and how they are called.
// Where several spoke, it is nobody's but the conversation's.
func (g *Gateway) speakers(key string, runs []session.Run) (s memory.Scope, from string) {
	s = memory.Scope{Agent: session.AgentOf(key), Of: memory.Group(key)}
	from = key
	for i, rec := range runs {
		ts := g.scopes.Of(rec, model.Ref{})
		next := memorytool.ScopeOf(ts)
		next.Agent = s.Agent
		if i == 0 {
			s, from = next, memorytool.From(ts)
			continue
		}
		if next != s {
			return memory.Scope{Agent: s.Agent, Of: memory.Group(key)}, key
		}
	}
	return s, from
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// memoryRule refuses the tools of the memory where nothing may be remembered.
func (g *Gateway) memoryRule(name string, s tool.Scope) string {
	switch {
	case policy.GroupOf(name) != "group:memory":
		return ""
	case !g.config.Snapshot().Config.Agents.Defaults.MemorySearch.Enabled:
		return name + " is switched off in agents.defaults.memorySearch.enabled"
	case s.Surface == channel.API && !s.Owner:
		return "nothing is remembered of a program's users: Hearth cannot tell one from another"
	}
	return ""
}
