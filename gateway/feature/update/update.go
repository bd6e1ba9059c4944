// Package update is the feature that brings new versions of Hearth: it looks whether
// there is one, and brings and installs it when its person says so. How a version is
// verified, put in place and tried is package gateway/release's; ending this program
// and watching over the next is the command line's, which starts it.
package update

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

const (
	// firstLook is how long after the start it is first looked, step how often it is
	// looked whether a look is due.
	firstLook = 10 * time.Minute
	step      = 30 * time.Minute
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store    *store.DB
	Dir      statedir.Dir
	Settings *config.File
	Pause    *pause.Switch
	Release  release.Build
	Version  string
	Env      func(string) string
	Audit    *audit.Log
	Work     *background.Group
	Restart  chan<- struct{} // ends the gateway; who started it looks what is to run then
	Now      func() time.Time
	Log      *slog.Logger
}

type feature struct {
	Options
	install release.Install
	blocked error // why this program cannot update itself

	mu  sync.Mutex
	run *protocol.UpdateRun // the last of this start
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{Options: o}
	if o.Release.Program == "" {
		f.blocked = errors.New("it is not known where this program lies, so it cannot be replaced")
	} else {
		f.install = release.At(o.Release.Program)
		f.blocked = f.install.Updatable(o.Env)
	}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodUpdateStatus, f.status),
			method.Called(protocol.MethodUpdateRun, f.start),
			method.Plain(protocol.MethodUpdateCheck, f.check),
			method.Called(protocol.MethodUpdateBack, f.back),
		},
		Checks: f.checks, Problems: f.problems,
		Run: func(ctx context.Context) error {
			f.keep(ctx)
			return nil
		},
	}
}

func (f *feature) settings() release.Settings {
	return release.Section.Of(f.Settings.Snapshot().Config)
}

// updater is what gets versions, as the settings are now.
func (f *feature) updater(channel string) (release.Updater, error) {
	s := f.settings()
	if channel == "" {
		channel = s.Channel
	}
	src, anchor, err := f.Release.Where(s.Source, s.Key)
	if err != nil {
		return release.Updater{}, err
	}
	return release.Updater{
		Dir: f.Dir, Install: f.install, Version: f.Version, Source: src, Anchor: anchor, Channel: channel, Env: f.Env, Now: f.Now,
		Paused: func() error { return release.PausedBy(f.Pause) }, Copy: f.Store.Copy, Settings: []byte(f.Settings.Snapshot().Raw),
		Count: recovery.Count,
	}, nil
}

// whole is an error as a sentence, which some already are.
func whole(err error) string { return strings.TrimSuffix(protocol.Sentence(err.Error()), ".") + "." }

func (f *feature) status(context.Context, method.None) (protocol.UpdateStatus, error) {
	s := f.settings()
	out := protocol.UpdateStatus{EffectiveChannel: s.Channel, Version: f.Version, EveryMs: f.every().Milliseconds()}
	var owned *release.NotOurs
	if errors.As(f.blocked, &owned) {
		out.Owner = owned.Owner
	}
	src, _, err := f.Release.Where(s.Source, s.Key)
	switch {
	case owned != nil:
		out.Blocked = whole(owned)
	case err != nil:
		out.Blocked = whole(err)
	case f.blocked != nil:
		out.Blocked = whole(f.blocked)
	}
	if src != nil {
		out.Source = src.Host()
	}
	st, err := release.Read(f.Dir)
	if err != nil {
		return out, protocol.Invalid("%v", err)
	}
	f.tell(&out, st)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil {
		run := *f.run
		out.ActiveRun = &run
	}
	return out, nil
}

// tell adds what is kept of earlier looks and updates.
func (f *feature) tell(out *protocol.UpdateStatus, st release.State) {
	if c := st.Checked; c != nil {
		out.CheckedAt, out.Error = c.At.UnixMilli(), c.Error
		if release.Newer(c.Version, f.Version) {
			out.UpdateAvailable = &protocol.UpdateAvailable{
				CurrentVersion: f.Version, LatestVersion: c.Version, Channel: c.Channel, Notes: c.Notes, Bad: st.Bad[c.Version],
			}
		}
	}
	out.OnTrial = st.Trial != nil && st.Trial.To == f.Version
	if t := st.Trial; out.OnTrial && f.install.Has(t.From) { // its person need not wait until it has proved itself
		out.Back = &protocol.UpdateBack{Version: t.From, UntilMs: t.Began.Add(release.BackTime).UnixMilli()}
	}
	if b := st.Back; b != nil && b.From == f.Version && f.Now().Before(b.Until) && f.install.Has(b.Version) {
		out.Back = &protocol.UpdateBack{Version: b.Version, UntilMs: b.Until.UnixMilli()}
	}
	if l := st.Last; l != nil {
		out.Last = &protocol.UpdateOutcome{AtMs: l.At.UnixMilli(), From: l.From, To: l.To, Result: l.Result, Reason: l.Reason, Kept: l.Kept,
			Lost: l.Lost}
	}
}

func (f *feature) check(ctx context.Context, p protocol.UpdateCheckParams) (protocol.UpdateStatus, error) {
	if err := channelOf(p.Channel); err != nil {
		return protocol.UpdateStatus{}, err
	}
	u, err := f.updater(p.Channel)
	if err != nil {
		return protocol.UpdateStatus{}, protocol.Invalid("%v", err)
	}
	if _, _, err := u.Check(ctx); err != nil {
		return protocol.UpdateStatus{}, protocol.Invalid("It cannot be said whether there is a new version: %v", err)
	}
	return f.status(ctx, method.None{})
}

func channelOf(name string) error {
	for _, c := range release.Channels() {
		if name == c || name == "" {
			return nil
		}
	}
	return protocol.Invalid("There is no channel %q; there are stable and beta.", name)
}

// here refuses who is elsewhere: a program is replaced by somebody who sits before
// the machine.
func here(c *server.Caller) error {
	if !c.Local {
		return protocol.Invalid("Hearth is updated on the machine that it runs on: by `hearth update` there, or by its page there.").
			With("code", "LOCAL_ONLY")
	}
	return nil
}

// start begins an update, one at a time, and returns; status says how far it is.
func (f *feature) start(_ context.Context, c *server.Caller, p protocol.UpdateRunParams) (protocol.UpdateRunResult, error) {
	if err := here(c); err != nil {
		return protocol.UpdateRunResult{}, err
	}
	if err := channelOf(p.Channel); err != nil {
		return protocol.UpdateRunResult{}, err
	}
	if f.blocked != nil {
		return protocol.UpdateRunResult{}, protocol.Invalid("%v", f.blocked)
	}
	u, err := f.updater(p.Channel)
	if err != nil {
		return protocol.UpdateRunResult{}, protocol.Invalid("%v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil && f.run.Status == "running" {
		return protocol.UpdateRunResult{RunID: f.run.RunID, OK: true, Message: "it is under way already"}, nil
	}
	f.run = &protocol.UpdateRun{RunID: uuid.New(), Phase: release.PhaseStaging, Status: "running"}
	who := method.CallerName(c)
	f.Work.Go(func(ctx context.Context) { f.perform(ctx, u, p.Retry, who) })
	return protocol.UpdateRunResult{RunID: f.run.RunID, OK: true}, nil
}

func (f *feature) note(edit func(*protocol.UpdateRun)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(f.run)
}

func (f *feature) ended(status, reason string) {
	f.note(func(r *protocol.UpdateRun) { r.Phase, r.Status, r.Reason = "finished", status, reason })
}

// perform does an update up to the end of this program.
func (f *feature) perform(ctx context.Context, u release.Updater, retry bool, who string) {
	m, newer, err := u.Check(ctx)
	if err != nil {
		f.ended("failed", err.Error())
		return
	}
	f.note(func(r *protocol.UpdateRun) { r.To = m.Version })
	if !newer {
		f.ended("skipped", "Hearth "+f.Version+" is the newest of the channel "+u.Channel+".")
		return
	}
	if st, err := release.Read(f.Dir); err == nil && st.Bad[m.Version] != "" && !retry {
		f.ended("skipped", "Hearth "+m.Version+" was tried and taken back: "+st.Bad[m.Version])
		return
	}
	u.Told = func(p release.Progress) {
		f.note(func(r *protocol.UpdateRun) { r.Phase, r.Have, r.Total = p.Phase, p.Have, p.Total })
	}
	if err := u.Prepare(ctx, m); err != nil {
		if ctx.Err() == nil {
			release.Failure(f.Dir, f.Version, m.Version, f.Now(), err)
		}
		f.Log.Warn("an update was not made", "version", m.Version, "err", err)
		f.ended("failed", err.Error())
		return
	}
	f.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "an update was started", Who: who, Facts: map[string]string{
		"from": f.Version, "to": m.Version,
	}})
	f.note(func(r *protocol.UpdateRun) { r.Phase = release.PhaseRestarting })
	f.leave()
}

// leave ends the gateway; who started it sees in the state what runs next.
func (f *feature) leave() {
	select {
	case f.Restart <- struct{}{}:
	default: // it ends already
	}
}

// back goes back to the version before.
func (f *feature) back(_ context.Context, c *server.Caller, _ method.None) (protocol.UpdateRunResult, error) {
	if err := here(c); err != nil {
		return protocol.UpdateRunResult{}, err
	}
	if _, err := release.GoBack(f.Dir, f.install, f.Version, f.Now()); err != nil {
		return protocol.UpdateRunResult{}, protocol.Invalid("%v", err)
	}
	f.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "Hearth goes back to the version before", Who: method.CallerName(c),
		Facts: map[string]string{"from": f.Version}})
	f.leave()
	return protocol.UpdateRunResult{OK: true}, nil
}

// every is how often it is looked.
func (f *feature) every() time.Duration {
	s := f.settings()
	if _, _, err := f.Release.Where(s.Source, s.Key); err != nil || f.blocked != nil {
		return 0
	}
	return s.Interval()
}

// keep looks whenever it is time, until ctx ends. Nothing is installed by itself.
func (f *feature) keep(ctx context.Context) {
	for wait := firstLook; ; wait = step {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		every := f.every()
		st, err := release.Read(f.Dir)
		if err != nil || every == 0 || release.PausedBy(f.Pause) != nil || st.Checked != nil && f.Now().Sub(st.Checked.At) < every {
			continue
		}
		u, err := f.updater("")
		if err != nil {
			continue
		}
		if m, newer, err := u.Check(ctx); err != nil && ctx.Err() == nil {
			f.Log.Info("it could not be looked for a new version", "err", err)
		} else if newer {
			f.Log.Info("there is a new version", "version", m.Version)
		}
	}
}
