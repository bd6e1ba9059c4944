// Package gateway puts the engine together: it makes the parts of the kernel,
// then the features from them (features.go is the one list), owns start-up and
// shutdown, and opens the port. What Hearth can do is in gateway/feature, what
// every feature stands on in the packages beside it; docs/architecture.md says
// what is where, and internal/meta that less and less stands here.
package gateway

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/feature/onboarding"
	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/teardown"
)

// Options of a Gateway.
type Options struct {
	Dir        statedir.Dir
	ConfigPath string              // "" = Dir's
	Env        func(string) string // the process environment
	Port       int                 // overrides gateway.port; 0 = as configured, -1 = any that is free
	Pages      fs.FS               // the web app
	Version    string
	// Guardian is what ends in Guardian: a file, then its arguments, beginning
	// with its name. Without it no command can run.
	Guardian []string
	Logger   *slog.Logger // for people at the terminal; the log file gets everything
	Now      func() time.Time
	// Booted is the time since the computer was started, with sleep; nil: as the
	// system says.
	Booted    func() (time.Duration, bool)
	AtLogin   AtLogin       // nil: not known here
	Release   release.Build // this program, and where new versions of it come from
	Rehearsal bool          // a try on a copy: nothing goes on in the background
	// Farewell is what is known, when Serve's context has ended, of why; nil:
	// nothing.
	Farewell func() Farewell
}

// Farewell is why a gateway is stopped, as far as who stops it says so.
type Farewell string

// Farewells.
const (
	FarewellNone  Farewell = ""
	FarewellQuit  Farewell = "quit"  // its person quit all of Hearth: windows close
	FarewellAgain Farewell = "again" // it is started again at once
)

// StartError is a reason not to start that a restart does not mend.
type StartError = startup.Error

// AtLogin has Hearth start when its person logs in.
type AtLogin = onboarding.AtLogin

// Gateway is a running engine: the kernel's parts in groups, and what starts and
// ends them.
type Gateway struct {
	base     *base
	access   *access
	guard    *guard
	engine   *engine
	talk     *talk
	runs     *runs
	networks *networks
	status   *status.Status

	ends      *teardown.Stack
	restart   chan struct{} // something will start us again
	comesBack atomic.Bool   // a restart was asked for
	stuck     chan error    // told once, see Stuck
}

// New starts the engine up to an open port, without serving it yet. An error
// that a restart cannot mend is a *StartError.
func New(ctx context.Context, opts Options) (*Gateway, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{restart: make(chan struct{}, 1), stuck: make(chan error, 1), ends: teardown.New(opts.Logger, drainTime)}
	if err := g.open(ctx, opts); err != nil {
		if errors.Is(err, store.ErrDamaged) {
			err = startup.Damaged(opts.Dir, err)
		}
		g.ends.Close(ctx)
		return nil, err
	}
	return g, nil
}

// open is the order of the start: each group is made of those before it, the
// features of all of them, and what waits since the last run is taken up at last.
func (g *Gateway) open(ctx context.Context, opts Options) (err error) {
	if g.base, err = openBase(ctx, opts, g.ends); err != nil {
		return err
	}
	if g.access, err = openAccess(ctx, g.base, g.ends, g.leaving); err != nil {
		return err
	}
	if g.guard, err = openGuard(ctx, g.base, g.access, g.ends); err != nil {
		return err
	}
	if g.engine, err = openEngine(ctx, g.base, g.access, g.guard); err != nil {
		return err
	}
	g.talk = openTalk(ctx, g.base, g.access, g.engine)
	if g.runs, err = openRuns(g.base, g.access, g.guard, g.talk, g.ends); err != nil {
		return err
	}
	g.networks = openNetworks(ctx, g.base, g.access, g.engine, g.talk, g.runs)
	if err := openFeatures(ctx, g); err != nil {
		return err
	}
	if g.base.asleep.Sleeps() {
		return g.talk.sessions.CountAll() // what waits is the other machine's to take up
	}
	rep, err := g.talk.sessions.Recover(ctx)
	if err != nil {
		g.base.Logger.Info("the messages of the last run could not be taken up", "error", err)
		return startup.Cannot("The messages of the last run could not be taken up", err,
			"Keep a copy of "+opts.Dir.Store()+" and report this")
	}
	if rep != (session.Recovery{}) {
		g.base.Logger.Info("took up what was left of the last run", "requeued", rep.Requeued, "interrupted", rep.Interrupted,
			"failed", rep.Failed)
	}
	return nil
}

// URL is where the gateway listens.
func (g *Gateway) URL() string { return g.access.url() }

// LaunchLink returns a link that pairs one browser on this machine, once.
func (g *Gateway) LaunchLink(ttl time.Duration) (string, error) {
	code, _, err := g.access.pairing.MintLaunch(ttl)
	if err != nil {
		return "", err
	}
	return g.URL() + "/#launch=" + code, nil
}

// Stuck tells when a part of the gateway has not moved for so long that only a new
// start helps: whoever runs it ends the process, without waiting for Serve.
func (g *Gateway) Stuck() <-chan error { return g.stuck }
