package store

import "sync"

// change is what a write did to one key, or to a table.
type change struct {
	table      []byte
	key, value []byte // no key: the table as such
	deleted    bool
	seq        uint64 // the table's, 0: as it was
}

func (c change) size() int64 { return int64(len(c.key)+len(c.value)) + changeHead }

// changeHead is about what a change takes beside its bytes.
const changeHead = 128

// changes are those of one transaction; nil records nothing.
type changes struct{ list []change }

func (c *changes) add(one change) {
	if c == nil {
		return
	}
	one.key, one.value = clone(one.key), clone(one.value)
	c.list = append(c.list, one)
}

// clone copies bytes that belong to a transaction, and keeps nil what is nil.
func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

// journal is what was committed since a moment, in its order. What it holds is
// bounded: beyond that it gives up and holds nothing any more.
type journal struct {
	most int64

	mu    sync.Mutex
	list  []change
	bytes int64
	lost  bool
}

// add takes over what a transaction changed; on the writer's goroutine.
func (j *journal) add(c *changes) {
	if c == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range c.list {
		j.bytes += one.size()
	}
	if j.lost = j.lost || j.bytes > j.most; j.lost {
		j.list = nil
		return
	}
	j.list = append(j.list, c.list...)
}

// take hands over what was recorded since the last time.
func (j *journal) take() ([]change, int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lost {
		return nil, 0, ErrBehind
	}
	list, bytes := j.list, j.bytes
	j.list, j.bytes = nil, 0
	return list, bytes, nil
}

// waiting is how many bytes of changes wait to be taken.
func (j *journal) waiting() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}
