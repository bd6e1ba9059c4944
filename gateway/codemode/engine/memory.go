package engine

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// maxMemory keeps a reservation within 32-bit addresses and one page.
const maxMemory = 1<<32 - 1<<20 - 64<<20

// memory is one VM's linear memory: reserved at once, outside Go's heap, never
// moved. It remembers that it refused to grow, which is how
// memory_limit_exceeded is told from every other way to fail.
type memory struct {
	limit  uint64
	full   []byte
	denied atomic.Bool
	peak   uint64
}

func newMemory(limit uint64) (*memory, error) {
	limit = (limit + pageSize - 1) &^ (pageSize - 1)
	full, err := reserve(limit)
	if err != nil {
		return nil, err
	}
	return &memory{limit: limit, full: full}, nil
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit || commit(m.full, m.peak, size) != nil {
		m.denied.Store(true)
		return nil
	}
	m.peak = max(m.peak, size)
	return m.full[:size:size]
}

// fits says whether the reservation is large enough for limit, and not so much
// too large that another would be better.
func (m *memory) fits(limit uint64) bool {
	n := uint64(len(m.full))
	return n >= limit && n-limit <= 16*pageSize
}

// Free implements experimental.LinearMemory. wazero calls it while frames of
// the guest may still stand on the stack; release comes later.
func (m *memory) Free() {}

// release gives the memory back. No call into the VM may be running.
func (m *memory) release() error {
	full := m.full
	m.full = nil
	if full == nil {
		return nil
	}
	return unreserve(full)
}
