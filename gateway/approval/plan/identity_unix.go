//go:build linux || darwin

package plan

import (
	"io/fs"
	"syscall"
)

func identify(info fs.FileInfo) (identity, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return stated(st), true
}

// identifyPath follows links; false if there is nothing or nobody can tell. It is
// called a dozen times for every plan, so it goes without os.Stat's allocations.
func identifyPath(path string) (identity, bool) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return identity{}, false
	}
	return stated(&st), true
}

func exists(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil
}
