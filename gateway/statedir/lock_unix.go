//go:build !windows

package statedir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Held reports whether a gateway has the store open: a runtime file may be one
// that a killed gateway left.
func (d Dir) Held() bool {
	f, err := os.OpenFile(d.Store(), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	busy, err := tryLock(f)
	return busy || err != nil
}

// tryLock takes a lock that the kernel frees when we die.
func tryLock(f *os.File) (busy bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return true, nil
	}
	return false, err
}
