package cli

import "syscall"

// watched: when the watcher is killed, what it watches ends in order.
func watched() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
