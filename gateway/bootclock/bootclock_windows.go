package bootclock

import (
	"time"

	"golang.org/x/sys/windows"
)

func now() (time.Duration, bool) { return windows.DurationSinceBoot(), true }
