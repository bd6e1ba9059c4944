package power

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/windows"
)

// Options: Now is needed.
type Options struct{ Now func() time.Time }

// Watch tells of each time the computer slept, until ctx ends.
func Watch(ctx context.Context, o Options, slept func(from, to time.Time)) {
	gaps(ctx, o.Now, nil, slept)
}

const (
	continuous     = 0x80000000
	systemRequired = 0x00000001
)

// Hold keeps the computer from falling asleep by itself until release. The
// wish belongs to a thread, so one waits for as long.
func Hold(ctx context.Context, _ Options, _ string) (release func(), err error) {
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	done, began := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		was, _, err := set.Call(continuous | systemRequired)
		if was != 0 {
			err = nil
		}
		began <- err
		if err == nil {
			<-done
			_, _, _ = set.Call(continuous)
		}
	}()
	if err := <-began; err != nil {
		return func() {}, fmt.Errorf("keep the computer awake: %w", err)
	}
	return func() { close(done) }, nil
}
