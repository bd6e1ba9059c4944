// Package output watches what a command prints: it is run at each look, and a run of
// the job begins when it says something else than the last time. A command that fails
// is something that cannot be looked at.
//
// How a command is run, and within which limits, is the concern of who hands it in.
package output

import (
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

// Source is the command.
type Source struct {
	title string
	run   func(ctx context.Context) (string, error)
}

// New watches what run returns; title names it to people.
func New(title string, run func(ctx context.Context) (string, error)) *Source {
	return &Source{title, run}
}

// Look implements watch.Source.
func (s *Source) Look(ctx context.Context, kept json.RawMessage) (watch.Found, error) {
	return watch.Words(kept, "output", s.title, "", func(*watch.Validators) (string, bool, error) {
		said, err := s.run(ctx)
		return said, false, err
	})
}
