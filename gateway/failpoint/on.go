//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
