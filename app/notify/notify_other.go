//go:build !linux && !darwin

package notify

import (
	"context"
	"time"
)

// Options: none is used.
type Options struct {
	Chosen func(Choice)
	Now    func() time.Time
}

// Desktop shows nothing: Windows takes notes only from programs that it was
// told of by an installer. The icon shows what waits.
type Desktop struct{}

// New makes one.
func New(Options) *Desktop { return &Desktop{} }

// Show says that there is nothing to show it with.
func (d *Desktop) Show(context.Context, Note) error { return ErrNone }

// Withdraw has nothing to take away.
func (d *Desktop) Withdraw(context.Context, string) {}

// Close has nothing to end.
func (d *Desktop) Close() {}
