//go:build !failpoint

package failpoint

import "time"

// Hit is a place where a crash test may end the process.
func Hit(string) {}

// Duration is d; a test may make it another.
func Duration(_ string, d time.Duration) time.Duration { return d }
