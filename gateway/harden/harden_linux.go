package harden

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Process keeps the memory of this process, which holds keys, from being written
// to disk by a crash and from being read by other programs of the user, and
// makes every file that it creates private. The program that runs a gateway
// calls it once, before New. What it could not do is the error; the gateway can
// run without it.
func Process() error {
	unix.Umask(0o077)
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}),
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0),
	)
}
