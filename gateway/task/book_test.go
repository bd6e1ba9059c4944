package task_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// rig is a book over a database that can be closed and opened again.
type rig struct {
	*task.Book
	t    *testing.T
	path string
	db   *store.DB
	now  time.Time
	stop func()
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "t.db"), now: time.Now()}
	r.open()
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	db, err := store.Open(r.path, store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		r.t.Fatal(err)
	}
	b, err := task.Open(task.Options{DB: db, Now: func() time.Time { return r.now }})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	r.Book, r.db = b, db
	r.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Error(err)
		}
		if err := db.Close(context.WithoutCancel(ctx)); err != nil {
			r.t.Error(err)
		}
	}
}

func (r *rig) close() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

func (r *rig) restart() {
	r.close()
	r.open()
}

func (r *rig) must(id string) task.Task {
	r.t.Helper()
	t, ok := r.Get(id)
	if !ok {
		r.t.Fatalf("there is no task %s", id)
	}
	return t
}

func of(id, kind, status string) task.Task {
	t := task.Task{Again: true}
	t.ID, t.Kind, t.Status, t.Title = id, kind, status, "what "+id+" is"
	return t
}

// owner vouches for what its map holds.
type owner struct {
	now       map[string]string
	cancelled []string
}

func (o *owner) Now(t task.Task) (task.Task, bool) {
	s, ok := o.now[t.ID]
	t.Status = s
	return t, ok
}

func (o *owner) Cancel(_ context.Context, t task.Task) error {
	o.cancelled = append(o.cancelled, t.ID)
	return nil
}

func (o *owner) Retry(_ context.Context, t task.Task) (string, error) { return t.ID + "-again", nil }

func TestARestartSaysWhatWasInterrupted(t *testing.T) {
	r := newRig(t)
	r.Put(of("mine", "subagent", protocol.TaskRunning))
	r.Put(of("ended", "subagent", protocol.TaskRunning))
	r.Put(of("lost", "subagent", protocol.TaskRunning))
	r.Put(of("orphan", "model_download", protocol.TaskQueued))
	r.Put(of("done", "model_download", protocol.TaskCompleted))
	r.restart()
	r.Own("subagent", &owner{now: map[string]string{"mine": protocol.TaskRunning, "ended": protocol.TaskCompleted}})
	r.Settle()
	for id, want := range map[string]string{
		"mine": protocol.TaskRunning, "ended": protocol.TaskCompleted, "lost": protocol.TaskFailed, "orphan": protocol.TaskFailed,
		"done": protocol.TaskCompleted,
	} {
		got := r.must(id)
		interrupted := want == protocol.TaskFailed
		if got.Status != want || got.Interrupted != interrupted || interrupted && got.Error != task.Interrupted {
			t.Errorf("%s is %s (interrupted %v, %q), want %s", id, got.Status, got.Interrupted, got.Error, want)
		}
		if got.Title == "" || got.CreatedAt == 0 {
			t.Errorf("%s has lost what was known of it: %+v", id, got.Task)
		}
	}
	r.restart()
	if got := r.must("lost"); !got.Interrupted || got.EndedAt == 0 {
		t.Errorf("the second start does not know that it was interrupted: %+v", got)
	}
}

func TestWhatIsOverStaysOver(t *testing.T) {
	r := newRig(t)
	a := of("a", "subagent", protocol.TaskRunning)
	a.Prompt, a.AgentID = "all of it", "main"
	r.Put(a)
	r.Put(of("a", "subagent", protocol.TaskCompleted))
	r.Put(of("a", "subagent", protocol.TaskRunning)) // told late
	got := r.must("a")
	if got.Status != protocol.TaskCompleted || got.Prompt != "all of it" || got.AgentID != "main" || got.EndedAt < got.StartedAt {
		t.Errorf("it is %+v", got.Task)
	}
	r.Put(of("b", "subagent", protocol.TaskRunning))
	r.Put(of("b", "subagent", protocol.TaskQueued)) // told late
	if got := r.must("b"); got.Status != protocol.TaskRunning {
		t.Errorf("it is %s again", got.Status)
	}
}

func TestDo(t *testing.T) {
	broken := errors.New("the disk is full")
	for name, c := range map[string]struct {
		work   func(r *rig, ctx context.Context) error
		status string
		cut    bool
		words  string
	}{
		"done":   {func(*rig, context.Context) error { return nil }, protocol.TaskCompleted, false, ""},
		"failed": {func(*rig, context.Context) error { return broken }, protocol.TaskFailed, false, "The disk is full."},
		"cancelled": {func(r *rig, ctx context.Context) error {
			if err := r.Cancel(ctx, "x"); err != nil {
				return err
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, protocol.TaskCancelled, false, ""},
		"left alone": {func(_ *rig, ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, protocol.TaskFailed, true, "It was cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_ = r.Do(ctx, of("x", "model_download", ""), func(ctx context.Context) (string, error) {
				if got := r.must("x"); got.Status != protocol.TaskRunning {
					t.Errorf("while it works it is %s", got.Status)
				}
				r.Progress("x", 5, 10, "half")
				if c.cut {
					cancel()
				}
				return "", c.work(r, ctx)
			})
			got := r.must("x")
			if got.Status != c.status || got.Interrupted != c.cut || !strings.HasPrefix(got.Error, c.words) || got.Done == 0 {
				t.Errorf("it is %s, interrupted %v, %q, %d done", got.Status, got.Interrupted, got.Error, got.Done)
			}
			if err := r.Cancel(t.Context(), "x"); !errors.Is(err, task.ErrOver) {
				t.Errorf("cancelling what is over: %v", err)
			}
			if err := r.Do(t.Context(), of("x", "model_download", ""), func(context.Context) (string, error) { return "well", nil }); err != nil {
				t.Error(err)
			}
			if got := r.must("x"); got.Status != protocol.TaskCompleted || got.Interrupted || got.Error != "" {
				t.Errorf("done again under its name it is %+v", got)
			}
		})
	}
}

func TestCancelAndRetryAreTheOwners(t *testing.T) {
	r, o := newRig(t), &owner{}
	r.Own("subagent", o)
	r.Put(of("a", "subagent", protocol.TaskRunning))
	r.Put(of("b", "subagent", protocol.TaskFailed))
	r.Put(of("c", "subagent", protocol.TaskCompleted))
	r.Put(of("d", "nobody", protocol.TaskRunning))
	if err := r.Cancel(t.Context(), "a"); err != nil || !slices.Equal(o.cancelled, []string{"a"}) {
		t.Errorf("cancelled %v, %v", o.cancelled, err)
	}
	if _, err := r.Retry(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]error{"a": task.ErrOpen, "c": task.ErrNoRetry, "none": task.ErrNotFound} {
		if _, err := r.Retry(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("doing %s again: %v, want %v", id, err, want)
		}
	}
	if err := r.Cancel(t.Context(), "d"); !errors.Is(err, task.ErrNoCancel) {
		t.Errorf("cancelling what nobody owns: %v", err)
	}
	if _, err := r.Dismiss("a"); !errors.Is(err, task.ErrOpen) {
		t.Errorf("dismissing what works: %v", err)
	}
	if _, err := r.Dismiss("c"); err != nil {
		t.Error(err)
	}
	r.restart()
	if _, ok := r.Get("c"); ok {
		t.Error("what was dismissed is there again after a restart")
	}
}

// A page after another shows each task once, whatever is reported between them.
func TestPages(t *testing.T) {
	r, rnd := newRig(t), seed.New(t)
	for i := range 57 {
		x := of(fmt.Sprint("t", i), []string{"subagent", "model_download"}[i%2], protocol.TaskCompleted)
		x.CreatedAt, x.EndedAt = int64(1000+rnd.IntN(20)), time.Now().UnixMilli()
		r.Put(x)
	}
	seen := map[string]int{}
	for q := (task.Query{Limit: 10}); ; {
		page, more := r.List(q)
		for _, x := range page {
			seen[x.ID]++
		}
		r.Put(of(fmt.Sprint("new", rnd.IntN(1000)), "subagent", protocol.TaskCompleted))
		if !more {
			break
		}
		q.After = q.PlaceOf(page[len(page)-1])
	}
	for i := range 57 {
		if n := seen[fmt.Sprint("t", i)]; n != 1 {
			t.Errorf("t%d was on %d pages", i, n)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	r := newRig(t)
	r.Put(of("download", "model_download", protocol.TaskCompleted))
	for i := range 450 {
		x := of(fmt.Sprint(i), "automation_run", protocol.TaskCompleted)
		x.EndedAt = time.Now().UnixMilli() + int64(i)
		x.Error = strings.Repeat("é", 5000)
		r.Put(x)
	}
	r.restart()
	all, _ := r.List(task.Query{Limit: 1000})
	if len(all) != 401 {
		t.Errorf("%d tasks are kept, want 400 of one kind and the one of another", len(all))
	}
	if _, ok := r.Get("0"); ok {
		t.Error("the oldest is kept")
	}
	if got := r.must("449"); len(got.Error) > 2000 {
		t.Errorf("%d bytes of an error are kept", len(got.Error))
	}
}

// Progress is told now and then, an end at once.
func TestProgressIsToldNowAndThen(t *testing.T) {
	r := newRig(t)
	told := 0
	r.Follow(func(task.Task, bool) { told++ })
	r.Put(of("x", "model_download", protocol.TaskRunning))
	for i := range 1000 {
		r.Progress("x", int64(i), 1000, "")
		r.now = r.now.Add(time.Millisecond)
	}
	r.Put(of("x", "model_download", protocol.TaskCompleted))
	if told < 4 || told > 8 {
		t.Errorf("a second of progress was told %d times", told)
	}
}
