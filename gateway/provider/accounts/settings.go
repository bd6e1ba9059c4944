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
	own := Section.Of(c)
	s := profile.Settings{
		Order: own.Order, Hosts: map[string]string{},
		Cooldowns: profile.Cooldowns{
			BillingBackoff: hours(own.BillingBackoffHours), BillingMax: hours(own.BillingMaxHours),
			FailureWindow: hours(own.FailureWindowHours), BillingBackoffBy: map[string]time.Duration{},
		},
	}
	for id, h := range own.BillingBackoffHoursByProvider {
		s.Cooldowns.BillingBackoffBy[id] = hours(h)
	}
	for _, p := range own.Profiles {
		s.Profiles = append(s.Profiles, p)
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
