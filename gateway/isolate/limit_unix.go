//go:build !windows

package isolate

import "golang.org/x/sys/unix"

// limit has the system hold the process to its limits, as far as it can: the
// one of data counts on Linux only. What it cannot hold, watch and whoever
// started this do.
func limit(o order) {
	if !raceDetector {
		set(unix.RLIMIT_DATA, uint64(o.Memory)*2) // Go reserves in steps of 64 MiB
	}
	set(unix.RLIMIT_CPU, uint64(o.CPU)*2) // two cores
	set(unix.RLIMIT_FSIZE, 0)
	set(unix.RLIMIT_CORE, 0)
}

func set(what int, most uint64) {
	var now unix.Rlimit
	if unix.Getrlimit(what, &now) != nil {
		return
	}
	now.Cur, now.Max = min(now.Cur, most), min(now.Max, most)
	_ = unix.Setrlimit(what, &now)
}
