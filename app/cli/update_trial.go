package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// A new version is on trial under the eyes of the one before it, which is known to
// work: `hearth gateway` of whichever version sees that in the state and goes on as
// the older one's `hearth update trial`, which starts the new one as its child, makes
// it the one that is used when it answers, and takes it back when it fails. It is the
// process that was started, so a service, the icon or a terminal keep what they have.

// newTrial is for programs only.
func newTrial(a *app) *cobra.Command {
	return &cobra.Command{Use: "trial", Hidden: true, Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: a.run(func(ctx context.Context, args []string) error {
			w, err := a.watcher(args)
			if err != nil {
				return err
			}
			return w.run(ctx)
		})}
}

// route goes on as another program where another one is to run: the watcher of a
// trial, or the version that is used. It returns when this one is.
func (a *app) route(dir statedir.Dir) error {
	st, err := release.Read(dir)
	if err != nil {
		_ = a.errs().print(yellow("Note: "), line(err.Error()), "\n")
		return nil
	}
	exe, err := beside.Self()
	if err != nil {
		return nil // it cannot have been updated
	}
	in := release.At(exe)
	switch from := under(st, in); {
	case from == "":
	case in.Has(from):
		return become(in.Program(from, "hearth"), a.trialArgs())
	case in.Version == "" && from == a.Version: // it has no folder yet
		return become(exe, a.trialArgs())
	default:
		_ = a.errs().print(yellow("Note: "), "version "+line(from)+" is not there any more, so nothing watches over this start.\n")
	}
	if now := in.Current(); in.Version != "" && now != in.Version && in.Has(now) && under(st, in) == "" {
		return become(in.Program(now, "hearth"), a.args)
	}
	return nil
}

// under is the version of an installation that watches over the next start, "" for
// none.
func under(st release.State, in release.Install) string {
	switch {
	case st.Going != nil && st.Going.Root == in.Root:
		return st.Going.To
	case st.Trial != nil && st.Trial.Root == in.Root:
		return st.Trial.From
	}
	return ""
}

func (a *app) trialArgs() []string { return append([]string{"update", "trial"}, a.args...) }

// watcher is the older version while the newer one is on trial.
type watcher struct {
	a    *app
	dir  statedir.Dir
	in   release.Install
	args []string // of the gateway
	// unlock lets another watcher begin; nil while there is another.
	unlock func()
}

func (a *app) watcher(args []string) (*watcher, error) {
	if len(args) == 0 || args[0] != "gateway" && !slices.Contains(args, "gateway") {
		return nil, usage("this command is for Hearth itself")
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	exe, err := beside.Self()
	if err != nil {
		return nil, err
	}
	return &watcher{a: a, dir: dir, in: release.At(exe), args: args}, nil
}

// run does what the state says until the gateway ends, or goes on as it.
func (w *watcher) run(ctx context.Context) error {
	stay()
	soon, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	unlock, err := w.dir.Lock(soon, "update-trial")
	if err != nil { // somebody watches already; a second gateway says so itself
		return w.plain(w.in.Current(), "--on-trial")
	}
	w.unlock = unlock
	defer unlock()
	for {
		st, err := release.Read(w.dir)
		switch {
		case err != nil:
			return err
		}
		switch on := under(st, w.in); {
		case on == "":
			return w.plain(w.in.Current())
		case on != w.a.Version && w.in.Has(on): // the version that was watched is replaced itself
			w.unlock()
			return become(w.in.Program(on, "hearth"), append([]string{"update", "trial"}, w.args...))
		case st.Going != nil:
			return w.goBack(ctx, st.Going)
		}
		again, err := w.try(ctx, st.Trial)
		if !again || err != nil {
			return err
		}
	}
}

// plain goes on as a version, which nobody watches.
func (w *watcher) plain(version string, flags ...string) error {
	exe := w.in.Program(version, "hearth")
	if !w.in.Has(version) {
		var err error
		if exe, err = beside.Self(); err != nil {
			return err
		}
	}
	if w.unlock != nil {
		w.unlock()
	}
	return become(exe, append(slices.Clone(w.args), flags...))
}

// try starts the new version once and watches it to its end. again: it is to be
// looked anew what runs next.
func (w *watcher) try(ctx context.Context, t *release.Trial) (again bool, err error) {
	tooOften := false
	if _, err := release.Change(w.dir, func(s *release.State) { tooOften = s.Trial.Begin() }); err != nil {
		return false, err
	}
	if tooOften {
		return true, w.takeBack(ctx, "it was started several times and never answered")
	}
	// Until the new version has answered, whoever starts Hearth starts the old one,
	// which is known to work: after a power cut it watches again.
	if err := w.in.Ready(t.From, t.To); err != nil {
		return true, w.takeBack(ctx, "it could not be put in its place: "+err.Error())
	}
	if w.in.Version == "" { // this program lay in Root and has its folder now
		w.in.Version = t.From
	}
	child := exec.Command(w.in.Program(t.To, "hearth"), append(slices.Clone(w.args), "--on-trial")...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	apart(child)
	if err := child.Start(); err != nil {
		return true, w.takeBack(ctx, "it does not start: "+err.Error())
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	return w.watch(ctx, child, ended, t)
}

// watch stands by until the new version ends or has failed.
func (w *watcher) watch(ctx context.Context, child *exec.Cmd, ended <-chan error, t *release.Trial) (again bool, err error) {
	look, stop := context.WithCancel(ctx)
	defer stop()
	healthy := make(chan struct{})
	go func() {
		if w.healthy(look, child.Process.Pid, t.To) {
			close(healthy)
		}
	}()
	health, kept := time.NewTimer(release.Health()), time.NewTimer(time.Hour)
	kept.Stop()
	answers := (<-chan struct{})(healthy)
	for {
		select {
		case <-answers:
			answers = nil
			health.Stop()
			if err := w.in.Switch(t.From, t.To); err != nil {
				w.stop(child, ended)
				return true, w.takeBack(ctx, "it could not be put in its place: "+err.Error())
			}
			kept.Reset(release.Watch())
			if _, err := release.Change(w.dir, func(s *release.State) {
				if s.Trial != nil {
					s.Trial.Starts, s.Trial.Healthy = 0, time.Now()
				}
			}); err != nil {
				_ = w.a.errs().print(yellow("Note: "), line(err.Error()), "\n")
			}
		case <-health.C:
			w.stop(child, ended)
			return true, w.takeBack(ctx, fmt.Sprintf("it did not answer within %s", release.Health()))
		case <-kept.C:
			if _, err := release.Change(w.dir, func(s *release.State) { s.Passed(time.Now()) }); err != nil {
				kept.Reset(time.Minute) // the disk may be full
			}
		case <-ctx.Done():
			w.stop(child, ended)
			return false, nil
		case err := <-ended:
			return w.ended(ctx, t.To, err)
		}
	}
}

// ended says what the end of the new version means.
func (w *watcher) ended(ctx context.Context, to string, err error) (again bool, _ error) {
	st, rerr := release.Read(w.dir)
	if rerr != nil {
		return false, rerr
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return false, nil
	case st.Going != nil || st.Trial != nil && st.Trial.To != to: // it made room for another
		return true, nil
	case err == nil:
		return false, nil
	case st.Trial == nil: // it has proved itself; whoever started it starts it again
		if errors.As(err, &exit) {
			return false, &failure{code: max(exit.ExitCode(), 1)}
		}
		return false, err
	}
	enough := false
	if _, err := release.Change(w.dir, func(s *release.State) { enough = s.Trial.Crash(time.Now()) }); err != nil {
		return false, err
	}
	if enough {
		return true, w.takeBack(ctx, fmt.Sprintf("it crashed %d times within %s (%v)", release.CrashLimit, release.CrashTime, err))
	}
	select {
	case <-time.After(250 * time.Millisecond):
	case <-ctx.Done():
		return false, nil
	}
	return true, nil
}

// stop ends the new version, in order if it can.
func (w *watcher) stop(child *exec.Cmd, ended <-chan error) {
	end(child)
	select {
	case <-ended:
	case <-time.After(25 * time.Second):
		_ = child.Process.Kill()
		<-ended
	}
}

// takeBack puts the older version back in its place; nobody runs. The next look at
// the state then goes on as it.
func (w *watcher) takeBack(ctx context.Context, reason string) error {
	st, err := release.Read(w.dir)
	if err != nil || st.Trial == nil {
		return err
	}
	kept, lost, err := release.StoreBack(ctx, w.dir, st.Trial.Copy, time.Now(), recovery.Count)
	if err != nil {
		return &failure{exitFailure, "version " + st.Trial.To + " failed (" + reason + "), and the database is not one that " + w.a.Version +
			" can use: " + err.Error(), "`hearth store check` says what can be done; nothing was removed"}
	}
	if err := w.in.Return(st.Trial.From); err != nil {
		return err
	}
	_, err = release.Change(w.dir, func(s *release.State) { s.TakenBack(time.Now(), reason, kept, lost) })
	if err == nil {
		_ = w.a.errs().print(yellow("Note: "), "version "+line(st.Trial.To)+" was taken back: "+line(reason)+". "+line(st.Trial.From)+
			" goes on.\n")
	}
	return err
}

// goBack goes on as the older version, as its person wanted.
func (w *watcher) goBack(ctx context.Context, g *release.Going) error {
	if err := w.a.finishBack(ctx, w.dir, w.in, g); err != nil {
		return err
	}
	return w.plain(g.To)
}

// finishBack puts the older version and, where it has to be, its store back in their
// places. This program is the older version.
func (a *app) finishBack(ctx context.Context, dir statedir.Dir, in release.Install, g *release.Going) error {
	kept, lost, err := release.StoreBack(ctx, dir, g.Copy, time.Now(), recovery.Count)
	if err != nil {
		_, _ = release.Change(dir, func(s *release.State) { s.Going, s.Exchange = nil, nil })
		return &failure{exitFailure, "the database is not one that " + a.Version + " can use: " + err.Error(),
			"nothing was changed; start `hearth gateway` again to go on with " + g.From}
	}
	if err := in.Return(g.To); err != nil {
		return err
	}
	_, err = release.Change(dir, func(s *release.State) { s.Gone(time.Now(), kept, lost) })
	return err
}

// healthy waits until the new version answers as itself; false when ctx ended first.
func (w *watcher) healthy(ctx context.Context, pid int, version string) bool {
	for again := time.NewTicker(50 * time.Millisecond); ; {
		r, err := w.dir.ReadRuntime()
		if err == nil && r.PID == pid && r.Version == version && w.answers(ctx) == nil {
			again.Stop()
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return false
		}
	}
}

// answers asks it as any program would.
func (w *watcher) answers(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	c, err := w.a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	var out any
	return c.Call(ctx, protocol.MethodStatus, nil, &out)
}
