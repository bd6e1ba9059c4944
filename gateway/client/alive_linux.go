package client

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
const tcpUserTimeout = 18

// impatient ends a connection that confirms nothing of what was sent: no probe
// is made while data is on its way. A kernel that cannot is no reason to fail.
func impatient(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unconfirmed.Milliseconds()))
	})
}
