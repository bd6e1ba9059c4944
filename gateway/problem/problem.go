// Package problem gathers what a person should know about: from whoever can say it
// when asked, and what was found once, at the start. It judges nothing itself.
package problem

import (
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Board is all that a person should know about. Its methods may be called from
// several goroutines.
type Board struct {
	mu      sync.Mutex
	sources []func() []protocol.Problem
	noted   []protocol.Problem
}

// Follow asks a source whenever All is called; it returns at once.
func (b *Board) Follow(source func() []protocol.Problem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sources = append(b.sources, source)
}

// Note keeps what was found until Hearth ends.
func (b *Board) Note(p ...protocol.Problem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noted = append(b.noted, p...)
}

// Noted is what was found.
func (b *Board) Noted() []protocol.Problem {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.noted)
}

// All is what the sources say now, in the order in which they were followed, and
// what was found.
func (b *Board) All() []protocol.Problem {
	b.mu.Lock()
	sources := slices.Clone(b.sources)
	b.mu.Unlock()
	out := []protocol.Problem{} // a list on the wire, also when it is empty
	for _, ask := range sources {
		out = append(out, ask()...)
	}
	out = append(out, b.Noted()...)
	for i, p := range out {
		if p.Repair == "" {
			out[i].Repair = protocol.RepairOf(p.Code)
		}
	}
	return out
}
