// Package bootclock is the clock that goes on while the computer sleeps and that
// nobody can set: the time since it was started. With it, sleep and a clock that
// was set can be told apart.
package bootclock

import "time"

// Now is the time since the computer was started; ok is false where the system
// does not say.
func Now() (d time.Duration, ok bool) { return now() }
