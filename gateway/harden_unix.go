//go:build !linux && !windows

package gateway

import "golang.org/x/sys/unix"

// Harden keeps a crash from writing the memory of this process, which holds
// keys, to disk, and makes every file that it creates private.
func Harden() error {
	unix.Umask(0o077)
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
