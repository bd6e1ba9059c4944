//go:build linux

package netlab

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

type mount struct {
	pid  int
	done chan error
}

// mounts starts the one thread that goes into the machines' mount namespaces. It
// never ends: what was ever started from a thread is killed with it (Pdeathsig).
var mounts = sync.OnceValue(func() chan<- mount {
	asked := make(chan mount)
	go func() {
		runtime.LockOSThread()
		own := unix.Unshare(unix.CLONE_FS) // a thread that shares its working folder may not leave
		for m := range asked {
			if own != nil {
				m.done <- fmt.Errorf("a thread with a working folder of its own: %w", own)
				continue
			}
			m.done <- mountRun(m.pid)
		}
	}()
	return asked
})

// coverRun gives the machine that a process holds a /run of its own. mount(8)
// serves nobody but root, whatever rights they were given.
func coverRun(pid int) error {
	m := mount{pid, make(chan error, 1)}
	mounts() <- m
	return <-m.done
}

func mountRun(pid int) error {
	space, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return err
	}
	defer func() { _ = space.Close() }()
	if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("entering the machine: %w", err)
	}
	return os.NewSyscallError("mount /run", unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"))
}
