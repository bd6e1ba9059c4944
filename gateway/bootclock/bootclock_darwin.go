package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// now: macOS moves the moment of the start along when its clock is set, and leaves
// it alone while it sleeps.
func now() (time.Duration, bool) {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0, false
	}
	return time.Since(time.Unix(t.Unix()).Round(0)), true
}
