package provider

import (
	"context"
	"sync"
)

// Detector looks for model servers again and again: at the start, and whenever
// somebody says that there may be others.
type Detector struct {
	models *Registry
	again  chan struct{}

	mu    sync.Mutex
	after []func(ctx context.Context)
}

// NewDetector returns a detector of a registry's models.
func NewDetector(models *Registry) *Detector {
	return &Detector{models: models, again: make(chan struct{}, 1)}
}

// Again has it look once more, soon: settings have changed, or there is a new
// account. It does not block.
func (d *Detector) Again() {
	select {
	case d.again <- struct{}{}:
	default:
	}
}

// After has look called each time that was looked, in Run's goroutine.
func (d *Detector) After(look func(ctx context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.after = append(d.after, look)
}

// Run looks until ctx ends.
func (d *Detector) Run(ctx context.Context) {
	for {
		d.models.Detect(ctx)
		d.mu.Lock()
		after := d.after
		d.mu.Unlock()
		for _, look := range after {
			look(ctx)
		}
		select {
		case <-d.again:
		case <-ctx.Done():
			return
		}
	}
}
