package power

import (
	"context"
	"time"
)

// Options: both are needed.
type Options struct {
	Now func() time.Time
	// Run runs a program of the system until ctx ends.
	Run func(ctx context.Context, name string, args ...string) error
}

// Watch tells of each time the computer slept, until ctx ends.
func Watch(ctx context.Context, o Options, slept func(from, to time.Time)) {
	gaps(ctx, o.Now, nil, slept)
}

// Hold keeps the computer from falling asleep by itself until release.
func Hold(ctx context.Context, o Options, _ string) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with release
		defer close(done)
		_ = o.Run(ctx, "caffeinate", "-i")
	}()
	return func() { cancel(); <-done }, nil
}
