//go:build unix

package engine

import (
	"testing"

	"golang.org/x/sys/unix"
)

// cpu reports how much of the processor an operation took, which on a busy
// machine says more than the clock.
func cpu(b *testing.B) func() {
	began := cpuNow()
	return func() { b.ReportMetric(float64(cpuNow()-began)/float64(b.N), "cpu-ns/op") }
}

func cpuNow() int64 {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return ru.Utime.Nano() + ru.Stime.Nano()
}
