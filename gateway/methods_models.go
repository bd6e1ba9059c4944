package gateway

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const (
	assistantName  = "Hearth"
	assistantEmoji = "🔥"
)

func (g *Gateway) modelsList(_ context.Context, p protocol.ModelsListParams) (protocol.ModelsList, error) {
	def, _ := g.models.Default()
	out := protocol.ModelsList{Models: []protocol.ModelInfo{}}
	for _, e := range g.models.Models() {
		if p.View == "configured" && e.Source != provider.SourceConfigured {
			continue
		}
		info := protocol.ModelInfo{
			ID: e.Ref.Model, Name: e.Name, Provider: e.Ref.Provider, ContextWindow: e.ContextWindow, Reasoning: e.Reasoning,
			Input: e.Input, Available: e.Available,
			Hearth: &protocol.ModelDetail{Source: e.Source, Local: e.Source == provider.SourceLocal || e.BuiltIn, Reason: e.Reason},
		}
		if e.Ref == def {
			info.Tags = []string{"default"}
		}
		out.Models = append(out.Models, info)
	}
	return out, nil
}

func (g *Gateway) agentsList(context.Context, none) (protocol.AgentsList, error) {
	def, _ := g.models.Default()
	c := g.config.Snapshot().Config
	mainKey := c.Session.MainKey
	if mainKey == "" {
		mainKey = session.MainAlias
	}
	return protocol.AgentsList{
		DefaultID: session.DefaultAgent, Ownership: "sole", MainKey: mainKey, Scope: "per-sender",
		Agents: []protocol.AgentInfo{{
			ID: session.DefaultAgent, Name: assistantName, Workspace: g.workspace(c.Agents.Defaults.Workspace),
			Identity: protocol.AgentIdentity{Name: assistantName, Emoji: assistantEmoji},
			Model:    protocol.AgentModels{Primary: def.String(), Fallbacks: c.Agents.Defaults.Model.Fallbacks},
		}},
	}, nil
}

// workspace is the folder that a person and the assistant share.
func (g *Gateway) workspace(configured string) string {
	home := g.opts.Env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if configured == "" {
		return filepath.Join(home, "Hearth")
	}
	if rest, ok := strings.CutPrefix(configured, "~"); ok {
		return filepath.Join(home, rest)
	}
	return configured
}

func (g *Gateway) agentIdentity(_ context.Context, p protocol.AgentIdentityParams) (protocol.AgentIdentity, error) {
	id := p.AgentID
	if id == "" && p.SessionKey != "" {
		key, err := session.Canonical(p.SessionKey, "")
		if err != nil {
			return protocol.AgentIdentity{}, err
		}
		id = session.AgentOf(key)
	}
	if id == "" {
		id = session.DefaultAgent
	}
	return protocol.AgentIdentity{AgentID: id, Name: assistantName, Emoji: assistantEmoji}, nil
}
