// Package accounts opens the book of accounts at model services: with the keys of
// the settings and the environment, credentials among the secrets, and logins
// that are renewed. The registry of models and the failover ask it for a way
// into a service.
//
// Whose turn it is and which one rests is package profile's; how one logs in is
// package oauth's.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/foreign"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Options are the parts that Accounts need; all of them.
type Options struct {
	DB       *store.DB
	Dir      statedir.Dir
	Settings *config.File
	Secrets  *lookup.Secrets
	Setup    *setup.Book // knows the key that is only being tried
	Env      func(string) string
	Work     *background.Group
	Now      func() time.Time
	Logger   *slog.Logger
}

// Accounts are the ways into model services. It is a provider.Accounts; its
// methods may be called from several goroutines.
type Accounts struct {
	o      Options
	book   *profile.Book
	logins *oauth.Client
}

// Open reads what is known of accounts, and follows the settings.
func Open(ctx context.Context, o Options) (*Accounts, error) {
	a := &Accounts{o: o, logins: oauth.New(oauth.Options{Now: o.Now})}
	book, err := profile.Open(ctx, profile.Options{
		Settings: a.settings(o.Settings.Snapshot().Config), State: newState(o.DB), Vault: vault{o.Secrets.Store()},
		Renew: a.renew, Now: o.Now, Logger: o.Logger,
		Lock: func(ctx context.Context, _ string) (func(), error) { return o.Dir.Lock(ctx, "logins") },
		Found: func(secrets ...string) {
			for _, s := range secrets {
				o.Secrets.Hide(secret.New(s))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	a.book = book
	o.Secrets.Subscribe(func(c config.Config) { book.Configure(o.Work.Context(), a.settings(c)) })
	return a, nil
}

// Book is the book of accounts.
func (a *Accounts) Book() *profile.Book { return a.book }

// Logins asks services for logins.
func (a *Accounts) Logins() *oauth.Client { return a.logins }

// Has implements provider.Accounts.
func (a *Accounts) Has(provider string) bool { return a.book.Has(provider) }

// Chosen implements provider.Accounts. It leaves out a key that the person tried in vain before looking around.
func (a *Accounts) Chosen(provider string) bool {
	pending := ""
	if a.o.Setup.Around() {
		pending = a.o.Setup.Get().Pending
	}
	return slices.ContainsFunc(a.book.Accounts(), func(x profile.Account) bool {
		return x.Provider == provider && x.Source != profile.SourceEnv && !x.Missing && x.ID != pending
	})
}

// Next implements provider.Accounts.
func (a *Accounts) Next(provider, modelID string) string {
	all := a.book.Candidates(provider, modelID, profile.Pin{}, a.o.Now())
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// Key implements provider.Accounts.
func (a *Accounts) Key(ctx context.Context, account, baseURL string) (string, error) {
	c, err := a.book.Credential(ctx, account, profile.Origin(baseURL))
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

// renew asks for a new login, or reads the one that another program has
// renewed meanwhile.
func (a *Accounts) renew(ctx context.Context, p profile.Profile, c profile.Credential) (profile.Credential, error) {
	for _, src := range a.Foreign() {
		if src.ID != c.Service {
			continue
		}
		_, next, err := src.Read()
		if err == nil && !next.Expires.IsZero() && !next.Expires.After(a.o.Now()) {
			err = &profile.Error{ID: p.ID, Reason: profile.ReasonLogin,
				Message: fmt.Sprintf("The login of %s has ended. Open %s once, so that it renews its login; Hearth then goes on with it.", p.ID,
					src.Name)}
		}
		return next, err
	}
	for _, s := range oauth.Services() {
		if s.ID != p.Provider || c.Refresh == "" {
			continue
		}
		t, err := a.logins.Renew(ctx, s, c.Refresh)
		if errors.Is(err, oauth.ErrEnded) {
			err = fmt.Errorf("%w: %w", profile.ErrLoginEnded, err)
		}
		return profile.Credential{Type: profile.OAuth, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires}, err
	}
	return profile.Credential{}, profile.ErrLoginEnded
}

// Foreign are logins that other programs keep on this computer.
func (a *Accounts) Foreign() []foreign.Program {
	return foreign.Sources(statedir.Home(a.o.Env), a.o.Env)
}

// RestOf is until when an account is not asked, for any model, and why.
func RestOf(a profile.Account, now time.Time) (until time.Time, why string) {
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
