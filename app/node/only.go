package node

import (
	"context"
	"errors"
	"time"
)

// lockName is held by the one host of a state folder, for its life.
const lockName = "node"

// soon is how long a lock is waited for that is free.
const soon = 200 * time.Millisecond

// ErrRunning: there is one already.
var ErrRunning = errors.New("this machine's node runs already")

// Only makes sure that one host at a time works for a state folder.
func Only(ctx context.Context, f Folder) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	release, err = f.Dir.Lock(ctx, lockName)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, ErrRunning
	}
	return release, err
}

// Running reports whether one works now.
func Running(ctx context.Context, f Folder) bool {
	release, err := Only(ctx, f)
	if err == nil {
		release()
	}
	return errors.Is(err, ErrRunning)
}
