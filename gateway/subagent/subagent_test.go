package subagent_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/subagent"
)

// yard is a book whose sub-agents do nothing until they are ended.
type yard struct {
	mu sync.Mutex
	*subagent.Book
	db                           *store.DB
	limits                       subagent.Limits
	started, told, stopped, gone []string
	startErr, tellErr            error
}

func newYard(t *testing.T) *yard {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{db: db, limits: subagent.Limits{Depth: 1, Concurrent: 2, Children: 3, Archive: time.Hour}}
	y.open()
	return y
}

func (y *yard) open() {
	y.Book = subagent.New(subagent.Options{DB: y.db, Now: time.Now, Limits: func() subagent.Limits { return y.limits }})
}

// sessions are those of the yard's sub-agents.
type sessions struct{ y *yard }

func (s sessions) note(list *[]string, r subagent.Record, err *error) error {
	s.y.mu.Lock()
	defer s.y.mu.Unlock()
	*list = append(*list, r.RunID)
	if err == nil {
		return nil
	}
	return *err
}

func (s sessions) Start(_ context.Context, r subagent.Record) error {
	return s.note(&s.y.started, r, &s.y.startErr)
}
func (s sessions) Tell(_ context.Context, r subagent.Record) error {
	return s.note(&s.y.told, r, &s.y.tellErr)
}
func (s sessions) Stop(_ context.Context, r subagent.Record) error {
	return s.note(&s.y.stopped, r, nil)
}
func (s sessions) Remove(_ context.Context, r subagent.Record) error {
	return s.note(&s.y.gone, r, nil)
}
func (s sessions) Archive(_ context.Context, r subagent.Record) error {
	return s.note(&s.y.gone, r, nil)
}

// seen is a list as it is now.
func (y *yard) seen(list *[]string) []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(*list)
}

// fail makes starting and telling fail from now on.
func (y *yard) fail(start, tell error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.startErr, y.tellErr = start, tell
}

func (y *yard) add(t *testing.T, id, parent string) error {
	t.Helper()
	return y.Add(t.Context(), subagent.Record{RunID: id, Key: subagent.KeyBelow(parent, "main", id), ParentKey: parent, ParentRun: "run",
		Task: "do " + id})
}

func (y *yard) end(t *testing.T, id, outcome string) {
	t.Helper()
	err := y.db.Update(t.Context(), store.Write{Then: y.Wake, Do: func(tx *store.Tx) error { return y.End(tx, id, outcome, "result of "+id) }})
	if err != nil {
		t.Fatal(err)
	}
}

const home = "agent:main:main"

// inYard runs a test beside a running book in a bubble of time.
func inYard(t *testing.T, test func(t *testing.T, y *yard)) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); y.Run(ctx, sessions{y}) }()
		test(t, y)
		stop()
		<-done
		if err := y.db.Close(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
}

func TestLimits(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		for i := range 4 {
			if err := y.add(t, fmt.Sprint("c", i), home); (err != nil) != (i == 3) || err != nil && !errors.Is(err, subagent.ErrLimit) {
				t.Errorf("number %d: %v", i, err)
			}
		}
		if err := y.add(t, "deep", subagent.KeyBelow(home, "main", "c0")); !errors.Is(err, subagent.ErrLimit) ||
			!strings.Contains(err.Error(), "maxSpawnDepth") {
			t.Errorf("a sub-agent starts one: %v", err)
		}
		synctest.Wait()
		if !slices.Equal(y.seen(&y.started), []string{"c0", "c1"}) {
			t.Errorf("started %v, two may work at the same time", y.seen(&y.started))
		}
		y.end(t, "c0", "answered")
		synctest.Wait()
		if !slices.Equal(y.seen(&y.started), []string{"c0", "c1", "c2"}) || !slices.Equal(y.seen(&y.told), []string{"c0"}) {
			t.Errorf("started %v, told %v", y.seen(&y.started), y.seen(&y.told))
		}
		if err := y.add(t, "c4", home); err != nil {
			t.Errorf("there is room again: %v", err)
		}
	})
}

func TestStopping(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		for _, id := range []string{"a", "b", "c"} {
			if err := y.add(t, id, home); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		y.Stopped(t.Context(), home, "another run")
		synctest.Wait()
		if len(y.seen(&y.stopped)) != 0 {
			t.Errorf("stopped %v for another run's sake", y.seen(&y.stopped))
		}
		y.Stopped(t.Context(), home, "run")
		synctest.Wait()
		y.end(t, "a", "aborted")
		y.end(t, "b", "aborted")
		synctest.Wait()
		if slices.Contains(y.seen(&y.started), "c") || len(y.seen(&y.told)) != 0 || !slices.Contains(y.seen(&y.stopped), "a") ||
			!slices.Contains(y.seen(&y.stopped), "b") {
			t.Errorf("started %v, stopped %v, told %v", y.seen(&y.started), y.seen(&y.stopped), y.seen(&y.told))
		}
	})
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		y.fail(errors.New("no model"), nil)
		if err := y.add(t, "a", home); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		synctest.Wait()
		if len(y.seen(&y.started)) != 3 || !slices.Equal(y.seen(&y.told), []string{"a"}) {
			t.Errorf("started %v, told %v", y.seen(&y.started), y.seen(&y.told))
		}
		all, err := y.All()
		if err != nil || len(all) != 1 || all[0].Outcome != "failed" || !strings.Contains(all[0].Result, "no model") {
			t.Errorf("%+v, %v", all, err)
		}
		y.fail(nil, errors.New("the disk is full"))
		if err := y.add(t, "b", home); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		y.end(t, "b", "answered")
		<-time.After(7 * time.Second)
		synctest.Wait()
		y.fail(nil, nil)
		<-time.After(10 * time.Second)
		synctest.Wait()
		if all, _ = y.All(); all[1].State != subagent.Told {
			t.Errorf("%+v", all)
		}
	})
}

func TestPutAway(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		if err := y.add(t, "kept", home); err != nil {
			t.Fatal(err)
		}
		if err := y.Add(t.Context(), subagent.Record{RunID: "deleted", Key: "agent:main:subagent:x", ParentKey: home, Task: "x",
			Cleanup: subagent.Delete}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		y.end(t, "kept", "answered")
		y.end(t, "deleted", "answered")
		synctest.Wait()
		if !slices.Equal(y.seen(&y.gone), []string{"deleted"}) {
			t.Errorf("put away %v", y.seen(&y.gone))
		}
		<-time.After(61 * time.Minute)
		synctest.Wait()
		if !slices.Equal(y.seen(&y.gone), []string{"deleted", "kept"}) {
			t.Errorf("an hour later: %v", y.seen(&y.gone))
		}
		if all, err := y.All(); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// What one boot wrote down, the next one goes on with.
func TestTheNextBootGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		if err := y.add(t, "a", home); err != nil { // nobody runs the book yet
			t.Fatal(err)
		}
		y.end(t, "a", "interrupted")
		y.open()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); y.Run(ctx, sessions{y}) }()
		synctest.Wait()
		y.end(t, "a", "answered") // a second end is none
		synctest.Wait()
		stop()
		<-done
		if !slices.Equal(y.seen(&y.told), []string{"a"}) || len(y.seen(&y.started)) != 0 {
			t.Errorf("told %v, started %v", y.seen(&y.told), y.seen(&y.started))
		}
		if err := y.db.Close(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
}
