//go:build !windows

package statedir

import (
	"os"
	"syscall"
)

// tryLock takes a lock that the kernel frees when we die.
func tryLock(f *os.File) (busy bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return true, nil
	}
	return false, err
}
