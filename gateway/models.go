package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/setup"
)

// providerSettings is the part of the settings that the models need.
func (g *Gateway) providerSettings(c config.Config) provider.Settings {
	s := provider.Settings{
		Providers: make(map[string]provider.ProviderConfig, len(c.Models.Providers)),
		Primary:   c.Agents.Defaults.Model.Primary, Fallbacks: c.Agents.Defaults.Model.Fallbacks,
		Named: namedServices(c),
	}
	for id, p := range c.Models.Providers {
		key, _ := g.secrets.Known(p.APIKey)
		pc := provider.ProviderConfig{BaseURL: p.BaseURL, APIKey: key.Reveal(), API: p.API, AuthHeader: p.AuthHeader, Silence: time.Duration(p.TimeoutSeconds) * time.Second}
		for name, value := range p.Headers {
			if pc.Headers == nil {
				pc.Headers = make(map[string]string, len(p.Headers))
			}
			v, _ := g.secrets.Known(value)
			pc.Headers[name] = v.Reveal()
		}
		for _, m := range p.Models {
			pc.Models = append(pc.Models, provider.ModelConfig{
				ID: m.ID, Name: m.Name, ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Input: m.Input,
			})
		}
		s.Providers[id] = pc
	}
	return s
}

// namedServices are the services whose models the settings name somewhere.
func namedServices(c config.Config) (out []string) {
	d := c.Agents.Defaults
	names := slices.Concat([]string{d.Model.Primary, d.ImageModel.Primary, d.Subagents.Model.Primary, c.Hearth.Allowance.CheapModel},
		d.Model.Fallbacks, d.ImageModel.Fallbacks, d.Subagents.Model.Fallbacks, slices.Collect(maps.Keys(d.Models)))
	for _, a := range c.Agents.List {
		names = append(append(names, a.Model.Primary), a.Model.Fallbacks...)
	}
	for _, name := range names {
		if ref, ok := model.ParseRef(strings.TrimSpace(name)); ok {
			out = append(out, ref.Provider)
		}
	}
	return out
}

// around reports whether the person looks around first: the guide answers then,
// whatever was found on this computer.
func (g *Gateway) around() bool {
	return g.setup != nil && g.setup.Get().Of(setup.Model) == setup.Skipped
}

func (g *Gateway) openModels() {
	g.models = provider.New(provider.Options{
		Settings: g.providerSettings(g.config.Snapshot().Config), Env: g.opts.Env, Logger: g.log, Now: g.opts.Now, Accounts: modelAccounts{g}, Around: g.around,
		Guide: guide.Options{DataDir: string(g.opts.Dir), ConfigPath: g.config.Path()},
	})
	g.secrets.Subscribe(func(c config.Config) {
		g.reconfigureModels(c)
		g.detectAgain()
	})
	g.choice = choice.New(choice.Options{Settings: g.config, Models: g.models, Accounts: g.book, Agents: g.agents, Now: g.opts.Now})
}

// detectModels looks for model servers at the start and whenever the settings
// of models have changed.
func (g *Gateway) detectModels(ctx context.Context) {
	for first := true; ; first = false {
		g.models.Detect(ctx)
		g.lookedForModels(ctx, first)
		select {
		case <-g.redetect:
		case <-ctx.Done():
			return
		}
	}
}

// detectAgain lets a new account be seen by the choice of models.
func (g *Gateway) detectAgain() {
	select {
	case g.redetect <- struct{}{}:
	default:
	}
}
