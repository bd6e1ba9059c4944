package taint

import "sync"

// runs remembers which answers were given text from outside while they were
// worked on. The zero value is ready, and safe for concurrent use.
type runs struct {
	mu   sync.Mutex
	read map[string]bool
}

// add notes that a run has read text from outside.
func (r *runs) add(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = map[string]bool{}
	}
	r.read[run] = true
}

// has reports whether it has.
func (r *runs) has(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read[run]
}

// over forgets a run that has ended.
func (r *runs) over(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.read, run)
}
