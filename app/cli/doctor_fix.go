package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// carryOut shows what would be mended, asks, and does it.
func (d *doctor) carryOut(yes bool) error {
	if len(d.plan) == 0 {
		return nil
	}
	if !yes {
		var b strings.Builder
		b.WriteString("This would be mended:\n")
		for _, p := range d.plan {
			b.WriteString("  - " + line(d.out.Checks[p.check].What) + "\n")
		}
		ok, err := d.a.agree(b.String() + "Mend it? [y/N] ")
		if err != nil {
			return err
		}
		if !ok {
			return nil // what is said of each still holds
		}
	}
	for _, p := range d.plan {
		c := &d.out.Checks[p.check]
		if err := p.how(); err != nil {
			c.State, c.Advice = protocol.CheckFail, "it could not be mended: "+err.Error()
			d.out.OK = false
		} else {
			c.State, c.Fixed, c.Advice = protocol.CheckOK, true, ""
		}
	}
	return nil
}

// repair has the gateway mend something.
func (d *doctor) repair(ctx context.Context, name string) error {
	return d.a.call(ctx, protocol.ScopeAdmin, protocol.MethodDoctorRepair, protocol.DoctorRepairParams{Repair: name},
		&protocol.DoctorRepaired{})
}

// certificates: do those hold by which other machines know this one?
func (d *doctor) certificates(ctx context.Context, dir statedir.Dir) {
	v, err := identity.Look(dir.Identity())
	now := time.Now()
	switch {
	case errors.Is(err, os.ErrNotExist): // no other machine was ever let in
	case err != nil:
		d.fail("gateway", err.Error(), "put "+dir.Identity()+" back from a backup with `--secrets`; without it every device has to be "+
			"paired again")
	case v.Over(now):
		d.mend("gateway", "the certificate of the gateway for other devices is no longer valid", func() error { return renew(ctx, d.a, dir) })
	case !v.Leaf.IsZero():
		d.ok("gateway", "the certificate of the gateway holds until "+v.Leaf.Format("2 January 2006")+", and is renewed before")
	}
}

// renew makes the certificates anew; devices know the key, which stays.
func renew(ctx context.Context, a *app, dir statedir.Dir) error {
	if restore.Running(dir) { // it has the file, and renews when it is asked for its fingerprint
		if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodReachStatus, nil, &protocol.ReachStatus{}); err != nil {
			return err
		}
	} else {
		o := identity.Options{Path: dir.Identity(), Write: statedir.WriteFile, Now: time.Now, Random: rand.Reader}
		if _, err := identity.Open(o); err != nil {
			return err
		}
	}
	if v, err := identity.Look(dir.Identity()); err != nil || v.Over(time.Now()) {
		return errors.Join(err, errors.New("it was not renewed; is the clock of this machine right?"))
	}
	return nil
}

// oldEnough: what is older than this, nobody is still writing.
const oldEnough = time.Hour

// leftovers are what programs that were killed have left behind.
func (d *doctor) leftovers(dir statedir.Dir) {
	if _, err := os.Stat(dir.RuntimeFile()); err == nil && !restore.Running(dir) {
		d.mend("folder", "a gateway that was killed has left word that it runs ("+filepath.Base(dir.RuntimeFile())+")", func() error {
			if restore.Running(dir) {
				return errors.New("a gateway was started meanwhile")
			}
			dir.ForgetRuntime()
			return nil
		})
	}
	if restore.Half(dir) {
		return // that says itself how to go on, and needs what is there
	}
	d.copies(dir)
	left, _ := filepath.Glob(strings.TrimRight(string(dir), `/\`) + ".restoring-*")
	for _, path := range left {
		st, err := os.Stat(path)
		if err != nil || time.Since(st.ModTime()) < oldEnough {
			continue
		}
		d.mend("folder", "a restore that was killed has left what it unpacked, readable: "+path, func() error { return os.RemoveAll(path) })
	}
}

// halfCopy ends as the names of temporary files do; other files beside the database
// begin with a dot too.
var halfCopy = regexp.MustCompile(`\.[0-9]+$`)

// copies of the database that were being made when their maker was killed.
func (d *doctor) copies(dir statedir.Dir) {
	left, _ := filepath.Glob(filepath.Join(string(dir), "."+filepath.Base(dir.Store())+".*"))
	for _, path := range left {
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || time.Since(st.ModTime()) < oldEnough || !halfCopy.MatchString(path) {
			continue
		}
		d.mend("folder", "half of a copy of the database ("+size(st.Size())+"): "+path, func() error { return os.Remove(path) })
	}
}
