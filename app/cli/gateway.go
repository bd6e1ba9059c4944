package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/frontend"
	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/harden"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type gatewayOptions struct {
	port     int
	quiet    bool
	verbose  bool
	lifeline bool
	rehearse bool
	onTrial  bool
}

// firstLink is how long the link that a start prints can be used.
const firstLink = 10 * time.Minute

func newGateway(a *app) *cobra.Command {
	var o gatewayOptions
	c := &cobra.Command{
		Use:   "gateway",
		Short: "Run Hearth in the foreground",
		Long: `Run Hearth in the foreground until Ctrl-C.

It listens on this machine only, on port 18789 or the next free one, and prints
its address and a link for the browser. Stopping it loses nothing: answers that
are being written are kept, waiting messages are answered after the next start.

HEARTH_HOME names the folder for its data, HEARTH_CONFIG the settings file.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runGateway(ctx, a, o) }),
	}
	c.Flags().IntVar(&o.port, "port", 0, "listen on this `PORT` instead of gateway.port")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print warnings only")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "print all that the log gets")
	c.Flags().BoolVar(&o.lifeline, "lifeline", false, "stop when standard input ends, as it does when the program that started this one is "+
		"gone")
	_ = c.Flags().MarkHidden("lifeline") // for hearth-tray
	c.Flags().BoolVar(&o.rehearse, "rehearse", false, "start on a copy, without acting or talking to anybody")
	c.Flags().BoolVar(&o.onTrial, "on-trial", false, "this is the program that runs, and somebody watches it")
	_ = c.Flags().MarkHidden("rehearse") // for the version that is to be replaced
	_ = c.Flags().MarkHidden("on-trial")
	return c
}

// guardian is this program as the watcher over commands. On Linux it is named
// so that it is the one that runs, also after an update has replaced its file.
func guardian() []string {
	exe := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return nil // running a command then says that it cannot be done
		}
	}
	return []string{exe, os.Args[0], gateway.GuardianArg}
}

// readyJSON is the line of `gateway --json` that says that it is up.
type readyJSON struct {
	Type     string `json:"type"`
	URL      string `json:"url"`
	Launch   string `json:"launch,omitempty"`
	StateDir string `json:"stateDir"`
	Version  string `json:"version"`
}

func runGateway(ctx context.Context, a *app, o gatewayOptions) error {
	if o.port < 0 || o.port > 65535 {
		return usage("--port must be between 1 and 65535")
	}
	dir, err := a.dir()
	if err != nil {
		return &failure{code: exitConfig, message: err.Error()}
	}
	if !o.rehearse && !o.onTrial {
		if err := a.route(dir); err != nil {
			return err
		}
	}
	if o.rehearse {
		o.port = -1 // any: nobody looks for it
	}
	var held *lifeline
	if o.lifeline {
		var stop context.CancelFunc
		ctx, held, stop = hold(ctx, a.In)
		defer stop()
	}
	if err := harden.Process(); err != nil {
		_ = a.errs().print(yellow("Note: "), "the memory of this process is not protected: "+line(err.Error()), "\n")
	}
	if exe, err := beside.Self(); err == nil { // else it cannot be updated, and says so
		a.Release.Program = exe
	}
	for again := true; again; {
		if again, err = serveGateway(ctx, a, o, dir, held); err != nil {
			return err
		}
	}
	if !o.quiet && !a.asJSON {
		return a.errs().print(dim("Hearth has stopped."), "\n")
	}
	return nil
}

// serveGateway runs a gateway until it ends; again: it fell asleep, or was woken, and
// has to run as what it is now.
func serveGateway(ctx context.Context, a *app, o gatewayOptions, dir statedir.Dir, held *lifeline) (again bool, err error) {
	slept := move.Asleep(dir)
	g, err := gateway.New(ctx, gateway.Options{
		Dir: dir, ConfigPath: dir.Config(a.Env), Env: a.Env, Port: o.port,
		Guardian: guardian(), Pages: frontend.Dist(), Version: a.Version, Logger: notices(a.errs(), o.verbose),
		AtLogin: startAtLogin(a.Env), Farewell: held.farewell, Release: a.Release, Rehearsal: o.rehearse,
	})
	if err != nil {
		return false, startFailure(err)
	}
	if err := greet(a, g, o, string(dir)); err != nil {
		return false, err
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	select {
	case err = <-served:
	case err := <-g.Stuck(): // Serve would wait for what does not move
		return false, &failure{exitFailure, err.Error(), "start it again: `hearth gateway`; what was accepted is safe"}
	}
	if err != nil {
		return false, startFailure(err)
	}
	if ctx.Err() == nil && !o.rehearse && !o.onTrial { // it made room for another; who watches knows for which
		if err := a.route(dir); err != nil {
			return false, err
		}
	}
	return move.Asleep(dir) != slept && ctx.Err() == nil && !o.rehearse, nil
}

func startFailure(err error) error {
	var se *gateway.StartError
	if !errors.As(err, &se) {
		return err
	}
	msg := se.What
	if se.Err != nil {
		msg += ": " + se.Err.Error()
	}
	return &failure{exitConfig, msg, se.Fix}
}

func greet(a *app, g *gateway.Gateway, o gatewayOptions, dir string) error {
	if o.quiet {
		return nil
	}
	link, err := g.LaunchLink(firstLink)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().jsonLine(readyJSON{"ready", g.URL(), link, dir, a.Version})
	}
	return a.out().print(
		bold("Hearth "+a.Version), "\n",
		"  ", dim("Address "), " ", g.URL(), "\n",
		"  ", dim("Open    "), " ", link, dim("  (once, within "+span(firstLink)+"; later: hearth open)"), "\n",
		"  ", dim("Data    "), " ", dir, "\n",
		"  ", dim("Ctrl-C stops it."), "\n")
}
