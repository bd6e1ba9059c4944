//go:build !linux && !windows

package harden

import "golang.org/x/sys/unix"

// Process keeps a crash from writing the memory of this process, which holds
// keys, to disk, and makes every file that it creates private.
func Process() error {
	unix.Umask(0o077)
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
