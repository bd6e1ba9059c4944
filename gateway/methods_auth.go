package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

const (
	authWait    = 25 * time.Second
	maxAuthWait = time.Minute
)

func (g *Gateway) modelsAuthStatus(context.Context, method.None) (protocol.ModelsAuthStatus, error) {
	now := g.opts.Now()
	out := protocol.ModelsAuthStatus{TS: now.UnixMilli(), Providers: []protocol.ModelsAuthProvider{}, Capabilities: g.authAbilities()}
	order := g.config.Snapshot().Config.Auth.Order
	for _, a := range g.book.Accounts() {
		i := slices.IndexFunc(out.Providers, func(p protocol.ModelsAuthProvider) bool { return p.Provider == a.Provider })
		if i < 0 {
			i = len(out.Providers)
			out.Providers = append(out.Providers, protocol.ModelsAuthProvider{
				Provider: a.Provider, AuthProvider: a.Provider, DisplayName: provider.NameOf(a.Provider), Status: "missing", Profiles: []protocol.ModelsAuthProfile{}, Order: order[a.Provider],
			})
		}
		p := &out.Providers[i]
		stats, err := a.Stats.UsageStats(now)
		if err != nil {
			return out, err
		}
		row := protocol.ModelsAuthProfile{
			ProfileID: a.ID, Type: string(a.Type), Status: authState(a, now), Email: a.Email, Source: a.Source, Hosts: a.Hosts, UsageStats: json.RawMessage(stats),
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

func (g *Gateway) authAbilities() []protocol.ModelsAuthAbility {
	out := []protocol.ModelsAuthAbility{}
	for _, k := range provider.Services(g.opts.Env) {
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

func (g *Gateway) modelsAuthLogout(ctx context.Context, p protocol.ModelsAuthLogoutParams) (protocol.ModelsAuthLogoutResult, error) {
	out := protocol.ModelsAuthLogoutResult{Provider: p.Provider, Removed: []string{}}
	if p.Provider == "" {
		return out, protocol.MissingParam(protocol.MethodModelsAuthLogout, "provider")
	}
	for _, a := range g.book.Accounts() {
		switch {
		case a.Provider != p.Provider, len(p.ProfileIDs) > 0 && !slices.Contains(p.ProfileIDs, a.ID):
			continue
		case p.CredentialType != "" && p.CredentialType != string(a.Type):
			continue
		}
		ok, err := g.book.Remove(ctx, a.ID)
		if err != nil {
			return out, err
		}
		if ok {
			out.Removed = append(out.Removed, a.ID)
		}
	}
	g.detectAgain()
	return out, nil
}

func (g *Gateway) modelsAuthOrder(ctx context.Context, p protocol.ModelsAuthOrderParams) (protocol.OKResult, error) {
	if p.Provider == "" {
		return protocol.OKResult{}, protocol.MissingParam(protocol.MethodModelsAuthOrderSet, "provider")
	}
	path := config.Path{config.Key("auth"), config.Key("order"), config.Key(p.Provider)}.String()
	var err error
	if len(p.ProfileIDs) == 0 {
		_, err = g.config.UnsetPath(ctx, path)
	} else {
		raw, merr := json.Marshal(p.ProfileIDs)
		if merr != nil {
			return protocol.OKResult{}, merr
		}
		_, err = g.config.SetPath(ctx, path, string(raw))
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (g *Gateway) modelsAuthSetKey(ctx context.Context, p protocol.ModelsAuthSetKeyParams) (protocol.ModelsAuthSetKeyResult, error) {
	out := protocol.ModelsAuthSetKeyResult{}
	key, err := secret.CleanKey(p.APIKey)
	if err != nil {
		return out, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	if p.Provider == "" {
		if p.Provider = provider.Recognize(key.Reveal()); p.Provider == "" {
			return out, protocol.Invalid("The key does not tell which service it is for. Name the service too, for example openai or deepseek.").With("reason", "provider")
		}
	}
	out.Provider, out.ProfileID = p.Provider, profile.ID(p.Provider, p.Name)
	typ := profile.APIKey
	if p.Token {
		typ = profile.Token
	}
	if g.models.Address(p.Provider) == "" {
		return out, protocol.Invalid("Hearth does not know where %q is, so it cannot say where its key may go. Set models.providers.%s.baseUrl first.", p.Provider, p.Provider)
	}
	err = g.book.Add(ctx, profile.Profile{ID: out.ProfileID, Provider: p.Provider, Type: typ}, profile.Credential{Type: typ, Key: key.Reveal()})
	out.Stored = g.secrets.Status(ctx).Place
	return out, g.accountAdded(err)
}

// accountAdded gives an error of the book its form on the wire; without one,
// models are looked for again.
func (g *Gateway) accountAdded(err error) error {
	var pe *profile.Error
	if errors.As(err, &pe) {
		return protocol.Invalid("%s", pe.Message).With("reason", pe.Reason)
	}
	if err == nil {
		g.detectAgain()
	}
	return err
}

func (g *Gateway) modelsAuthLogin(ctx context.Context, p protocol.ModelsAuthLoginParams) (protocol.ModelsAuthLogin, error) {
	for _, s := range oauth.Services() {
		if s.ID != p.Provider {
			continue
		}
		st, err := g.flows.Start(ctx, s)
		if err != nil {
			return protocol.ModelsAuthLogin{}, protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
		}
		return protocol.ModelsAuthLogin{LoginID: st.ID, Kind: s.Kind, URL: st.URL, UserCode: st.Code, ExpiresAt: st.Expires.UnixMilli()}, nil
	}
	return protocol.ModelsAuthLogin{}, protocol.Invalid("One cannot log in at %q from here; it takes an API key: `hearth models auth add %s`.", p.Provider, p.Provider)
}

// keepLogin stores what a login brought.
func (g *Gateway) keepLogin(ctx context.Context, s oauth.Service, t oauth.Tokens) (string, error) {
	p := profile.Profile{ID: profile.ID(s.ID, ""), Provider: s.ID, Type: profile.OAuth}
	c := profile.Credential{Type: profile.OAuth, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires}
	if t.IsKey {
		p.Type, c = profile.APIKey, profile.Credential{Type: profile.APIKey, Key: t.Access}
	}
	return p.ID, g.accountAdded(g.book.Add(ctx, p, c, s.Hosts...))
}

func (g *Gateway) modelsAuthWait(ctx context.Context, p protocol.ModelsAuthWaitParams) (protocol.ModelsAuthWait, error) {
	d := authWait
	if p.TimeoutMs > 0 {
		d = min(time.Duration(p.TimeoutMs)*time.Millisecond, maxAuthWait)
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	st, err := g.flows.Wait(ctx, p.LoginID)
	if err != nil {
		return protocol.ModelsAuthWait{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	out := protocol.ModelsAuthWait{State: st.State, ProfileID: st.Account}
	if st.Err != nil {
		out.Error = protocol.Sentence(st.Err.Error())
	}
	return out, nil
}

func (g *Gateway) modelsAuthCancel(_ context.Context, p protocol.ModelsAuthWaitParams) (protocol.OKResult, error) {
	return protocol.OKResult{OK: g.flows.Cancel(p.LoginID)}, nil
}

func (g *Gateway) modelsAuthForeign(context.Context, method.None) (protocol.ForeignLogins, error) {
	out := protocol.ForeignLogins{Logins: []protocol.ForeignLogin{}}
	for _, s := range g.foreignLogins() {
		out.Logins = append(out.Logins, protocol.ForeignLogin{ID: s.ID, Name: s.Name, Path: s.Path, Provider: s.Provider, Present: s.Present(), Caution: s.Caution})
	}
	return out, nil
}

func (g *Gateway) modelsAuthImport(ctx context.Context, p protocol.ModelsAuthImportParams) (protocol.ModelsAuthSetKeyResult, error) {
	if p.ID == profile.NameEnv {
		return g.importEnvironment(ctx)
	}
	for _, s := range g.foreignLogins() {
		if s.ID != p.ID {
			continue
		}
		who, c, err := s.Read()
		if err != nil {
			return protocol.ModelsAuthSetKeyResult{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
		}
		err = g.book.Add(ctx, who, c, s.Hosts...)
		return protocol.ModelsAuthSetKeyResult{Provider: who.Provider, ProfileID: who.ID, Warning: s.Caution}, g.accountAdded(err)
	}
	return protocol.ModelsAuthSetKeyResult{}, protocol.Invalid("Hearth knows no program %q whose login it could take. `hearth models auth import` lists them.", p.ID)
}

// importedName is what accounts are called whose keys came from the environment.
const importedName = "imported"

// importEnvironment stores every key that the gateway's environment holds, so
// that it works without it.
func (g *Gateway) importEnvironment(ctx context.Context) (protocol.ModelsAuthSetKeyResult, error) {
	var out protocol.ModelsAuthSetKeyResult
	for _, k := range provider.Services(g.opts.Env) {
		if k.Key == "" {
			continue
		}
		key, err := secret.CleanKey(k.Key)
		if err != nil {
			return out, protocol.Invalid("The key of %s in the environment: %s", k.ID, protocol.Sentence(err.Error()))
		}
		who := profile.Profile{ID: profile.ID(k.ID, importedName), Provider: k.ID, Type: profile.APIKey}
		if err := g.book.Add(ctx, who, profile.Credential{Type: who.Type, Key: key.Reveal()}, profile.Origin(k.BaseURL)); err != nil {
			return out, g.accountAdded(err)
		}
		out.Provider, out.ProfileID = k.ID, who.ID
		out.Imported = append(out.Imported, who.ID)
	}
	if len(out.Imported) == 0 {
		return out, protocol.Invalid("There is no key of a model service in the environment that the gateway was started with. `hearth models auth add PROVIDER` stores one that you type.")
	}
	out.Stored = g.secrets.Status(ctx).Place
	out.Warning = "The variables are still set: whatever you start from there can read them. Remove them where you set them."
	return out, g.accountAdded(nil)
}

func (g *Gateway) modelsAuthAllow(ctx context.Context, p protocol.ModelsAuthAllowParams) (protocol.OKResult, error) {
	ok, err := g.book.Allow(ctx, p.ProfileID, p.Host)
	if err == nil && !ok {
		return protocol.OKResult{}, protocol.Invalid("There is no account %q. `hearth models auth` lists them.", p.ProfileID)
	}
	return protocol.OKResult{OK: ok}, g.accountAdded(err)
}
