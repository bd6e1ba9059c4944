package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/launch"
)

// start starts exactly the plan that was allowed, or nothing.
func (r *run) start(ctx context.Context) error {
	place := launch.Place{Resolver: r.Resolver, Home: r.Home, Environ: r.Environ, Hide: r.Hide}
	terms, err := r.held()
	if err != nil {
		return err
	}
	s, err := place.Spec(ctx, r.wish.Plan, launch.Terms{
		Owner: r.call.SessionKey, Workspace: terms.Workspace, Confined: r.confined, Same: terms.Same, Stay: terms.Stay,
		Read: r.settings.Read, Write: terms.Write, Network: r.settings.Network, Extra: r.extra(ctx),
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

// held are the folders that the command may change, as they were when Hearth
// first used them.
func (r *run) held() (launch.Terms, error) {
	t := launch.Terms{Workspace: r.call.Workspace, Write: r.settings.Write, Same: map[string]fs.FileInfo{}}
	if r.Stay != nil {
		t.Stay = r.Stay()
	}
	t.Stay = append(t.Stay, r.settings.Read...)
	t.Stay = append(append(t.Stay, r.settings.Write...), r.call.Workspace)
	if r.Hold == nil || r.call.Workspace == "" {
		return t, nil
	}
	real, info, err := r.hold(r.call.Workspace)
	if err != nil {
		return t, err
	}
	t.Workspace, t.Same[real] = real, info
	t.Write = nil
	for _, w := range r.settings.Write {
		if st, err := os.Stat(w); err == nil && st.IsDir() {
			real, info, err := r.Hold(w)
			if err != nil {
				return t, err
			}
			w, t.Same[real] = real, info
		}
		t.Write = append(t.Write, w)
	}
	return t, nil
}

// hold finds a workspace, which it makes when there is none.
func (o Options) hold(workspace string) (real string, which fs.FileInfo, err error) {
	if o.Hold == nil || workspace == "" {
		return workspace, nil, nil
	}
	real, which, err = o.Hold(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(workspace, 0o700); err != nil {
			return "", nil, fmt.Errorf("the workspace cannot be made: %w", err)
		}
		return o.Hold(workspace)
	}
	return real, which, err
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
