//go:build !windows

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/hearth-assistant/hearth/internal/text"
)

// checkOwner refuses a settings file that somebody else can change: it decides
// who may talk to the gateway. path is for the fix that is shown.
func checkOwner(path string, info fs.FileInfo, euid, egid int) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	mode := info.Mode()
	what := "settings file"
	if mode.IsDir() {
		what = "folder of the settings file"
		if mode&fs.ModeSticky != 0 {
			return nil // as /tmp: others cannot replace our file in it
		}
	}
	if !mode.IsDir() && int(st.Uid) != euid && st.Uid != 0 {
		return &PermissionError{path, fmt.Sprintf("it belongs to another user (number %d)", st.Uid),
			fmt.Sprintf("chown %d %s", euid, text.ShellWord(path))}
	}
	if mode.Perm()&0o002 != 0 {
		return &PermissionError{path, "everybody on this machine can change this " + what, "chmod go-w " + text.ShellWord(path)}
	}
	// Many systems give each user a group of the same number, and files
	// writable by it; that is nobody else.
	if private := st.Gid == st.Uid && int(st.Gid) == egid; mode.Perm()&0o020 != 0 && !private {
		return &PermissionError{path, fmt.Sprintf("every member of group %d can change this %s", st.Gid, what),
			"chmod g-w " + text.ShellWord(path)}
	}
	return nil
}

func checkPermissions(path string, info fs.FileInfo) error {
	return checkOwner(path, info, os.Geteuid(), os.Getegid())
}

// readableByOthers says whether the mode lets others read the file.
func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
