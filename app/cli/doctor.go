package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newDoctor(a *app) *cobra.Command {
	var fix, live, yes bool
	c := &cobra.Command{Use: "doctor", Short: "Look for what is wrong, and say what to do", Args: cobra.NoArgs,
		Long: "Look at the settings, the folder, secrets, models, the sandbox and the audit log.\n" +
			"Each line says what is, and what to do where it is not well. The exit code is 1\n" +
			"when something has failed. Without a running gateway, what only it knows is left\nout.",
		RunE: a.run(func(ctx context.Context, _ []string) error { return runDoctor(ctx, a, fix, live, yes) })}
	c.Flags().BoolVar(&fix, "fix", false, "say what can be mended without a choice, ask, and mend it: modes of files, settings with old "+
		"names, keys in the settings file, what programs that were killed have left, expired certificates; with a running gateway also "+
		"conversations without a chat and the search index")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "with --fix: do not ask")
	c.Flags().BoolVar(&live, "live", false, "also ask the default model a word, which may cost")
	return c
}

// doctor collects what was seen.
type doctor struct {
	a   *app
	fix bool
	out protocol.Doctor
	// plan is what --fix would do, by the check that it is about.
	plan []planned
}

// planned is one thing to mend.
type planned struct {
	check int
	how   func() error
}

func runDoctor(ctx context.Context, a *app, fix, live, yes bool) error {
	d := &doctor{a: a, fix: fix, out: protocol.Doctor{OK: true, Checks: []protocol.HealthCheck{}}}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	snap, err := a.settings(ctx)
	if err != nil {
		return err
	}
	d.settings(ctx, snap)
	if err := dir.Look(); err != nil { // nothing else can be said then
		d.fail("folder", err.Error(), folderAdvice)
	} else {
		d.inside(ctx, dir, snap, live)
	}
	if err := d.carryOut(yes); err != nil {
		return err
	}
	if a.asJSON {
		err = a.out().json(d.out)
	} else {
		err = printDoctor(a.out(), &d.out, a.errorWords())
	}
	if err == nil && !d.out.OK {
		err = &failure{exitFailure, "something is not well", "what to do stands above"}
	}
	return err
}

// folderAdvice is what to do about a folder that cannot be used.
const folderAdvice = "give Hearth a folder of yours with HEARTH_HOME"

// inside looks at what is in the folder, and at the gateway.
func (d *doctor) inside(ctx context.Context, dir statedir.Dir, snap *config.Snapshot, live bool) {
	writable := d.folder(dir)
	d.certificates(ctx, dir)
	d.room(dir)
	if writable {
		d.secrets(ctx, snap)
	}
	d.gateway(ctx, snap, live)
	d.leftovers(dir)
}

func (d *doctor) add(c protocol.HealthCheck) {
	d.out.Checks = append(d.out.Checks, c)
	d.out.OK = d.out.OK && c.State != protocol.CheckFail
}

func (d *doctor) ok(area, what string) {
	d.add(protocol.HealthCheck{Area: area, State: protocol.CheckOK, What: what})
}

func (d *doctor) warn(area, what, advice string) {
	d.add(protocol.HealthCheck{Area: area, State: protocol.CheckWarn, What: what, Advice: advice})
}

func (d *doctor) fail(area, what, advice string) {
	d.add(protocol.HealthCheck{Area: area, State: protocol.CheckFail, What: what, Advice: advice})
}

func (d *doctor) settings(ctx context.Context, s *config.Snapshot) {
	switch {
	case !s.Exists:
		d.ok("settings", "there is no settings file, everything has its default")
		return
	case !s.Valid:
		for _, i := range s.Issues {
			d.fail("settings", i.String(), "correct it in "+s.Path+"; a running gateway keeps the last good settings until then")
		}
		return
	}
	for _, w := range s.Warnings {
		d.warn("settings", w.String(), "`hearth config check` shows where")
	}
	if old := s.Legacy(); len(old) > 0 {
		d.mend("settings", "settings with old names: "+strings.Join(old, ", "), func() error {
			f, err := config.Open(s.Path, d.a.settingsOptions())
			if err == nil {
				_, err = f.Modernize(ctx)
			}
			return err
		})
	}
	if len(s.Warnings) == 0 {
		d.ok("settings", s.Path+" is in order")
	}
}

// folder: can it be written, and can others read what is private?
func (d *doctor) folder(dir statedir.Dir) (writable bool) {
	info, err := os.Stat(string(dir))
	if errors.Is(err, os.ErrNotExist) {
		d.ok("folder", string(dir)+" is not there yet; the first start makes it")
		return true
	}
	if err != nil {
		d.fail("folder", "the folder cannot be looked at: "+err.Error(), folderAdvice)
		return false
	}
	err = dir.Writable()
	switch writable = err == nil; {
	case writable:
	case info.Mode().Perm()&0o200 == 0 && dir.Check() == nil:
		d.mend("folder", err.Error(), dir.Ensure)
	default:
		d.fail("folder", err.Error(), folderAdvice)
	}
	if err := dir.Check(); err != nil {
		d.fail("folder", err.Error(), "mend it as said, or give Hearth another folder with HEARTH_HOME")
	}
	if open := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0; open && writable {
		d.mend("folder", "others on this computer can look into "+string(dir), dir.Ensure)
	}
	loose, err := dir.Loose()
	switch {
	case err != nil:
		d.fail("folder", "the files of the folder cannot be looked at: "+err.Error(), "check whose they are")
	case len(loose) > 0:
		d.mend("folder", "others on this computer can read "+strings.Join(loose, ", "), func() error { _, err := dir.Tighten(); return err })
	default:
		d.ok("folder", "the files are private to you")
	}
	if by := dir.Synced(); by != "" {
		d.warn("folder", by+" copies the folder to other machines, and may damage the database", "give Hearth a folder outside of it with "+
			"HEARTH_HOME")
	}
	if kind := dir.Shared(); kind != "" {
		d.warn("folder", "it is in "+kind+", which may damage the database", "give Hearth a folder on a disk of this machine with HEARTH_HOME")
	}
	return writable
}

// mend fixes something, or says that --fix would.
func (d *doctor) mend(area, what string, how func() error) {
	c := protocol.HealthCheck{Area: area, State: protocol.CheckWarn, What: what, Advice: "`hearth doctor --fix` mends it", Fixable: true}
	if d.fix {
		d.plan = append(d.plan, planned{len(d.out.Checks), how})
	}
	d.add(c)
}

const (
	scarce = 1 << 30
	full   = statedir.Full
)

func (d *doctor) room(dir statedir.Dir) {
	free, ok := dir.Free()
	switch {
	case !ok:
	case free < full && free >= 1<<20:
		d.fail("folder", "the disk is nearly full: "+size(free)+" are left", "make room; new messages are not accepted without")
	case free < full:
		d.fail("folder", "the disk is full: "+size(free)+" are left", "make room; new messages are not accepted without")
	case free < scarce:
		d.warn("folder", "the disk is nearly full: "+size(free)+" are left", "make room soon")
	default:
		d.ok("folder", size(free)+" are free on the disk")
	}
}

func (d *doctor) secrets(ctx context.Context, snap *config.Snapshot) {
	var s protocol.SecretsStatus
	err := secretsAt(ctx, d.a, func(c *client.Client) error { return c.Call(ctx, protocol.MethodSecretsStatus, nil, &s) },
		func(k *keeper.Keeper) error {
			s = statusOf(k.Try(ctx), snap)
			s.Problems = append(s.Problems, k.ElsewhereWords(ctx)...)
			return nil
		})
	if err != nil {
		d.fail("secrets", explain(err).message, "`hearth secrets doctor` says more")
		return
	}
	switch {
	case s.Ready && s.Place == "plain":
		d.warn("secrets", "keys are kept in a private file that is not encrypted, as secrets.backend says",
			"a keychain or the vault is safer: `hearth config set secrets.backend auto`")
	case s.Ready:
		d.ok("secrets", "keys are kept in "+placeWords(s.Place))
	case s.State == keeper.Unusable:
		d.fail("secrets", strings.TrimSuffix(s.Message, "."), "mend what it says; `hearth secrets doctor` looks at it again")
	default:
		d.warn("secrets", "keys cannot be kept or read now: "+strings.TrimSuffix(s.Message, "."), "`hearth secrets unlock` unlocks or makes "+
			"the vault")
	}
	for _, p := range s.Problems {
		d.warn("secrets", strings.TrimSuffix(p, "."), "`hearth secrets list` shows what is kept")
	}
	if len(s.InLists) > 0 {
		d.warn("secrets", inTheFile(s.InLists), leftInLists())
	}
	d.inTheOpen(ctx, s.InTheOpen, s.Ready)
}

// inTheFile names keys that the settings file itself holds.
func inTheFile(paths []string) (what string) {
	what = "the settings file itself holds " + strings.Join(paths, ", ") + ", which your other programs can read"
	return what
}

// inTheOpen: keys that the settings file itself holds.
func (d *doctor) inTheOpen(ctx context.Context, paths []string, ready bool) {
	if len(paths) == 0 {
		return
	}
	what := inTheFile(paths)
	if !ready {
		d.warn("secrets", what, "when there is a keychain or vault, `hearth secrets migrate` moves them there")
		return
	}
	d.mend("secrets", what, func() error {
		return secretsAt(ctx, d.a, func(c *client.Client) error {
			return c.Call(ctx, protocol.MethodSecretsMigrate, nil, &protocol.SecretsMigrated{})
		}, func(k *keeper.Keeper) error { _, err := d.a.migrateHere(ctx, k); return err })
	})
}

// gateway asks the one that runs. Without one: could it start?
func (d *doctor) gateway(ctx context.Context, snap *config.Snapshot, live bool) {
	var res protocol.Doctor
	err := d.a.call(ctx, protocol.ScopeAdmin, protocol.MethodDoctor, protocol.DoctorParams{Live: live}, &res)
	switch {
	case errors.Is(err, statedir.ErrNotRunning):
		d.warn("gateway", "the gateway is not running, so models, the sandbox and the audit log were not looked at",
			"start it with `hearth gateway`, then look again")
		d.port(snap)
		d.store()
		return
	case err != nil:
		f := explain(err)
		d.fail("gateway", f.message, f.hint)
		return
	}
	d.ok("gateway", "the gateway is running")
	d.out.OK = d.out.OK && res.OK
	for _, c := range res.Checks {
		if d.fix && c.Repair != "" {
			d.plan = append(d.plan, planned{len(d.out.Checks), func() error { return d.repair(ctx, c.Repair) }})
		}
		d.out.Checks = append(d.out.Checks, c)
	}
}

// store: can all of it be read? A running gateway says so itself.
func (d *doctor) store() {
	dir, err := d.a.dir()
	if err != nil {
		return
	}
	if _, err := os.Stat(dir.Store()); err != nil {
		return
	}
	r, err := recovery.Look(dir)
	switch {
	case err != nil:
		d.warn("folder", "the database was not looked at: "+explain(stopFirst(err)).message, "`hearth store check` looks again")
	case r.OK:
		d.ok("folder", "all of the database can be read")
	default:
		d.fail("folder", "the database: "+r.Problem, "`hearth store check` says what is left, and what can be done")
	}
}

// port: is the one that the settings name free?
func (d *doctor) port(snap *config.Snapshot) {
	port := reach.Section.Of(snap.Config).Port
	if port == 0 {
		return
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			d.fail("gateway", fmt.Sprintf("port %d is one of those below 1024, which are for the system", port),
				"choose another port with `hearth config set gateway.port`")
			return
		}
		d.fail("gateway", fmt.Sprintf("another program uses port %d", port), "end it, or choose another port with `hearth config set "+
			"gateway.port`")
		return
	}
	_ = l.Close()
	d.ok("gateway", fmt.Sprintf("port %d is free", port))
}

func printDoctor(out screen, r *protocol.Doctor, said func(string) string) error {
	for _, c := range r.Checks {
		mark := green("ok  ")
		switch {
		case c.Fixed:
			mark = green("done")
		case c.State == protocol.CheckWarn:
			mark = yellow("warn")
		case c.State == protocol.CheckFail:
			mark = red("FAIL")
		}
		if err := out.print(mark, " ", dim(fmt.Sprintf("%-8s", c.Area)), " ", line(said(c.What)), "\n"); err != nil {
			return err
		}
		if c.Advice != "" {
			if err := out.print("              → ", line(said(c.Advice)), "\n"); err != nil {
				return err
			}
		}
	}
	n := map[string]int{}
	for _, c := range r.Checks {
		n[c.State]++
	}
	return out.print("\n", count(n[protocol.CheckFail], "failure"), ", ", count(n[protocol.CheckWarn], "warning"), "\n")
}
