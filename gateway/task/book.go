package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// tellEvery is how often the progress of a task is told.
const tellEvery = 300 * time.Millisecond

// Options of a Book; all are needed but Logger.
type Options struct {
	DB     *store.DB
	Now    func() time.Time
	Logger *slog.Logger
}

// Book is safe for concurrent use. Reports return at once; Run writes them down.
type Book struct {
	Options
	rows store.Bucket[Task] // by id
	wake chan struct{}

	mu     sync.Mutex
	all    map[string]*Task
	owners map[string]Owner // by kind
	stops  map[string]context.CancelCauseFunc
	dirty  map[string]bool
	told   map[string]time.Time // the progress of open tasks
	follow func(t Task, gone bool)
}

// Open reads the book.
func Open(o Options) (*Book, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Book{
		Options: o, rows: store.NewBucket[Task]("tasks"), wake: make(chan struct{}, 1), all: map[string]*Task{}, owners: map[string]Owner{},
		stops: map[string]context.CancelCauseFunc{}, dirty: map[string]bool{}, told: map[string]time.Time{},
		follow: func(Task, bool) {},
	}
	err := o.DB.View(func(tx *store.Tx) error {
		for row, err := range b.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return fmt.Errorf("read the tasks: %w", err)
			}
			t := row.Value
			b.all[t.ID] = &t
		}
		return nil
	})
	return b, err
}

// Own says who does the tasks of a kind. It is called before Settle.
func (b *Book) Own(kind string, o Owner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owners[kind] = o
}

// Follow has every change told; gone: the task is not kept any more. f must not
// block and must not call the book.
func (b *Book) Follow(f func(t Task, gone bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.follow = f
}

// Settle asks each owner how the tasks stand that were open when the program
// ended. It is called once, when every owner is there and before anything is begun.
func (b *Book) Settle() {
	b.mu.Lock()
	var open []Task
	for _, t := range b.all {
		if t.Open() && b.stops[t.ID] == nil {
			open = append(open, *t)
		}
	}
	owners := b.owners
	b.mu.Unlock()
	for _, t := range open {
		now, ok := t, false
		if o := owners[t.Kind]; o != nil {
			now, ok = o.Now(t)
		}
		if !ok {
			now = t
			now.interrupt()
		}
		b.Put(now)
	}
}

// Put reports how a task is. What is over stays over, and what was said of it
// before need not be said again.
func (b *Book) Put(t Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(t)
}

func (b *Book) put(t Task) {
	if t.ID == "" || t.Kind == "" || t.Status == "" {
		b.Logger.Error("a task was reported that has no id, kind or status", "task", t.ID, "kind", t.Kind)
		return
	}
	was := b.all[t.ID]
	if was != nil {
		if !was.Open() && t.Open() || was.Status == protocol.TaskRunning && t.Status == protocol.TaskQueued {
			return // told late
		}
		t.keep(was)
	}
	now := b.Now().UnixMilli()
	t.fit(now)
	if was != nil && t.same(was) {
		return
	}
	t.UpdatedAt = now
	b.all[t.ID] = &t
	b.changed(t, false)
	if !t.Open() {
		delete(b.told, t.ID)
		b.prune(t.Kind)
	}
}

// changed has the task written and told; b.mu is held.
func (b *Book) changed(t Task, gone bool) {
	b.dirty[t.ID] = true
	b.follow(t, gone)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Progress reports how far an open task is. It is told now and then, and not
// written down.
func (b *Book) Progress(id string, done, total int64, doing string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.all[id]
	if was == nil || !was.Open() {
		return
	}
	t := *was
	t.Done, t.Total, t.ProgressSummary = max(done, 0), max(total, 0), line(doing, maxDoing)
	now := b.Now()
	t.UpdatedAt = now.UnixMilli()
	b.all[id] = &t
	if now.Sub(b.told[id]) >= tellEvery {
		b.told[id] = now
		b.follow(t, false)
	}
}

// prune forgets the oldest of a kind that are over; b.mu is held.
func (b *Book) prune(kind string) {
	var over []*Task
	for _, t := range b.all {
		if t.Kind == kind && !t.Open() {
			over = append(over, t)
		}
	}
	before := b.Now().Add(-longest).UnixMilli()
	slices.SortFunc(over, func(x, y *Task) int { return cmp.Or(cmp.Compare(y.EndedAt, x.EndedAt), strings.Compare(y.ID, x.ID)) })
	for i, t := range over {
		if i >= mostOfKind || t.EndedAt < before {
			delete(b.all, t.ID)
			b.changed(*t, true)
		}
	}
}

// Get is one task.
func (b *Book) Get(id string) (Task, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.all[id]
	if t == nil {
		return Task{}, false
	}
	return *t, true
}

// List is a page of tasks, the newest first, and whether there are more.
func (b *Book) List(q Query) (page []Task, more bool) {
	b.mu.Lock()
	var all []*Task // values are replaced, never changed
	for _, t := range b.all {
		if q.fits(t) {
			all = append(all, t)
		}
	}
	b.mu.Unlock()
	newer := func(x, y Place) int { return cmp.Or(cmp.Compare(y.At, x.At), strings.Compare(y.ID, x.ID)) }
	place := func(t *Task) Place { return Place{q.at(t), t.ID} }
	slices.SortFunc(all, func(x, y *Task) int { return newer(place(x), place(y)) })
	for _, t := range all {
		switch {
		case q.After.ID != "" && newer(q.After, place(t)) >= 0:
		case len(page) == q.Limit:
			return page, true
		default:
			page = append(page, *t)
		}
	}
	return page, false
}

// PlaceOf is where a page of this query ends that ends with t.
func (q *Query) PlaceOf(t Task) Place { return Place{q.at(&t), t.ID} }

// Run writes reports down until ctx ends, and then what is left.
func (b *Book) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			b.flush(context.WithoutCancel(ctx))
			return nil
		case <-b.wake:
			b.flush(ctx)
		}
	}
}

// Keep writes a task down at once: whoever is told its name finds it again, also
// after a crash.
func (b *Book) Keep(ctx context.Context, id string) error {
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if t, ok := b.Get(id); ok {
			return b.rows.Put(tx, []byte(id), t)
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("write the task %s down: %w", id, err)
	}
	return nil
}

func (b *Book) flush(ctx context.Context) {
	b.mu.Lock()
	dirty := b.dirty
	b.dirty = map[string]bool{}
	b.mu.Unlock()
	if len(dirty) == 0 {
		return
	}
	err := b.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		for id := range dirty {
			t, ok := b.Get(id)
			var err error
			if ok {
				err = b.rows.Put(tx, []byte(id), t)
			} else {
				err = b.rows.Delete(tx, []byte(id))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}})
	if err == nil {
		return
	}
	if ctx.Err() == nil {
		b.Logger.Warn("tasks could not be written down; they are with the next change", "err", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range dirty {
		b.dirty[id] = true
	}
}
