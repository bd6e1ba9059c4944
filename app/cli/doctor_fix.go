package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup/restore"
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
	left, _ := filepath.Glob(strings.TrimRight(string(dir), `/\`) + ".restoring-*")
	for _, path := range left {
		st, err := os.Stat(path)
		if err != nil || time.Since(st.ModTime()) < oldEnough {
			continue
		}
		d.mend("folder", "a restore that was killed has left what it unpacked, readable: "+path, func() error { return os.RemoveAll(path) })
	}
}
