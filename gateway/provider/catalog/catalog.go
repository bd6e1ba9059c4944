// Package catalog lists models as clients see them: which there are, whether each
// can be asked, what it can and what it costs. Which may be chosen is package
// choice's, what was found out by trying is package trial's.
package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// Catalog lists. Its fields are all needed, and not changed.
type Catalog struct {
	Settings *config.File
	Models   *provider.Registry
	Choice   *choice.Chooser
	Accounts *profile.Book
	Budget   *budget.Budget
	Now      func() time.Time
}

// List answers models.list.
func (c *Catalog) List(_ context.Context, p protocol.ModelsListParams) (protocol.ModelsList, error) {
	switch p.View {
	case "", "default", "configured", "all":
	default:
		return protocol.ModelsList{}, protocol.InvalidParams(protocol.MethodModelsList, "view can be default, configured or all, not %q", p.View)
	}
	def, _ := c.Models.Default()
	d := choice.Section.Of(c.Settings.Snapshot().Config)
	list := c.Models.Models()
	if p.View == "all" {
		list = c.Models.Catalogue()
	}
	out := protocol.ModelsList{Models: []protocol.ModelInfo{}}
	for _, e := range list {
		alias, chosen := d.Aliases[e.Ref.String()]
		switch {
		case p.View == "all":
		case p.View == "configured" && !chosen && e.Source != provider.SourceConfigured:
			continue
		case p.View != "configured" && !e.BuiltIn && !c.Choice.Allowed(e.Ref):
			continue
		}
		info := protocol.ModelInfo{
			ID: e.Ref.Model, Name: e.Name, Provider: e.Ref.Provider, Alias: alias, ContextWindow: e.ContextWindow, Reasoning: e.Reasoning,
			Input: e.Input, Available: e.Available, Tags: c.tags(e.Ref, def),
			Hearth: c.detail(e),
		}
		out.Models = append(out.Models, info)
	}
	return out, nil
}

func (c *Catalog) detail(e provider.Entry) *protocol.ModelDetail {
	d := &protocol.ModelDetail{
		Source: e.Source, Service: e.Service, Local: e.Source == provider.SourceLocal || e.BuiltIn, NoTools: !e.Tools, Reason: e.Reason,
		Trained: e.Trained,
	}
	price, known := c.Budget.Price(e.Ref)
	d.Priced, d.Free = known, known && price.Free()
	if t, ok := c.Models.TestOf(e.Ref); ok {
		d.Verified = Verified(t)
	}
	if at, ok := c.Accounts.Soonest(e.Ref.Provider, e.Ref.Model, c.Now()); ok {
		d.Resting = at.UnixMilli()
	}
	return d
}

// tags marks the default and its fallbacks.
func (c *Catalog) tags(ref, def model.Ref) (tags []string) {
	if ref == def {
		tags = append(tags, "default")
	}
	for i, name := range choice.Section.Of(c.Settings.Snapshot().Config).Model.Fallbacks {
		if c.Models.Named(name) == ref {
			tags = append(tags, fmt.Sprintf("fallback#%d", i+1))
		}
	}
	return tags
}

// Verified is what was found out about a model, as the wire has it.
func Verified(t provider.Tested) *protocol.ModelVerified {
	return &protocol.ModelVerified{ContextWindow: t.Window, Less: t.Limit > 0, Tools: t.Tools, At: t.At.UnixMilli()}
}
