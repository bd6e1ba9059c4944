// Package teardown gives back what was opened, the last first, however far the
// opening came. It does not know what that is.
package teardown

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"
)

// Stack is what is to be given back. It is used by one goroutine.
type Stack struct {
	log   *slog.Logger
	limit time.Duration
	ends  []end
}

type end struct {
	what  string
	close func(context.Context) error
}

// New returns an empty stack, which complains to log. All ends together may take
// as long as limit.
func New(log *slog.Logger, limit time.Duration) *Stack { return &Stack{log: log, limit: limit} }

// Add puts something that was opened on top; what names it, in the log.
func (s *Stack) Add(what string, close func(context.Context) error) {
	s.ends = append(s.ends, end{what, close})
}

// Plain is Add for what cannot fail.
func (s *Stack) Plain(close func()) {
	s.Add("", func(context.Context) error { close(); return nil })
}

// LogTo complains to another log from now on. Its file is closed at the very end:
// all others may have something to say.
func (s *Stack) LogTo(log *slog.Logger, file io.Closer) {
	s.log = log
	s.ends = slices.Insert(s.ends, 0, end{"the log", func(context.Context) error { return file.Close() }})
}

// Close gives everything back, also when ctx has ended. It is called once.
func (s *Stack) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limit)
	defer cancel()
	for _, end := range slices.Backward(s.ends) {
		if err := end.close(ctx); err != nil {
			s.log.Error("something did not end as it should", "what", end.what, "err", err)
		}
	}
}
