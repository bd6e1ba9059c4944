package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/foreign"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// openAccounts makes the book of accounts at model services.
func (g *Gateway) openAccounts(ctx context.Context) error {
	g.logins = oauth.New(oauth.Options{Now: g.opts.Now})
	g.flows = oauth.NewFlows(g.work.Context(), g.logins, g.keepLogin)
	book, err := profile.Open(ctx, profile.Options{
		Settings: g.accountSettings(g.config.Snapshot().Config), State: newAccountState(g.store), Vault: accountVault{g},
		Renew: g.renewLogin, Now: g.opts.Now, Logger: g.log,
		Lock: func(ctx context.Context, _ string) (func(), error) { return g.opts.Dir.Lock(ctx, "logins") },
		Found: func(secrets ...string) {
			for _, s := range secrets {
				g.secrets.Hide(secret.New(s))
			}
		},
	})
	if err != nil {
		return &StartError{What: "The accounts of model services could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.book = book
	return nil
}

// reconfigureModels puts changed settings of models and their accounts to use.
func (g *Gateway) reconfigureModels(c config.Config) {
	g.book.Configure(g.work.Context(), g.accountSettings(c))
	g.models.Reconfigure(g.providerSettings(c))
}

// accountSettings is the part of the settings that the book needs: auth, and
// the keys that are configured or in the environment as accounts of their own.
func (g *Gateway) accountSettings(c config.Config) profile.Settings {
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
	for _, k := range provider.Services(g.opts.Env) {
		s.Hosts[k.ID] = profile.Origin(k.BaseURL)
		if k.Key != "" {
			s.Implicit = append(s.Implicit, implicit(k.ID, profile.NameEnv, profile.SourceEnv, k.Key))
		}
	}
	for id, p := range c.Models.Providers {
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
			im.Resolve = g.configuredKey(id, p.APIKey)
		}
		s.Implicit = append(s.Implicit, im)
	}
	return s
}

func implicit(provider, name, source, key string) profile.Implicit {
	return profile.Implicit{Profile: profile.Profile{ID: profile.ID(provider, name), Provider: provider, Type: profile.APIKey}, Source: source, Key: key}
}

// configuredKey reads a key that the settings only point to.
func (g *Gateway) configuredKey(id string, s secret.Setting) func(context.Context) (string, error) {
	field := config.Path{config.Key("models"), config.Key("providers"), config.Key(id), config.Key("apiKey")}.String()
	return func(ctx context.Context) (string, error) {
		v, err := g.secrets.Value(ctx, field, s)
		return v.Reveal(), err
	}
}

// modelAccounts is the book as the registry of models sees it.
type modelAccounts struct{ g *Gateway }

func (m modelAccounts) Has(provider string) bool { return m.g.book.Has(provider) }

// Chosen leaves out a key that the person tried in vain before looking around.
func (m modelAccounts) Chosen(provider string) bool {
	pending := ""
	if m.g.around() {
		pending = m.g.setup.Get().Pending
	}
	return slices.ContainsFunc(m.g.book.Accounts(), func(a profile.Account) bool {
		return a.Provider == provider && a.Source != profile.SourceEnv && !a.Missing && a.ID != pending
	})
}

func (m modelAccounts) Next(provider, modelID string) string {
	all := m.g.book.Candidates(provider, modelID, profile.Pin{}, m.g.opts.Now())
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

func (m modelAccounts) Key(ctx context.Context, account, baseURL string) (string, error) {
	c, err := m.g.book.Credential(ctx, account, profile.Origin(baseURL))
	var pe *profile.Error
	if !errors.As(err, &pe) {
		return c.Value(), err
	}
	class := model.ClassAuth
	if pe.Reason == profile.ReasonVault || pe.Reason == profile.ReasonRenew {
		class = model.ClassConnect // it may be there in a moment
	}
	return "", &provider.UnavailableError{Class: class, Message: pe.Message}
}

// renewLogin asks for a new login, or reads the one that another program has
// renewed meanwhile.
func (g *Gateway) renewLogin(ctx context.Context, p profile.Profile, c profile.Credential) (profile.Credential, error) {
	for _, src := range g.foreignLogins() {
		if src.ID != c.Service {
			continue
		}
		_, next, err := src.Read()
		if err == nil && !next.Expires.IsZero() && !next.Expires.After(g.opts.Now()) {
			err = &profile.Error{ID: p.ID, Reason: profile.ReasonLogin, Message: fmt.Sprintf("The login of %s has ended. Open %s once, so that it renews its login; Hearth then goes on with it.", p.ID, src.Name)}
		}
		return next, err
	}
	for _, s := range oauth.Services() {
		if s.ID != p.Provider || c.Refresh == "" {
			continue
		}
		t, err := g.logins.Renew(ctx, s, c.Refresh)
		if errors.Is(err, oauth.ErrEnded) {
			err = fmt.Errorf("%w: %w", profile.ErrLoginEnded, err)
		}
		return profile.Credential{Type: profile.OAuth, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires}, err
	}
	return profile.Credential{}, profile.ErrLoginEnded
}

func (g *Gateway) foreignLogins() []foreign.Source {
	home := statedir.Home(g.opts.Env)
	return foreign.Sources(home, g.opts.Env)
}

// accountVault keeps credentials among the secrets.
type accountVault struct{ g *Gateway }

func (v accountVault) Get(ctx context.Context, name string) (string, error) {
	s, err := v.g.secrets.Store().Get(ctx, name)
	if errors.Is(err, secret.ErrNotFound) {
		return "", fmt.Errorf("%w: %w", profile.ErrNoCredential, err)
	}
	return s.Reveal(), err
}

func (v accountVault) Set(ctx context.Context, name, value string) error {
	return v.g.secrets.Store().Set(ctx, name, secret.New(value))
}

func (v accountVault) Delete(ctx context.Context, name string) error {
	err := v.g.secrets.Store().Delete(ctx, name)
	if errors.Is(err, secret.ErrNotFound) {
		return fmt.Errorf("%w: %w", profile.ErrNoCredential, err)
	}
	return err
}

// accountState keeps what the book remembers in the store.
type accountState struct {
	db   *store.DB
	rows store.Bucket[profile.Record]
}

func newAccountState(db *store.DB) accountState {
	return accountState{db, store.NewBucket[profile.Record]("model-accounts")}
}

func (a accountState) Load(context.Context) (all []profile.Record, err error) {
	err = a.db.View(func(tx *store.Tx) error {
		for row, err := range a.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			all = append(all, row.Value)
		}
		return nil
	})
	return all, err
}

func (a accountState) put(r profile.Record) store.Write {
	return store.Write{Do: func(tx *store.Tx) error { return a.rows.Put(tx, []byte(r.ID), r) }}
}

func (a accountState) Save(ctx context.Context, r profile.Record) error {
	return a.db.Update(ctx, a.put(r))
}

func (a accountState) Touch(ctx context.Context, r profile.Record) error {
	return a.db.Post(ctx, a.put(r))
}

func (a accountState) Delete(ctx context.Context, id string) error {
	return a.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return a.rows.Delete(tx, []byte(id)) }})
}

// restOf is until when an account is not asked, for any model, and why.
func restOf(a profile.Account, now time.Time) (until time.Time, why string) {
	if d := a.Stats.Disabled; d != nil && d.Until.After(now) {
		return d.Until, string(d.Reason)
	}
	for _, b := range a.Stats.Cooldowns {
		if b.Until.After(now) && b.Until.After(until) {
			until, why = b.Until, string(b.Reason)
		}
	}
	return until, why
}
