package session

import (
	"context"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
)

// patience is the time that a run may take. It does not run while somebody is
// waited for: the answer of a person is not the run's work. Nor does it run while
// the computer sleeps.
type patience struct {
	end context.CancelCauseFunc

	mu      sync.Mutex
	left    time.Duration
	waiting int
	timer   *awake.Timer
}

type patienceKey struct{}

// withPatience ends the context with errTimeout when its time is used up.
func withPatience(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	p := &patience{end: end, left: d}
	p.run()
	return context.WithValue(ctx, patienceKey{}, p), func() {
		p.mu.Lock()
		p.timer.Stop()
		p.mu.Unlock()
		end(nil)
	}
}

func (p *patience) run() {
	p.timer = awake.AfterFunc(p.left, func() {
		p.mu.Lock()
		over := p.waiting == 0
		p.mu.Unlock()
		if over {
			p.end(errTimeout)
		}
	})
}

// Waiting stops the clock of the run that ctx belongs to, if it belongs to one,
// until resume is called; several may wait at a time.
func Waiting(ctx context.Context) (resume func()) {
	p, ok := ctx.Value(patienceKey{}).(*patience)
	if !ok {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting++; p.waiting == 1 {
		p.left, _ = p.timer.Stop()
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting--; p.waiting == 0 {
			p.run()
		}
	})
}
