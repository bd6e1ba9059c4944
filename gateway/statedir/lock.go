package statedir

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockTry is how often a lock that somebody else holds is asked for again.
const lockTry = 25 * time.Millisecond

// Lock waits until no other process, and no other caller, holds the lock of
// that name. A file system without locks is an error.
func (d Dir) Lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(d.path("."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock %s: %w", name, err)
	}
	again := time.NewTicker(lockTry)
	defer again.Stop()
	for {
		busy, err := tryLock(f)
		switch {
		case err != nil:
			_ = f.Close()
			return nil, fmt.Errorf("take the lock %s: %w", name, err)
		case !busy:
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		}
	}
}
