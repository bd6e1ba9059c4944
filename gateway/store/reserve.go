package store

import (
	"os"
	"sync/atomic"
)

// reserve is a file of real bytes beside the store. Deleting it makes room on
// a full disk for the few writes that tell how running work ended. Only the
// writer's goroutine calls its methods; spent may be read by anyone.
type reserve struct {
	path  string
	size  int64
	spent atomic.Bool
}

// fill makes the file if it is missing or short; failing means there is no
// reserve, which is how a store starts on a full disk.
func (r *reserve) fill() bool {
	if r.size <= 0 {
		return true
	}
	if st, err := os.Stat(r.path); err == nil && st.Size() == r.size {
		return true
	}
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return false
	}
	chunk := make([]byte, 64<<10)
	for n := int64(0); n < r.size; n += int64(len(chunk)) {
		if _, err = f.Write(chunk[:min(int64(len(chunk)), r.size-n)]); err != nil {
			break
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(r.path)
		return false
	}
	return true
}

// spend deletes the file; false means that it was spent before.
func (r *reserve) spend() bool {
	if r.size <= 0 || r.spent.Swap(true) {
		return false
	}
	_ = os.Remove(r.path)
	return true
}

// refill makes the file again if there is room for it.
func (r *reserve) refill() bool {
	if !r.fill() {
		return false
	}
	r.spent.Store(false)
	return true
}
