package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type updateOptions struct {
	channel            string
	check, back, retry bool
	yes                bool
}

func newUpdate(a *app) *cobra.Command {
	var o updateOptions
	c := &cobra.Command{
		Use: "update", Short: "Bring the newest version of Hearth, or go back to the one before", Args: cobra.NoArgs,
		Long: `Bring the newest version of Hearth: look what there is, verify who signed it, try
it on a copy of your data, then change over, which takes a second or two. Nothing
that was said is lost. When the new version does not answer within a minute, or
crashes three times within five, the old one comes back by itself; for two weeks you
can go back yourself.

Where a package manager owns the programs, this only says how to update there.`,
		Example: "  hearth update --check\n  hearth update\n  hearth update --back",
		RunE:    a.run(func(ctx context.Context, _ []string) error { return runUpdate(ctx, a, o) }),
	}
	c.Flags().StringVar(&o.channel, "channel", "", "stable or beta, this once (default: update.channel)")
	c.Flags().BoolVar(&o.check, "check", false, "only say whether there is a new version")
	c.Flags().BoolVar(&o.back, "back", false, "go back to the version before")
	c.Flags().BoolVar(&o.retry, "retry", false, "also take a version that was taken back before")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask before going back")
	c.AddCommand(newTrial(a))
	return c
}

func runUpdate(ctx context.Context, a *app, o updateOptions) error {
	if o.channel != "" && o.channel != "stable" && o.channel != "beta" {
		return usage("there is no channel %q; there are stable and beta", o.channel)
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	switch {
	case errors.Is(err, statedir.ErrNotRunning):
		return a.updateHere(ctx, dir, o)
	case err != nil:
		return err
	}
	defer c.Close()
	u := &updating{a: a, c: c, dir: dir, o: o}
	switch {
	case o.check:
		return u.check(ctx)
	case o.back:
		return u.back(ctx)
	}
	return u.update(ctx)
}

// updating is an update of the gateway that runs.
type updating struct {
	a   *app
	c   *client.Client
	dir statedir.Dir
	o   updateOptions
}

func (u *updating) status(ctx context.Context) (s protocol.UpdateStatus, err error) {
	err = u.c.Call(ctx, protocol.MethodUpdateStatus, nil, &s)
	return s, err
}

func (u *updating) check(ctx context.Context) error {
	s, err := u.status(ctx)
	if err != nil {
		return err
	}
	if s.Source == "" {
		return blockedFailure(s.Blocked)
	}
	if err := u.c.Call(ctx, protocol.MethodUpdateCheck, protocol.UpdateCheckParams{Channel: u.o.channel}, &s); err != nil {
		return err
	}
	if s.UpdateAvailable == nil {
		return u.a.tellNewest(s, s.Version, u.o.channel)
	}
	n := s.UpdateAvailable
	return u.a.tellNew(s, n.LatestVersion, s.Version, n.Notes, cmp.Or(triedHere(n.Bad), s.Blocked))
}

func blockedFailure(why string) error { return &failure{exitFailure, why, "nothing was changed"} }

func (a *app) tellNewest(v any, version, channel string) error {
	words := "Hearth " + line(version) + " is the newest version."
	if channel != "" {
		words = "Hearth " + line(version) + " is the newest version of the channel " + channel + "."
	}
	return a.done(v, words)
}

// triedHere is how a version is told that was taken back, "" for one that was not.
func triedHere(why string) string {
	if why == "" {
		return ""
	}
	return "It was tried here and taken back: " + line(why) + "\n`hearth update --retry` tries it again."
}

// tellNew says that there is a newer version, and instead of how it is installed what
// is in its way.
func (a *app) tellNew(v any, version, than, notes, instead string) error {
	words := "There is a new version: " + line(version) + " (this is " + line(than) + ")."
	for l := range strings.Lines(strings.TrimSpace(notes)) {
		words += "\n  " + line(strings.TrimRight(l, "\r\n"))
	}
	return a.done(v, words+"\n"+cmp.Or(instead, "`hearth update` installs it."))
}

// pollStep is how often it is asked how far an update is.
const pollStep = 200 * time.Millisecond

func (u *updating) update(ctx context.Context) error {
	s, err := u.status(ctx)
	if err != nil {
		return err
	}
	if s.Blocked != "" {
		return blockedFailure(s.Blocked)
	}
	var began protocol.UpdateRunResult
	if err := u.c.Call(ctx, protocol.MethodUpdateRun, protocol.UpdateRunParams{Channel: u.o.channel, Retry: u.o.retry}, &began); err != nil {
		return err
	}
	t := &teller{a: u.a}
	for {
		s, err := u.status(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return errInterrupted
			}
			return u.outcome(ctx, t) // it hands over
		}
		r := s.ActiveRun
		switch {
		case r == nil || r.RunID != began.RunID:
			return u.outcome(ctx, t)
		case r.Status == "skipped":
			return u.a.done(r, line(r.Reason))
		case r.Status == "failed":
			return &failure{exitFailure, r.Reason, "Hearth goes on as it is"}
		}
		t.tell(r.Phase, r.To, r.Have, r.Total)
		if aMoment(ctx, pollStep) != nil {
			return errInterrupted
		}
	}
}

// outcome waits for what becomes of the new version. The state says so, whichever
// version writes it.
func (u *updating) outcome(ctx context.Context, t *teller) error {
	limit := release.Health() + 30*time.Second
	for end := time.Now().Add(limit); time.Now().Before(end); {
		st, err := release.Read(u.dir)
		if err != nil {
			return err
		}
		switch {
		case st.Trial != nil:
			t.tell(release.PhaseRestarting, st.Trial.To, 0, 0)
			if !st.Trial.Healthy.IsZero() {
				return u.a.done(st.Trial, "Hearth "+line(st.Trial.To)+" runs. `hearth update --back` brings "+line(st.Trial.From)+
					" back, for two weeks.")
			}
		case st.Last != nil && st.Last.Result == release.RolledBack:
			return &failure{exitFailure, "the update to " + st.Last.To + " was taken back: " + st.Last.Reason,
				"Hearth " + st.Last.From + " goes on; `hearth doctor` says more"}
		case st.Last != nil && st.Last.Result == release.Updated:
			return u.a.done(st.Last, "Hearth "+line(st.Last.To)+" runs.")
		}
		if aMoment(ctx, pollStep) != nil {
			return errInterrupted
		}
	}
	return &failure{exitFailure, "it is not known what became of the update: the new version has not answered within " + limit.String(),
		"`hearth status` and `hearth doctor` say how Hearth is; `hearth gateway` starts it"}
}

func (u *updating) back(ctx context.Context) error {
	s, err := u.status(ctx)
	if err != nil {
		return err
	}
	to := ""
	if s.Back != nil {
		to = s.Back.Version
	} else if st, err := release.Read(u.dir); err == nil && st.Trial != nil && st.Trial.To == s.Version {
		to = st.Trial.From
	}
	if err := u.a.agreeBack(u.o, s.Version, to); err != nil {
		return err
	}
	// The gateway leaves at once, and its answer may be lost with the connection.
	if err := u.c.Call(ctx, protocol.MethodUpdateBack, nil, &protocol.UpdateRunResult{}); err != nil && !errors.Is(err, client.ErrLost) {
		return err
	}
	for end := time.Now().Add(release.Health() + 30*time.Second); time.Now().Before(end); {
		st, err := release.Read(u.dir)
		if err != nil {
			return err
		}
		if r, rerr := u.dir.ReadRuntime(); st.Going == nil && st.Last != nil && st.Last.Result == release.WentBack && rerr == nil &&
			r.Version == st.Last.To {
			return u.a.tellBack(st.Last)
		}
		if aMoment(ctx, pollStep) != nil {
			return errInterrupted
		}
	}
	return &failure{exitFailure, "the version before has not answered", "`hearth doctor` says how Hearth is; `hearth gateway` starts it"}
}

func (a *app) tellBack(l *release.Outcome) error {
	words := "Hearth " + line(l.To) + " is back."
	if l.Kept != "" {
		words += " It cannot use the database as " + line(l.From) + " had changed it, and goes on with the copy of before: " +
			count(l.Lost, "message") + " said since then not in it. The newer one is kept: " + line(l.Kept) + "."
	}
	return a.done(l, words)
}

func (a *app) agreeBack(o updateOptions, from, to string) error {
	if to == "" {
		return &failure{exitFailure, "there is no version before " + from + " to go back to", "the one before is kept for two weeks after an " +
			"update"}
	}
	if o.yes {
		return nil
	}
	ok, err := a.agree("Go back from " + line(from) + " to " + line(to) + "? Your conversations stay; should " + line(to) +
		" be unable to use the\ndatabase as it is now, the copy of before the update is used and this one kept. [y/N] ")
	if err != nil {
		return err
	}
	if !ok {
		return a.declined()
	}
	return nil
}

// aMoment waits a moment.
func aMoment(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// teller says how far an update is: each phase once, and the download by tenths.
type teller struct {
	a     *app
	phase string
	tenth int64
}

func (t *teller) tell(phase, to string, have, total int64) {
	if t.a.asJSON {
		return
	}
	if phase != t.phase && phase != "" && to != "" {
		t.phase = phase
		_ = t.a.errs().print(dim(map[string]string{
			release.PhaseStaging:    "Bringing " + line(to) + " …",
			release.PhaseValidating: "Trying " + line(to) + " on a copy of your data …",
			release.PhaseRestarting: "Changing over to " + line(to) + " …",
		}[phase]), "\n")
	}
	if total > 0 && have*10/total > t.tenth {
		t.tenth = have * 10 / total
		_ = t.a.errs().print(dim(fmt.Sprintf("  %d %% of %s", t.tenth*10, size(total))), "\n")
	}
}

// updateHere does it while no gateway runs: the next start is the new version's.
func (a *app) updateHere(ctx context.Context, dir statedir.Dir, o updateOptions) error {
	exe, err := beside.Self()
	if err != nil {
		return err
	}
	in := release.At(exe)
	if o.back {
		return a.backHere(ctx, dir, in, o)
	}
	snap, err := a.settings(ctx)
	if err != nil {
		return err
	}
	s := release.Section.Of(snap.Config)
	src, anchor, err := a.Release.Where(s.Source, s.Key)
	blocked := in.Updatable(a.Env)
	if owned := (*release.NotOurs)(nil); blocked != nil && (!o.check || errors.As(blocked, &owned)) {
		return blockedFailure(blocked.Error())
	}
	if err != nil {
		return blockedFailure(err.Error())
	}
	stopped, err := release.OpenStopped(ctx, dir, time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = stopped.Close(context.WithoutCancel(ctx)) }()
	t := &teller{a: a}
	u := release.Updater{
		Dir: dir, Install: in, Version: a.Version, Source: src, Anchor: anchor, Channel: s.Channel, Env: a.Env, Now: time.Now,
		Paused: stopped.Paused, Copy: stopped.Copy, Count: recovery.Count,
	}
	if o.channel != "" {
		u.Channel = o.channel
	}
	if snap.Exists {
		if u.Settings, err = os.ReadFile(snap.Path); err != nil {
			return err
		}
	}
	m, newer, err := u.Check(ctx)
	if err != nil {
		return &failure{exitFailure, "it cannot be said whether there is a new version: " + err.Error(), ""}
	}
	st, err := release.Read(dir)
	switch {
	case err != nil:
		return err
	case !newer:
		return a.tellNewest(st.Checked, a.Version, o.channel)
	case o.check:
		instead := triedHere(st.Bad[m.Version])
		if instead == "" && blocked != nil {
			instead = protocol.Sentence(blocked.Error())
		}
		return a.tellNew(st.Checked, m.Version, a.Version, m.Notes, instead)
	case st.Bad[m.Version] != "" && !o.retry:
		return &failure{exitFailure, "version " + m.Version + " was tried and taken back: " + st.Bad[m.Version],
			"`hearth update --retry` tries it again"}
	}
	u.Told = func(p release.Progress) { t.tell(p.Phase, m.Version, p.Have, p.Total) }
	if err := u.Prepare(ctx, m); err != nil {
		if ctx.Err() == nil {
			release.Failure(dir, a.Version, m.Version, time.Now(), err)
		}
		return &failure{exitFailure, err.Error(), "Hearth stays as it is"}
	}
	if err := in.Ready(a.Version, m.Version); err != nil {
		return err
	}
	return a.done(st.Checked, "Hearth "+line(m.Version)+" is installed. It starts with `hearth gateway`, watched for its first minutes.")
}

// backHere goes back while no gateway runs. The older version does it, which knows
// what store it can use.
func (a *app) backHere(ctx context.Context, dir statedir.Dir, in release.Install, o updateOptions) error {
	st, err := release.Read(dir)
	if err != nil {
		return err
	}
	if st.Going != nil && st.Going.To == a.Version {
		if err := a.finishBack(ctx, dir, in, st.Going); err != nil {
			return err
		}
		if st, err = release.Read(dir); err != nil {
			return err
		}
		return a.tellBack(st.Last)
	}
	if st.Trial != nil && st.Trial.From == a.Version && st.Trial.Root == in.Root { // it has not proved itself yet
		return a.dropTrial(ctx, dir, in, o, st.Trial)
	}
	to := ""
	switch {
	case st.Trial != nil && st.Trial.To == a.Version:
		to = st.Trial.From
	case st.Back != nil && st.Back.From == a.Version:
		to = st.Back.Version
	}
	if err := a.agreeBack(o, a.Version, to); err != nil {
		return err
	}
	if to, err = release.GoBack(dir, in, a.Version, time.Now()); err != nil {
		return &failure{exitFailure, err.Error(), "nothing was changed"}
	}
	return become(in.Program(to, "hearth"), []string{"update", "--back", "--yes"})
}

// dropTrial stays with the version that is used while a newer one waits for its trial,
// or for another try.
func (a *app) dropTrial(ctx context.Context, dir statedir.Dir, in release.Install, o updateOptions, t *release.Trial) error {
	if err := a.agreeBack(o, t.To, t.From); err != nil {
		return err
	}
	g := &release.Going{From: t.To, To: t.From, Root: t.Root, Copy: t.Copy}
	if _, err := release.Change(dir, func(s *release.State) { s.Going, s.Trial = g, nil }); err != nil {
		return err
	}
	if err := a.finishBack(ctx, dir, in, g); err != nil {
		return err
	}
	st, err := release.Read(dir)
	if err != nil {
		return err
	}
	return a.tellBack(st.Last)
}
