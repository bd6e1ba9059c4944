//go:build !windows

package config

import (
	"os"
	"syscall"
)

// tryLock takes the lock between processes that edit the file. It lies on the
// folder, so it leaves nothing behind; the kernel frees it when we die.
func tryLock(dir string) (unlock func(), busy bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, false, nil
	}
	_ = f.Close()
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return nil, true, nil
	}
	return func() {}, false, nil // a file system without locks: go on with the hash check alone
}
