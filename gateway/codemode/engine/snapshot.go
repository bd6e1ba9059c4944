package engine

import (
	"context"
	"errors"

	_ "github.com/klauspost/compress/s2" // follows with the codec
)

// Snapshot puts a waiting VM into bytes that Restore takes back under the same
// scope, in this process or, with the same Options.Key, in another.
func (v *VM) Snapshot(ctx context.Context, scope string) ([]byte, error) {
	return nil, errors.New("not yet")
}

// Restore brings back what Snapshot put away.
func (e *Engine) Restore(ctx context.Context, data []byte, l Limits, scope string) (*VM, error) {
	return nil, errors.New("not yet")
}
