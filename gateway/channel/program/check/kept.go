package check

import (
	"context"
	"sync"
)

// kept is the store of one row. It implements channel.Durable.
type kept struct {
	mu     sync.Mutex
	values map[string][]byte
}

// Get returns a value.
func (k *kept) Get(_ context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.values[key], nil
}

// Put keeps one.
func (k *kept) Put(_ context.Context, key string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[string][]byte{}
	}
	k.values[key] = value
	return nil
}
