//go:build unix

package safepath

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open from waiting for the other end of a pipe.
const nonBlocking = syscall.O_NONBLOCK

// links is how many names the file has.
func links(_ *os.File, st fs.FileInfo) uint64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // its type differs by system
	}
	return 1
}
