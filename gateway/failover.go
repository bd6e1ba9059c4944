package gateway

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/random"
)

// envMaxWait is how many seconds a service may ask to wait before another model
// is asked instead.
const envMaxWait = "HEARTH_RETRY_MAX_WAIT_SECONDS"

func (g *Gateway) openFailover() {
	g.failover = failover.New(failover.Options{
		Resolve: g.resolve, Accounts: accounts{g}, Settings: g.failoverSettings, Logger: g.log, Now: g.opts.Now, Jitter: random.Float,
	})
}

func (g *Gateway) failoverSettings(sessionKey string) failover.Settings {
	c := g.config.Snapshot().Config
	a := g.agents.Named(session.AgentOf(sessionKey))
	s := failover.Settings{
		OverloadedRotations:  c.Auth.Cooldowns.OverloadedProfileRotations,
		OverloadedBackoff:    time.Duration(c.Auth.Cooldowns.OverloadedBackoffMs) * time.Millisecond,
		RateLimitedRotations: c.Auth.Cooldowns.RateLimitedProfileRotations, MaxWait: g.maxWait(),
	}
	if p := cmp.Or(a.Primary, c.Agents.Defaults.Model.Primary); p != "" {
		s.Primary = g.models.Named(p)
	}
	fallbacks := c.Agents.Defaults.Model.Fallbacks
	if a.Primary != "" {
		fallbacks = a.Fallbacks
	}
	for _, name := range fallbacks {
		s.Fallbacks = append(s.Fallbacks, g.models.Named(name))
	}
	return s
}

func (g *Gateway) maxWait() time.Duration {
	n, err := strconv.Atoi(g.opts.Env(envMaxWait))
	if err != nil || n < 0 {
		return failover.DefaultMaxWait
	}
	return min(time.Duration(n)*time.Second, failover.MaxMaxWait)
}

// resolve makes a model ready, with one account of its service.
func (g *Gateway) resolve(ctx context.Context, ref model.Ref, account string) (failover.Target, error) {
	c, err := g.models.ResolveAs(ctx, ref, account)
	if err != nil {
		return failover.Target{}, err
	}
	return failover.Target{
		Ref: c.Ref, Provider: pausing{c.Provider, g, c.Ref}, ContextWindow: c.ContextWindow, BuiltIn: c.BuiltIn, Tools: c.Tools, Images: c.Images, Local: c.Local, Source: c.Source,
		MaxTokens: g.config.Snapshot().Config.Agents.Defaults.MaxTokens,
	}, nil
}

// accounts are the book's, as the failover wants them.
type accounts struct{ g *Gateway }

func (a accounts) Candidates(service, modelID string, pin failover.Pin) []failover.Account {
	if a.g.book == nil {
		return nil
	}
	list := a.g.book.Candidates(service, modelID, profile.Pin{Profile: pin.ID, User: pin.User}, a.g.opts.Now())
	out := make([]failover.Account, len(list))
	for i, c := range list {
		out[i] = failover.Account{ID: c.ID, Until: c.Until, Scoped: c.Scope == profile.ScopeModel}
		if c.Blocked() {
			out[i].Reason = failover.ReasonOf(&model.Error{Class: c.Reason})
		}
	}
	return out
}

func (a accounts) Used(ctx context.Context, id string) {
	if a.g.book != nil && id != "" {
		a.g.book.Use(ctx, id)
	}
}

func (a accounts) Failed(ctx context.Context, id, modelID string, f failover.Failure) {
	if a.g.book != nil {
		a.g.book.Fail(ctx, id, modelID, profile.Failure{Class: f.Class, RetryAfter: f.RetryAfter})
	}
}

func (a accounts) Succeeded(ctx context.Context, id, modelID string) {
	if a.g.book != nil {
		a.g.book.Succeed(ctx, id, modelID)
	}
}

// tellRoute sends a notice of Hearth's own where a run's answer goes, in the
// run's transaction.
func (g *Gateway) tellRoute(tx *store.Tx, run session.Run, id, text string) error {
	r, ok := channel.ParseRoute(run.Route)
	if !ok || !r.Delivered() || !g.maySend(run.SessionKey, r) {
		return nil
	}
	return g.deliverer.Put(tx, outbound.Delivery{
		ID: run.ID + ":notice:" + id, Channel: r.Channel, To: r.Target(""), Session: run.SessionKey, RunID: run.ID, Text: text, Reply: outbound.ReplyOff,
	})
}
