package setup

import "golang.org/x/sys/unix"

// RAM is the memory of this computer in bytes, 0 when it does not say.
func RAM() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
