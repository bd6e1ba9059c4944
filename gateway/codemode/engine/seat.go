package engine

import (
	"context"
	"time"
)

// turn is how long a program keeps its place while others wait for one.
const turn = 20 * time.Millisecond

// seat is a place where a program runs. There are few of them, because what runs keeps a
// processor busy: a program that does not end shares its place with those that wait.
type seat struct {
	engine *Engine
	held   bool
	since  time.Time
}

// take waits for a place to run. Places are given in the order in which they were asked for.
func (e *Engine) take(ctx context.Context) (*seat, error) {
	p := &seat{engine: e}
	return p, p.enter(ctx)
}

func (p *seat) enter(ctx context.Context) error {
	e := p.engine
	e.waiting.Add(1)
	defer e.waiting.Add(-1)
	select {
	case e.running <- struct{}{}:
		p.held, p.since = true, time.Now()
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// leave gives the place to the next; one that was lost already is nobody's.
func (p *seat) leave() {
	if p.held {
		p.held = false
		<-p.engine.running
	}
}

// giveWay lets another program run that waits, when the guest had its turn, and waits
// for the next. That is none of the guest's time. Without a place the guest may not go
// on: ctx has ended then, which the caller looks at.
func (v *VM) giveWay(ctx context.Context) {
	p := v.seat
	if p == nil || p.engine.waiting.Load() == 0 || time.Since(p.since) < turn {
		return
	}
	began := time.Now()
	p.leave()
	_ = p.enter(ctx)
	v.until = v.until.Add(time.Since(began))
}
