package accounts

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/oauth"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Adding adds accounts and has models looked for with them. Its errors are in
// the wire's form, and its fields are all needed.
type Adding struct {
	Accounts *Accounts
	Models   *provider.Registry // knows where services are
	Detector *provider.Detector
}

// Remove takes an account away, with its key; ok is false when there is none.
func (a *Adding) Remove(ctx context.Context, id string) (ok bool, err error) {
	ok, err = a.Accounts.book.Remove(ctx, id)
	a.Detector.Again()
	return ok, err
}

// Allow lets the key of an account go to one more address.
func (a *Adding) Allow(ctx context.Context, id, host string) (ok bool, err error) {
	ok, err = a.Accounts.book.Allow(ctx, id, host)
	return ok, a.added(err)
}

// Key keeps a key that a person typed.
func (a *Adding) Key(ctx context.Context, p protocol.ModelsAuthSetKeyParams) (protocol.ModelsAuthSetKeyResult, error) {
	out := protocol.ModelsAuthSetKeyResult{}
	key, err := secret.CleanKey(p.APIKey)
	if err != nil {
		return out, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	if p.Provider == "" {
		if p.Provider = provider.Recognize(key.Reveal()); p.Provider == "" {
			return out, protocol.Invalid(
				"The key does not tell which service it is for. Name the service too, for example openai or deepseek.").With("reason", "provider")
		}
	}
	out.Provider, out.ProfileID = p.Provider, profile.ID(p.Provider, p.Name)
	typ := profile.APIKey
	if p.Token {
		typ = profile.Token
	}
	if a.Models.Address(p.Provider) == "" {
		return out, protocol.Invalid("Hearth does not know where %q is, so it cannot say where its key may go. Set "+
			"models.providers.%s.baseUrl first.", p.Provider, p.Provider)
	}
	err = a.Accounts.book.Add(ctx, profile.Profile{ID: out.ProfileID, Provider: p.Provider, Type: typ},
		profile.Credential{Type: typ, Key: key.Reveal()})
	out.Stored = a.Accounts.o.Secrets.Status(ctx).Place
	return out, a.added(err)
}

// added gives an error of the book its form on the wire; without one,
// models are looked for again.
func (a *Adding) added(err error) error {
	var pe *profile.Error
	if errors.As(err, &pe) {
		return protocol.Invalid("%s", pe.Message).With("reason", pe.Reason)
	}
	if err == nil {
		a.Detector.Again()
	}
	return err
}

// Login stores what a login brought.
func (a *Adding) Login(ctx context.Context, s oauth.Issuer, t oauth.Tokens) (string, error) {
	p := profile.Profile{ID: profile.ID(s.ID, ""), Provider: s.ID, Type: profile.OAuth}
	c := profile.Credential{Type: profile.OAuth, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires}
	if t.IsKey {
		p.Type, c = profile.APIKey, profile.Credential{Type: profile.APIKey, Key: t.Access}
	}
	return p.ID, a.added(a.Accounts.book.Add(ctx, p, c, s.Hosts...))
}

// Import takes the login of another program, or the keys of the environment.
func (a *Adding) Import(ctx context.Context, p protocol.ModelsAuthImportParams) (protocol.ModelsAuthSetKeyResult, error) {
	if p.ID == profile.NameEnv {
		return a.environment(ctx)
	}
	for _, s := range a.Accounts.Foreign() {
		if s.ID != p.ID {
			continue
		}
		who, c, err := s.Read()
		if err != nil {
			return protocol.ModelsAuthSetKeyResult{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
		}
		err = a.Accounts.book.Add(ctx, who, c, s.Hosts...)
		return protocol.ModelsAuthSetKeyResult{Provider: who.Provider, ProfileID: who.ID, Warning: s.Caution}, a.added(err)
	}
	return protocol.ModelsAuthSetKeyResult{}, protocol.Invalid("Hearth knows no program %q whose login it could take. `hearth models auth "+
		"import` lists them.", p.ID)
}

// importedName is what accounts are called whose keys came from the environment.
const importedName = "imported"

// environment stores every key that the gateway's environment holds, so
// that it works without it.
func (a *Adding) environment(ctx context.Context) (protocol.ModelsAuthSetKeyResult, error) {
	var out protocol.ModelsAuthSetKeyResult
	for _, k := range provider.Services(a.Accounts.o.Env) {
		if k.Key == "" {
			continue
		}
		key, err := secret.CleanKey(k.Key)
		if err != nil {
			return out, protocol.Invalid("The key of %s in the environment: %s", k.ID, protocol.Sentence(err.Error()))
		}
		who := profile.Profile{ID: profile.ID(k.ID, importedName), Provider: k.ID, Type: profile.APIKey}
		if err := a.Accounts.book.Add(ctx, who, profile.Credential{Type: who.Type, Key: key.Reveal()}, profile.Origin(k.BaseURL)); err != nil {
			return out, a.added(err)
		}
		out.Provider, out.ProfileID = k.ID, who.ID
		out.Imported = append(out.Imported, who.ID)
	}
	if len(out.Imported) == 0 {
		return out, protocol.Invalid("There is no key of a model service in the environment that the gateway was started with. `hearth models " +
			"auth add PROVIDER` stores one that you type.")
	}
	out.Stored = a.Accounts.o.Secrets.Status(ctx).Place
	out.Warning = "The variables are still set: whatever you start from there can read them. Remove them where you set them."
	return out, a.added(nil)
}
