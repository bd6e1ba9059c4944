// Package sleep waits for time to pass, as long as somebody wants what comes
// after it. It does not decide how long: who tries again keeps its own count.
package sleep

import (
	"context"
	"time"
)

// For waits d, or until ctx ends, whose error it returns then.
func For(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
