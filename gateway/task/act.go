package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// ErrCancelled is why the work of a task ends that somebody cancelled.
var ErrCancelled = errors.New("somebody cancelled it")

// cutShort is said of work whose context ended.
const cutShort = "It was cut short: Hearth stopped, or the program that wanted it went away."

// words are an error as people read it.
func words(err error) string {
	var wire *protocol.Error
	if errors.As(err, &wire) {
		return wire.Message
	}
	return protocol.Sentence(err.Error())
}

// Do does work as a task: it is reported as running, can be cancelled, and what
// comes of it is its end. ctx ending otherwise is an interruption.
func (b *Book) Do(ctx context.Context, t Task, work func(ctx context.Context) (said string, err error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.Status, t.EndedAt, t.Error, t.Interrupted = protocol.TaskRunning, 0, "", false
	b.mu.Lock()
	if was := b.all[t.ID]; was != nil && !was.Open() {
		delete(b.all, t.ID) // it is done again under its name
	}
	b.stops[t.ID] = stop
	b.put(t)
	b.mu.Unlock()

	said, err := work(ctx)

	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stops, t.ID)
	if now := b.all[t.ID]; now != nil {
		t = *now
	}
	t.TerminalSummary = said
	switch cause := context.Cause(ctx); {
	case err == nil:
		t.Status = protocol.TaskCompleted
		if t.Total > 0 {
			t.Done = t.Total
		}
	case errors.Is(cause, ErrCancelled):
		t.Status = protocol.TaskCancelled
	case cause != nil:
		t.interrupt()
		t.Error = cutShort
	default:
		t.Status, t.Error = protocol.TaskFailed, words(err)
	}
	b.put(t)
	return err
}

// Cancel ends a task early. The end is reported by whoever does it.
func (b *Book) Cancel(ctx context.Context, id string) error {
	b.mu.Lock()
	t, stop := b.all[id], b.stops[id]
	var o Owner
	if t != nil {
		o = b.owners[t.Kind]
	}
	b.mu.Unlock()
	switch {
	case t == nil:
		return ErrNotFound
	case !t.Open():
		return ErrOver
	case stop != nil:
		stop(ErrCancelled)
		return nil
	case o == nil:
		return ErrNoCancel
	}
	if err := o.Cancel(ctx, *t); err != nil {
		return fmt.Errorf("cancel the task %s: %w", id, err)
	}
	return nil
}

// Retry does a task again that is over and did not come to its end.
func (b *Book) Retry(ctx context.Context, id string) (Task, error) {
	t, ok := b.Get(id)
	if !ok {
		return Task{}, ErrNotFound
	}
	b.mu.Lock()
	o := b.owners[t.Kind]
	b.mu.Unlock()
	switch {
	case t.Open():
		return t, ErrOpen
	case o == nil || !t.CanRetry():
		return t, ErrNoRetry
	}
	again, err := o.Retry(ctx, t)
	if err != nil {
		return t, fmt.Errorf("do the task %s again: %w", id, err)
	}
	if now, ok := b.Get(again); ok {
		return now, nil
	}
	return t, nil
}

// Dismiss forgets a task that is over.
func (b *Book) Dismiss(id string) (Task, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.all[id]
	switch {
	case t == nil:
		return Task{}, ErrNotFound
	case t.Open():
		return *t, ErrOpen
	}
	delete(b.all, id)
	b.changed(*t, true)
	return *t, nil
}
