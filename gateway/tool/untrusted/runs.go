package untrusted

import (
	"strings"
	"sync"
)

// Marked reports whether a text holds text from outside, between its marks.
func Marked(text string) bool { return strings.Contains(text, "<<<"+name+" id=") }

// Runs remembers which answers were given text from outside while they were
// worked on. The zero value is ready, and safe for concurrent use.
type Runs struct {
	mu   sync.Mutex
	read map[string]bool
}

// Add notes that a run has read text from outside.
func (r *Runs) Add(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = map[string]bool{}
	}
	r.read[run] = true
}

// Has reports whether it has.
func (r *Runs) Has(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read[run]
}

// Over forgets a run that has ended.
func (r *Runs) Over(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.read, run)
}
