package gateway

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// modelList lists models.
type modelList struct{ g *Gateway }

// List implements chat.Models.
func (l modelList) List(ctx context.Context, p protocol.ModelsListParams) (protocol.ModelsList, error) {
	return l.g.modelsList(ctx, p)
}

func (g *Gateway) modelsList(_ context.Context, p protocol.ModelsListParams) (protocol.ModelsList, error) {
	switch p.View {
	case "", "default", "configured", "all":
	default:
		return protocol.ModelsList{}, protocol.InvalidParams(protocol.MethodModelsList, "view can be default, configured or all, not %q", p.View)
	}
	def, _ := g.models.Default()
	d := g.config.Snapshot().Config.Agents.Defaults
	list := g.models.Models()
	if p.View == "all" {
		list = g.models.Catalogue()
	}
	out := protocol.ModelsList{Models: []protocol.ModelInfo{}}
	for _, e := range list {
		entry, chosen := d.Models[e.Ref.String()]
		switch {
		case p.View == "all":
		case p.View == "configured" && !chosen && e.Source != provider.SourceConfigured:
			continue
		case p.View != "configured" && !e.BuiltIn && !g.choice.Allowed(e.Ref):
			continue
		}
		info := protocol.ModelInfo{
			ID: e.Ref.Model, Name: e.Name, Provider: e.Ref.Provider, Alias: entry.Alias, ContextWindow: e.ContextWindow, Reasoning: e.Reasoning,
			Input: e.Input, Available: e.Available, Tags: g.modelTags(e.Ref, def),
			Hearth: g.modelDetail(e),
		}
		out.Models = append(out.Models, info)
	}
	return out, nil
}

func (g *Gateway) modelDetail(e provider.Entry) *protocol.ModelDetail {
	d := &protocol.ModelDetail{
		Source: e.Source, Service: e.Service, Local: e.Source == provider.SourceLocal || e.BuiltIn, NoTools: !e.Tools, Reason: e.Reason, Trained: e.Trained,
	}
	price, known := g.priceOf(e.Ref)
	d.Priced, d.Free = known, known && price.Free()
	if t, ok := g.models.TestOf(e.Ref); ok {
		d.Verified = verifiedOf(t)
	}
	if at, ok := g.book.Soonest(e.Ref.Provider, e.Ref.Model, g.opts.Now()); ok {
		d.Resting = at.UnixMilli()
	}
	return d
}

// modelTags marks the default and its fallbacks.
func (g *Gateway) modelTags(ref, def model.Ref) (tags []string) {
	if ref == def {
		tags = append(tags, "default")
	}
	for i, name := range g.config.Snapshot().Config.Agents.Defaults.Model.Fallbacks {
		if g.models.Named(name) == ref {
			tags = append(tags, fmt.Sprintf("fallback#%d", i+1))
		}
	}
	return tags
}
