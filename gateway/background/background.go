// Package background owns work that outlives the call that began it: answers to
// people, probes, downloads. Everything that a Group started has returned when
// its Close returns. It does not restart what fails (package host does).
package background

import (
	"context"
	"sync"
)

// Group is work that goes on until it is done or the group is closed. Its
// methods may be called from several goroutines, Close once.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// New returns a group whose work has the values of ctx, and does not end with it.
func New(ctx context.Context) *Group {
	g := new(Group)
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return g
}

// Context ends when the group is closed.
func (g *Group) Context() context.Context { return g.ctx }

// Go runs work; ctx ends when the group is closed.
func (g *Group) Go(work func(ctx context.Context)) { g.work.Go(func() { work(g.ctx) }) }

// Closed reports whether Close was called.
func (g *Group) Closed() bool { return g.ctx.Err() != nil }

// Close ends the work's context and waits until all of it has returned.
func (g *Group) Close() {
	g.cancel()
	g.work.Wait()
}
