package shell

import (
	"context"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/launch"
)

// start starts exactly the plan that was allowed, or nothing.
func (r *run) start(ctx context.Context) error {
	place := launch.Place{Resolver: r.Resolver, Home: r.Home, Environ: r.Environ, Hide: r.Hide}
	s, err := place.Spec(ctx, r.wish.Plan, launch.Terms{
		Owner: r.call.SessionKey, Workspace: r.call.Workspace, Confined: r.confined,
		Read: r.settings.Read, Write: r.settings.Write, Network: r.settings.Network, Extra: r.extra(ctx),
		TTY: r.args.PTY, Input: r.args.Background || r.args.PTY, Timeout: r.timeout(), Pin: r.pin,
	})
	if err != nil {
		return err
	}
	if err = r.keep(ctx); err == nil {
		if r.p, err = r.Keeper.Start(ctx, s); err != nil {
			r.settle(context.WithoutCancel(ctx)) // nothing ran
		}
	}
	if err != nil {
		_ = os.RemoveAll(s.Temp)
	}
	return err
}

// extra are the variables for this call alone.
func (r *run) extra(ctx context.Context) []string {
	if r.Extra == nil {
		return nil
	}
	return r.Extra(ctx, r.call)
}

func (r *run) timeout() time.Duration {
	if r.args.Timeout > 0 {
		return min(time.Duration(r.args.Timeout*float64(time.Second)), maxTimeout)
	}
	if r.settings.Timeout > 0 {
		return r.settings.Timeout
	}
	return defaultTimeout
}
