//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

// IDOf is the identity of what was looked at.
func IDOf(info fs.FileInfo) ID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ID{uint64(st.Dev), st.Ino} //nolint:unconvert // its type differs by system
	}
	return ID{}
}
