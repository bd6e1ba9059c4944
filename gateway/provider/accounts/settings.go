package accounts

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// settings is the part of the settings that the book needs: auth, and
// the keys that are configured or in the environment as accounts of their own.
func (a *Accounts) settings(c config.Config) profile.Settings {
	cool := c.Auth.Cooldowns
	s := profile.Settings{
		Order: c.Auth.Order, Hosts: map[string]string{},
		Cooldowns: profile.Cooldowns{
			BillingBackoff: config.Hours(cool.BillingBackoffHours), BillingMax: config.Hours(cool.BillingMaxHours),
			FailureWindow: config.Hours(cool.FailureWindowHours), BillingBackoffBy: map[string]time.Duration{},
		},
	}
	for id, h := range cool.BillingBackoffHoursByProvider {
		s.Cooldowns.BillingBackoffBy[id] = config.Hours(h)
	}
	for id, p := range c.Auth.Profiles {
		s.Profiles = append(s.Profiles, profile.Profile{ID: id, Provider: p.Provider, Type: profile.Type(p.Mode), Email: p.Email})
	}
	for _, k := range provider.Services(a.o.Env) {
		s.Hosts[k.ID] = profile.Origin(k.BaseURL)
		if k.Key != "" {
			s.Implicit = append(s.Implicit, implicit(k.ID, profile.NameEnv, profile.SourceEnv, k.Key))
		}
	}
	for id, p := range provider.Section.Of(c).Services {
		if p.BaseURL != "" {
			s.Hosts[id] = profile.Origin(p.BaseURL)
		}
		if p.APIKey.IsZero() {
			continue
		}
		im := implicit(id, profile.NameDefault, profile.SourceConfig, "")
		if lit, ok := p.APIKey.Literal(); ok {
			im.Key = lit.Reveal()
		} else {
			im.Key = p.APIKey.String()
			im.Resolve = a.configured(id, p.APIKey)
		}
		s.Implicit = append(s.Implicit, im)
	}
	return s
}

func implicit(provider, name, source, key string) profile.Implicit {
	return profile.Implicit{Profile: profile.Profile{ID: profile.ID(provider, name), Provider: provider, Type: profile.APIKey}, Source: source,
		Key: key}
}

// configured reads a key that the settings only point to.
func (a *Accounts) configured(id string, s secret.Setting) func(context.Context) (string, error) {
	field := config.Path{config.Key("models"), config.Key("providers"), config.Key(id), config.Key("apiKey")}.String()
	return func(ctx context.Context) (string, error) {
		v, err := a.o.Secrets.Value(ctx, field, s)
		return v.Reveal(), err
	}
}
