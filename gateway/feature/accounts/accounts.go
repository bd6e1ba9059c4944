// Package accounts is the feature that looks after a person's accounts at model
// services: the methods models.auth.* and what is imported from other programs.
// The accounts are package provider/accounts'.
package accounts

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Adding   *accounts.Adding
	Accounts *accounts.Accounts
	Settings *config.File
	Work     *background.Group // for logins that wait for a browser
	Env      func(string) string
	Now      func() time.Time
}

type feature struct {
	Options
	add   *accounts.Adding
	flows *oauth.Flows
}

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o, o.Adding, oauth.NewFlows(o.Work.Context(), o.Accounts.Logins(), o.Adding.Login)}
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodModelsAuthStatus, f.status),
		method.Plain(protocol.MethodModelsAuthLogout, f.logout),
		method.Plain(protocol.MethodModelsAuthOrderSet, f.order),
		method.Plain(protocol.MethodModelsAuthSetAPIKey, o.Adding.Key),
		method.Plain(protocol.MethodModelsAuthLogin, f.login),
		method.Plain(protocol.MethodModelsAuthWait, f.wait),
		method.Plain(protocol.MethodModelsAuthCancel, f.cancel),
		method.Plain(protocol.MethodModelsAuthForeign, f.foreign),
		method.Plain(protocol.MethodModelsAuthImport, o.Adding.Import),
		method.Plain(protocol.MethodModelsAuthAllow, f.allow),
	}}
}

const (
	waitTime    = 25 * time.Second
	maxWaitTime = time.Minute
)

func (f feature) status(context.Context, method.None) (protocol.ModelsAuthStatus, error) {
	now := f.Now()
	out := protocol.ModelsAuthStatus{TS: now.UnixMilli(), Providers: []protocol.ModelsAuthProvider{}, Capabilities: f.abilities()}
	order := accounts.Section.Of(f.Settings.Snapshot().Config).Order
	for _, a := range f.Accounts.Book().Accounts() {
		i := slices.IndexFunc(out.Providers, func(p protocol.ModelsAuthProvider) bool { return p.Provider == a.Provider })
		if i < 0 {
			i = len(out.Providers)
			out.Providers = append(out.Providers, protocol.ModelsAuthProvider{
				Provider: a.Provider, AuthProvider: a.Provider, DisplayName: provider.NameOf(a.Provider), Status: "missing",
				Profiles: []protocol.ModelsAuthProfile{}, Order: order[a.Provider],
			})
		}
		p := &out.Providers[i]
		stats, err := a.Stats.UsageStats(now)
		if err != nil {
			return out, err
		}
		row := protocol.ModelsAuthProfile{
			ProfileID: a.ID, Type: string(a.Type), Status: authState(a, now), Email: a.Email, Source: a.Source, Hosts: a.Hosts,
			UsageStats: json.RawMessage(stats),
		}
		if !a.Expires.IsZero() {
			row.ExpiresAt = a.Expires.UnixMilli()
		}
		p.Profiles = append(p.Profiles, row)
		if p.Status == "missing" || p.Status == "expired" {
			p.Status = row.Status
		}
		if a.Source != profile.SourceStored && !a.Missing {
			p.APIKey = &protocol.ModelsAuthKey{Source: a.Source}
		}
	}
	return out, nil
}

func authState(a profile.Account, now time.Time) string {
	switch {
	case a.Missing:
		return "missing"
	case a.Type != profile.OAuth:
		return "static"
	case !a.Expires.IsZero() && a.Expires.Before(now):
		return "expired" // until the next call renews it
	}
	return "ok"
}

func (f feature) abilities() []protocol.ModelsAuthAbility {
	out := []protocol.ModelsAuthAbility{}
	for _, k := range provider.Services(f.Env) {
		a := protocol.ModelsAuthAbility{Provider: k.ID, APIKeySupported: len(k.KeyEnv) > 0, QuickAPIKey: len(k.KeyEnv) > 0 && !k.Local}
		for _, s := range oauth.Services() {
			if s.ID == k.ID {
				a.LoginOptions = append(a.LoginOptions, protocol.ModelsAuthOption{
					ID: s.ID, BrandID: s.ID, Label: "Log in at " + s.Name, Hint: "in the browser", Group: s.Name, Kind: s.Kind,
				})
			}
		}
		out = append(out, a)
	}
	return out
}

func (f feature) logout(ctx context.Context, p protocol.ModelsAuthLogoutParams) (protocol.ModelsAuthLogoutResult, error) {
	out := protocol.ModelsAuthLogoutResult{Provider: p.Provider, Removed: []string{}}
	if p.Provider == "" {
		return out, protocol.MissingParam(protocol.MethodModelsAuthLogout, "provider")
	}
	for _, a := range f.Accounts.Book().Accounts() {
		switch {
		case a.Provider != p.Provider, len(p.ProfileIDs) > 0 && !slices.Contains(p.ProfileIDs, a.ID):
			continue
		case p.CredentialType != "" && p.CredentialType != string(a.Type):
			continue
		}
		ok, err := f.add.Remove(ctx, a.ID)
		if err != nil {
			return out, err
		}
		if ok {
			out.Removed = append(out.Removed, a.ID)
		}
	}
	return out, nil
}

func (f feature) order(ctx context.Context, p protocol.ModelsAuthOrderParams) (protocol.OKResult, error) {
	if p.Provider == "" {
		return protocol.OKResult{}, protocol.MissingParam(protocol.MethodModelsAuthOrderSet, "provider")
	}
	path := config.Path{config.Key("auth"), config.Key("order"), config.Key(p.Provider)}.String()
	var err error
	if len(p.ProfileIDs) == 0 {
		_, err = f.Settings.UnsetPath(ctx, path)
	} else {
		raw, merr := json.Marshal(p.ProfileIDs)
		if merr != nil {
			return protocol.OKResult{}, merr
		}
		_, err = f.Settings.SetPath(ctx, path, string(raw))
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (f feature) login(ctx context.Context, p protocol.ModelsAuthLoginParams) (protocol.ModelsAuthLogin, error) {
	for _, s := range oauth.Services() {
		if s.ID != p.Provider {
			continue
		}
		st, err := f.flows.Start(ctx, s)
		if err != nil {
			return protocol.ModelsAuthLogin{}, protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
		}
		return protocol.ModelsAuthLogin{LoginID: st.ID, Kind: s.Kind, URL: st.URL, UserCode: st.Code, ExpiresAt: st.Expires.UnixMilli()}, nil
	}
	return protocol.ModelsAuthLogin{}, protocol.Invalid("One cannot log in at %q from here; it takes an API key: `hearth models auth add %s`.",
		p.Provider, p.Provider)
}

func (f feature) wait(ctx context.Context, p protocol.ModelsAuthWaitParams) (protocol.ModelsAuthWait, error) {
	d := waitTime
	if p.TimeoutMs > 0 {
		d = min(time.Duration(p.TimeoutMs)*time.Millisecond, maxWaitTime)
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	st, err := f.flows.Wait(ctx, p.LoginID)
	if err != nil {
		return protocol.ModelsAuthWait{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	out := protocol.ModelsAuthWait{State: st.State, ProfileID: st.Account}
	if st.Err != nil {
		out.Error = protocol.Sentence(st.Err.Error())
	}
	return out, nil
}

func (f feature) cancel(_ context.Context, p protocol.ModelsAuthWaitParams) (protocol.OKResult, error) {
	return protocol.OKResult{OK: f.flows.Cancel(p.LoginID)}, nil
}

func (f feature) foreign(context.Context, method.None) (protocol.ForeignLogins, error) {
	out := protocol.ForeignLogins{Logins: []protocol.ForeignLogin{}}
	for _, s := range f.Accounts.Foreign() {
		out.Logins = append(out.Logins, protocol.ForeignLogin{ID: s.ID, Name: s.Name, Path: s.Path, Provider: s.Provider, Present: s.Present(),
			Caution: s.Caution})
	}
	return out, nil
}

func (f feature) allow(ctx context.Context, p protocol.ModelsAuthAllowParams) (protocol.OKResult, error) {
	ok, err := f.add.Allow(ctx, p.ProfileID, p.Host)
	if err == nil && !ok {
		return protocol.OKResult{}, protocol.Invalid("There is no account %q. `hearth models auth` lists them.", p.ProfileID)
	}
	return protocol.OKResult{OK: ok}, err
}
