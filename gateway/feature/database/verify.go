package database

import (
	"context"
	"fmt"
	"os"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// checked is how the last look ended.
type checked struct {
	at      int64
	records int
	problem string
}

func (f *feature) status(context.Context, method.None) (protocol.StoreStatus, error) {
	u := f.o.Store.Usage()
	out := protocol.StoreStatus{Bytes: u.Bytes, Free: u.Free}
	if st, err := os.Stat(f.o.Dir.LastGood()); err == nil {
		out.CopiedAtMs = st.ModTime().UnixMilli()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out.CompactedAtMs, out.GivenBack, out.CompactProblem = f.compact.at, f.compact.back, f.compact.problem
	out.CheckedAtMs, out.Records, out.Problem = f.last.at, f.last.records, f.last.problem
	if t, ok := f.o.Tasks.Get(f.task); ok && t.Open() {
		out.TaskID, out.TaskKind, out.Done, out.Total = t.ID, t.Kind, t.Done, t.Total
	}
	return out, nil
}

// check reads all of the database, as a task, beside everything else.
func (f *feature) check(ctx context.Context, _ method.None) (protocol.StoreStatus, error) {
	return f.begin(ctx, protocol.TaskStoreCheck, "Check of the database", f.readAll)
}

// begin does one piece of work on the database as a task, one at a time.
func (f *feature) begin(ctx context.Context, kind, title string, do func(context.Context, task.Task) (string, error)) (
	protocol.StoreStatus, error,
) {
	if f.o.Work.Closed() {
		return protocol.StoreStatus{}, protocol.Unavailable(1000, "Hearth is stopping. Look after the database when it runs again.")
	}
	f.mu.Lock()
	if was, ok := f.o.Tasks.Get(f.task); ok && was.Open() {
		f.mu.Unlock()
		if was.Kind != kind {
			return protocol.StoreStatus{}, protocol.Unavailable(10_000, "“%s” is under way, and one at a time is done. Ask again when "+
				"it is over.", was.Title)
		}
		return f.status(ctx, method.None{}) // it is under way already
	}
	u := f.o.Store.Usage()
	t := task.Task{Total: max(u.Bytes-u.Free, 1)}
	t.ID, t.Kind, t.Runtime = uuid.New(), kind, "store"
	t.Title, t.Status = title, protocol.TaskRunning
	f.task = t.ID
	f.o.Tasks.Put(t)
	f.mu.Unlock()
	f.o.Work.Go(func(ctx context.Context) {
		err := f.o.Tasks.Do(ctx, t, func(ctx context.Context) (string, error) { return do(ctx, t) })
		if err != nil && ctx.Err() == nil {
			f.o.Log.Warn("work on the database did not come to its end", "work", kind, "err", err)
		}
	})
	return f.status(ctx, method.None{})
}

// readAll reads every row, and says what it found.
func (f *feature) readAll(ctx context.Context, t task.Task) (string, error) {
	n, err := f.o.Store.Verify(ctx, func(bytes int64) { f.o.Tasks.Progress(t.ID, min(bytes, t.Total), t.Total, "") })
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = checked{at: f.o.Now().UnixMilli(), records: n}
	if err != nil {
		f.last.problem = protocol.Sentence(err.Error())
		return "", fmt.Errorf("read the database: %w. Stop the gateway, then `hearth store check` says what is left, and `hearth store "+
			"restore` takes the last good copy", err)
	}
	return fmt.Sprintf("%d records, all of them can be read.", n), nil
}

// doer answers for work that a restart cut off: it is simply asked for again.
type doer struct {
	again func(context.Context, method.None) (protocol.StoreStatus, error)
}

// Now implements task.Owner.
func (doer) Now(t task.Task) (task.Task, bool) { return t, false }

// Cancel implements task.Owner; one that runs is ended by the book.
func (doer) Cancel(context.Context, task.Task) error { return task.ErrNoCancel }

// Retry implements task.Owner.
func (d doer) Retry(ctx context.Context, _ task.Task) (string, error) {
	st, err := d.again(ctx, method.None{})
	return st.TaskID, err
}
