// Package lean gives memory back that only a start, or work that is over,
// needed: garbage, and pages of the program itself, which stay in the kernel's
// file cache and come back by themselves. It owns no policy of when work is
// over: that is asked.
package lean

import (
	"context"
	"time"
)

// Options of Run. All are needed.
type Options struct {
	Every time.Duration // between two looks; up to eight times that when nothing happens
	Idle  func() bool   // nothing is being done
	// Touched counts the pages that the process ever took, and Release gives
	// back what can be.
	Touched func() int64
	Release func()
}

// enough pages make it worth while: 2 MB with the usual ones. What is touched
// again after a release, and by the housekeeping of an idle program, is less.
const enough = 512

// Run gives memory back each time when there was work and then none for two
// looks, until ctx ends.
func Run(ctx context.Context, o Options) {
	every := o.Every
	look := time.NewTimer(every)
	defer look.Stop()
	var released, last int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := o.Touched()
		worked, quiet := now-released >= enough, now-last < enough
		last = now
		switch {
		case !worked:
			every = min(2*every, 8*o.Every)
		case quiet && o.Idle():
			o.Release()
			last = o.Touched()
			released = last
		default:
			every = o.Every
		}
		look.Reset(every)
	}
}
