//go:build !windows

package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Check refuses a folder that other users could replace or that is theirs.
func (d Dir) Check() error {
	info, err := os.Stat(string(d))
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return fmt.Errorf("%s belongs to another user", d)
	}
	parent := filepath.Dir(string(d))
	if info, err = os.Stat(parent); err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("everybody on this machine may write %s, so anybody could put another folder in the place of Hearth's; run: chmod "+
			"o-w %s", parent, parent)
	}
	return nil
}
