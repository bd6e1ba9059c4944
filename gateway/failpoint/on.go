//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// plan parses "name@n": the n-th time that name is hit, the process is killed.
var plan = sync.OnceValues(func() (name string, nth int64) {
	name, n, _ := strings.Cut(os.Getenv("HEARTH_FAILPOINT"), "@")
	nth, err := strconv.ParseInt(n, 10, 64)
	if err != nil || nth < 1 {
		nth = 1
	}
	return name, nth
})

var hits atomic.Int64

// Hit ends the process without any clean-up when its time has come.
func Hit(name string) {
	want, nth := plan()
	if name != want || hits.Add(1) != nth {
		return
	}
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	select {} // until the signal arrives
}

// Duration is d, or what HEARTH_FAILPOINT_TIMES says of a name, as
// "update:health=2s,update:crash=10s": tests need not wait for minutes.
func Duration(name string, d time.Duration) time.Duration {
	for part := range strings.SplitSeq(os.Getenv("HEARTH_FAILPOINT_TIMES"), ",") {
		if n, v, ok := strings.Cut(part, "="); ok && n == name {
			if other, err := time.ParseDuration(v); err == nil {
				return other
			}
		}
	}
	return d
}
