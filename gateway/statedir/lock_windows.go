package statedir

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Held cannot be told here without disturbing a gateway that starts: a runtime
// file is believed.
func (d Dir) Held() bool { return true }

// tryLock takes a lock that the system frees when we die.
func tryLock(f *os.File) (busy bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	return false, err
}
