// Package configured makes the registry of models that the settings describe, and
// keeps it as they are. What a model is and how it is found is package
// provider's.
package configured

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/subagent"
)

// Options are the parts that the registry needs; all of them.
type Options struct {
	Settings *config.File
	Secrets  *lookup.Secrets
	Accounts provider.Accounts
	Setup    *setup.Book // knows whether the person looks around first
	StateDir string
	Env      func(string) string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Open returns the registry of the settings, and what looks for servers of models
// again when they have changed.
func Open(o Options) (*provider.Registry, *provider.Detector) {
	models := provider.New(provider.Options{
		Settings: settings(o.Settings.Snapshot().Config, o.Secrets), Env: o.Env, Logger: o.Logger, Now: o.Now, Accounts: o.Accounts,
		Around: o.Setup.Around,
		Guide:  guide.Options{DataDir: o.StateDir, ConfigPath: o.Settings.Path()},
	})
	detector := provider.NewDetector(models)
	o.Secrets.Subscribe(func(c config.Config) {
		models.Reconfigure(settings(c, o.Secrets))
		detector.Again()
	})
	return models, detector
}

// settings is the part of the settings that the models need.
func settings(c config.Config, secrets *lookup.Secrets) provider.Settings {
	services, first := provider.Section.Of(c).Services, choice.Section.Of(c).Model
	s := provider.Settings{
		Providers: make(map[string]provider.ProviderConfig, len(services)),
		Primary:   first.Primary, Fallbacks: first.Fallbacks, Named: namedServices(c),
	}
	for id, p := range services {
		key, _ := secrets.Known(p.APIKey)
		pc := provider.ProviderConfig{BaseURL: p.BaseURL, APIKey: key.Reveal(), API: p.API, AuthHeader: p.AuthHeader,
			Silence: time.Duration(p.TimeoutSeconds) * time.Second}
		for name, value := range p.Headers {
			if pc.Headers == nil {
				pc.Headers = make(map[string]string, len(p.Headers))
			}
			v, _ := secrets.Known(value)
			pc.Headers[name] = v.Reveal()
		}
		for _, m := range p.Models {
			pc.Models = append(pc.Models, m.ModelConfig)
		}
		s.Providers[id] = pc
	}
	return s
}

// namedServices are the services whose models the settings name somewhere.
func namedServices(c config.Config) (out []string) {
	d, helper := choice.Section.Of(c), subagent.Section.Of(c).Model
	names := slices.Concat([]string{d.Model.Primary, d.ImageModel.Primary, helper.Primary, budget.Section.Of(c).CheapModel},
		d.Model.Fallbacks, d.ImageModel.Fallbacks, helper.Fallbacks, slices.Collect(maps.Keys(d.Aliases)))
	for _, a := range agents.Section.Of(c).List {
		names = append(append(names, a.Model.Primary), a.Model.Fallbacks...)
	}
	for _, name := range names {
		if ref, ok := model.ParseRef(strings.TrimSpace(name)); ok {
			out = append(out, ref.Provider)
		}
	}
	return out
}
