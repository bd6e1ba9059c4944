package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// begin imports, as a task.
func (f *feature) begin(ctx context.Context, p protocol.ImportParams) (protocol.ImportStarted, error) {
	who, t, err := f.choose(p) // what cannot be opened is told at once
	if err != nil {
		return protocol.ImportStarted{}, told(ctx, err)
	}
	p.From, p.Path = who.id, t.Path
	if err := t.Close(); err != nil {
		return protocol.ImportStarted{}, err
	}
	if err := f.claim(ctx); err != nil {
		return protocol.ImportStarted{}, err
	}
	id, err := f.work(ctx, p, who.name)
	if err != nil {
		f.one.Unlock()
	}
	return protocol.ImportStarted{TaskID: id}, err
}

// work begins the task; f.one is held, and let go by the task.
func (f *feature) work(ctx context.Context, p protocol.ImportParams, name string) (string, error) {
	if f.Work.Closed() {
		return "", protocol.Unavailable(1000, "Hearth is stopping. Import again after the restart.")
	}
	ask, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	t := task.Task{Again: true, Ask: ask}
	t.ID, t.Kind, t.Runtime = uuid.New(), protocol.TaskImport, "import"
	t.Title = fmt.Sprintf("Import from %s (%s)", name, filepath.Base(p.Path))
	f.mu.Lock()
	t.Total = int64(f.counted[asked{p.From, p.Path}])
	f.mu.Unlock()
	t.Status = protocol.TaskRunning
	f.Tasks.Put(t)
	if err := f.Tasks.Keep(ctx, t.ID); err != nil { // else a crash would leave half of an import that nobody knows of
		t.Status, t.Error = protocol.TaskFailed, protocol.Sentence(err.Error())
		f.Tasks.Put(t)
		return "", err
	}
	f.Work.Go(func(ctx context.Context) {
		defer f.one.Unlock()
		err := f.Tasks.Do(ctx, t, func(ctx context.Context) (string, error) {
			rep, _, err := f.walk(ctx, p, t.ID, func(n int, doing string) { f.Tasks.Progress(t.ID, int64(n), t.Total, doing) })
			rep.TaskID = t.ID
			if err != nil {
				rep.Error = protocol.Sentence(err.Error())
			}
			f.keep(t.ID, rep)
			return summary(rep), err
		})
		if err != nil && ctx.Err() == nil {
			f.Log.Warn("an import did not come to its end", "from", p.From, "err", err)
		}
	})
	f.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "imported from " + name, Facts: map[string]string{"path": p.Path, "task": t.ID}})
	return t.ID, nil
}

// summary is what an import brought, in one line.
func summary(rep protocol.ImportReport) string {
	chats, said, others, left := 0, 0, 0, 0
	for _, r := range rep.Rows {
		left += r.Left
		if r.Kind == "chat" {
			chats, said = r.New+r.Grown, r.NewSaid
		} else {
			others += r.New + r.Grown
		}
	}
	return fmt.Sprintf("%d chats with %d new messages and %d other things came in; %d were not taken.", chats, said, others, left)
}

// doer does imports again that were cut off.
type doer struct{ f *feature }

// Now implements task.Owner: nobody goes on with an import by itself.
func (d doer) Now(t task.Task) (task.Task, bool) { return t, false }

// Cancel implements task.Owner; one that runs is ended by the book.
func (d doer) Cancel(context.Context, task.Task) error { return task.ErrNoCancel }

// Retry implements task.Owner. What is here already is not taken twice.
func (d doer) Retry(ctx context.Context, t task.Task) (string, error) {
	var p protocol.ImportParams
	if err := json.Unmarshal(t.Ask, &p); err != nil {
		return "", task.ErrNoRetry
	}
	started, err := d.f.begin(ctx, p)
	return started.TaskID, err
}
