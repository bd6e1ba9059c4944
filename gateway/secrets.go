package gateway

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
	"github.com/hearth-assistant/hearth/gateway/secret/ref"
)

// secretsPatience is how long the first answer waits for keys that are still
// being looked for.
const secretsPatience = 12 * time.Second

// secretField is a setting that holds a secret, with its path.
type secretField struct {
	path    string
	setting secret.Setting
}

// secretFields lists the settings that hold secrets, in a fixed order.
func secretFields(c config.Config) []secretField {
	out := []secretField{{"gateway.auth.token", c.Gateway.Auth.Token}, {"tools.web.search.apiKey", c.Tools.Web.Search.APIKey},
		{memoryKeyField, c.Agents.Defaults.MemorySearch.Remote.APIKey}}
	for _, id := range slices.Sorted(maps.Keys(c.Models.Providers)) {
		at := func(keys ...string) string {
			p := config.Path{config.Key("models"), config.Key("providers"), config.Key(id)}
			for _, k := range keys {
				p = append(p, config.Key(k))
			}
			return p.String()
		}
		out = append(out, secretField{at("apiKey"), c.Models.Providers[id].APIKey})
		for _, name := range slices.Sorted(maps.Keys(c.Models.Providers[id].Headers)) {
			out = append(out, secretField{at("headers", name), c.Models.Providers[id].Headers[name]})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Channels.Telegram.Accounts)) {
		a := c.Channels.Telegram.Accounts[id]
		out = append(out, secretField{"channels.telegram.accounts." + id + ".botToken", a.BotToken},
			secretField{"channels.telegram.accounts." + id + ".webhookSecret", a.WebhookSecret})
	}
	return append(append(out, mcpSecrets(c)...), skillSecrets(c)...)
}

func skillSecrets(c config.Config) (out []secretField) {
	for _, id := range slices.Sorted(maps.Keys(c.Skills.Entries)) {
		e := c.Skills.Entries[id]
		at := config.Path{config.Key("skills"), config.Key("entries"), config.Key(id)}
		out = append(out, secretField{append(slices.Clone(at), config.Key("apiKey")).String(), e.APIKey})
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			if holdsSecret(name, e.Env[name]) {
				out = append(out, secretField{append(slices.Clone(at), config.Key("env"), config.Key(name)).String(), e.Env[name]})
			}
		}
	}
	return out
}

// openSecrets makes what keeps and finds secrets. It looks for nothing yet.
func (g *Gateway) openSecrets() {
	g.keeper = keeper.New(keeper.Options{
		Dir: string(g.opts.Dir), Backend: g.config.Snapshot().Config.Secrets.Backend, Env: g.opts.Env, Now: g.opts.Now,
	})
	g.keys = hidden{g.keeper, g.hide}
	g.refs = ref.New(ref.Options{
		Store: g.keys, Env: g.opts.Env, Home: os.UserHomeDir, Now: g.opts.Now,
		Found: func(v secret.Secret) { g.hide(v) },
	})
	g.configureRefs(g.config.Snapshot().Config)
}

// hidden is a store whose secrets are hidden from logs and answers before
// anybody gets them.
type hidden struct {
	secret.Store
	hide func(...secret.Secret)
}

func (h hidden) Get(ctx context.Context, name string) (secret.Secret, error) {
	v, err := h.Store.Get(ctx, name)
	if err == nil {
		h.hide(v)
	}
	return v, err
}

func (h hidden) Set(ctx context.Context, name string, v secret.Secret) error {
	h.hide(v)
	return h.Store.Set(ctx, name, v)
}

// configureRefs takes the named sources of the settings.
func (g *Gateway) configureRefs(c config.Config) {
	providers := make(map[string]ref.Provider, len(c.Secrets.Providers))
	for id, p := range c.Secrets.Providers {
		rp := ref.Provider{
			Source: p.Source, Path: p.Path, JSON: p.Mode != "singleValue", PassEnv: p.PassEnv, Allowlist: p.Allowlist,
			Timeout: time.Duration(p.TimeoutMs) * time.Millisecond, MaxBytes: p.MaxBytes,
		}
		if p.Command != "" {
			rp.Argv = append([]string{p.Command}, p.Args...)
		}
		providers[id] = rp
	}
	g.refs.Configure(providers, c.Secrets.Defaults)
}

// secretOf returns the secret of a setting, looking for it when it was not
// found yet. field names the setting in an error.
func (g *Gateway) secretOf(ctx context.Context, field string, s secret.Setting) (secret.Secret, error) {
	return g.refs.Value(ctx, field, s)
}

// found says that a setting's secret needs no looking for.
func (g *Gateway) found(s secret.Setting) bool {
	_, ok := g.refs.Known(s)
	return ok || s.IsZero()
}

// findToken looks for the shared token where that takes no time. From the
// keychain or a program it comes later; until then the last one holds.
func (g *Gateway) findToken(ctx context.Context) {
	t := g.config.Snapshot().Config.Gateway.Auth.Token
	if r, ok := t.Ref(); ok && (r.Source == secret.SourceEnv || r.Source == secret.SourceFile) {
		if _, err := g.refs.Value(ctx, "gateway.auth.token", t); err != nil {
			g.log.Warn("the access token of the settings is missing; the last one holds", "err", err)
		}
	}
}

// findSecrets looks for everything that the settings refer to, beside the work,
// and puts it to use.
func (g *Gateway) findSecrets(ctx context.Context) {
	first := sync.OnceFunc(func() { close(g.sought) })
	defer first()
	if g.lookUp(ctx, g.config.Snapshot().Config) {
		g.putToUse(g.config.Snapshot().Config)
	}
}

// refreshSecrets looks again for what the settings refer to and puts it to use.
func (g *Gateway) refreshSecrets(ctx context.Context) {
	c := g.config.Snapshot().Config
	g.refs.Forget()
	if g.lookUp(ctx, c) {
		g.putToUse(c)
	}
}

// lookUp finds the secrets of the settings, all at the same time; any says that
// there is a reference among them.
func (g *Gateway) lookUp(ctx context.Context, c config.Config) (any bool) {
	var work sync.WaitGroup
	for _, f := range secretFields(c) {
		if _, ok := f.setting.Ref(); !ok {
			continue
		}
		any = true
		work.Go(func() {
			if _, err := g.refs.Value(ctx, f.path, f.setting); err != nil {
				g.log.Warn("a secret is missing", "err", err)
			}
		})
	}
	work.Wait()
	return any
}

// putToUse gives what was found to those who need it.
func (g *Gateway) putToUse(c config.Config) {
	g.reconfigureModels(c)
	g.configureMCP(c)
	select {
	case g.redetect <- struct{}{}:
	default:
	}
	token, err := g.sharedTokenOf(c)
	if err == nil {
		g.knowSecrets(c, token)
		err = g.pairing.SetSharedToken(token)
	}
	if err != nil {
		g.log.Error("the access token of the settings is not in use", "err", err)
	}
}

// awaitSecrets lets the first answer wait for keys that are still looked for.
func (g *Gateway) awaitSecrets(ctx context.Context) {
	select {
	case <-g.sought:
		return
	default:
	}
	patience := time.NewTimer(secretsPatience)
	defer patience.Stop()
	select {
	case <-g.sought:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// applySecrets takes changed settings: what they refer to is looked for before
// they are used.
func (g *Gateway) applySecrets(next config.Config) {
	g.keeper.Use(next.Secrets.Backend)
	g.configureRefs(next)
	if g.channels != nil { // past the start
		g.lookUp(g.channels.ctx, next)
	}
}

// secretProblems says which secrets of the settings could not be had.
func (g *Gateway) secretProblems() (out []protocol.Problem) {
	for _, f := range secretFields(g.config.Snapshot().Config) {
		if err := g.refs.Problem(f.path, f.setting); err != nil {
			out = append(out, protocol.Problem{Code: "SECRET", Message: sentence(err.Error())})
		}
	}
	return out
}

// sentence makes one of an error.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
