// Package stopwatch measures how long a tool ran. While a person is waited for
// it stands still: their time is not the tool's.
package stopwatch

import (
	"context"
	"sync"
	"time"
)

// Watch measures one call. Several may wait within it at a time.
type Watch struct {
	began time.Time

	mu      sync.Mutex
	waiting int
	since   time.Time
	waited  time.Duration
}

type key struct{}

// Start begins to measure.
func Start() *Watch { return &Watch{began: time.Now()} }

// Of is the watch of the call that ctx belongs to; nil when there is none.
func Of(ctx context.Context) *Watch {
	w, _ := ctx.Value(key{}).(*Watch)
	return w
}

// Within is ctx, belonging to what w measures.
func (w *Watch) Within(ctx context.Context) context.Context {
	if w == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, w)
}

// Hold stops the watch of the call that ctx belongs to, until resume is called.
func Hold(ctx context.Context) (resume func()) {
	w := Of(ctx)
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting++; w.waiting == 1 {
		w.since = time.Now()
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting--; w.waiting == 0 {
			w.waited += time.Since(w.since)
		}
	})
}

// Ran is the time since Start without that of waiting.
func (w *Watch) Ran() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	ran := time.Since(w.began) - w.waited
	if w.waiting > 0 {
		ran -= time.Since(w.since)
	}
	return max(ran, 0)
}
