// Package watchtest is what every source of package watch has to pass: nothing is
// told of the first look and of no change, each change once, also over restarts;
// a source that is away is told once, and what strangers put there does no harm.
package watchtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/watch"
)

// patience is how long a look may take in a test.
const patience = 30 * time.Second

// World is something that a source looks at, and a test changes.
type World struct {
	Source watch.Source
	// Change makes a change that is told with one of these words in it.
	Change func(t *testing.T, n int) (words string)
	// Away takes what is looked at away, or brings it back.
	Away func(t *testing.T, away bool)
	// Hostile puts there what strangers might, one by one; Mend puts back what was.
	Hostile []func(t *testing.T)
	Mend    func(t *testing.T)
}

// Run has a source pass all of it; open makes a world of its own for each case.
func Run(t *testing.T, open func(t *testing.T) *World) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *rig)
	}{
		{"nothing is told of the first look, and of no change", quiet},
		{"each change is told once", once},
		{"nothing is told twice after a restart, and what changed meanwhile is told", restart},
		{"what could not be kept is told the next time", unkept},
		{"what is away is told once, and nothing is lost", away},
		{"what strangers put there does no harm", hostile},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, open(t))
			c.test(t, r)
		})
	}
}

// rig keeps one watch.
type rig struct {
	*World
	t      *testing.T
	db     *store.DB
	keeper *watch.Keeper
	stop   func()

	mu    sync.Mutex
	told  []watch.Change
	said  []error
	fails bool // what happens cannot be kept
	n     int
}

func newRig(t *testing.T, w *World) *rig {
	db, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{World: w, t: t, db: db}
	r.up()
	t.Cleanup(func() {
		r.stop()
		if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return r
}

// up begins as a start of the program does.
func (r *rig) up() {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	k := watch.New(r.db, r, slog.New(slog.DiscardHandler))
	k.Set([]watch.Watch{{ID: "w", Rev: 1, Every: time.Hour, Source: r.Source}})
	go func() {
		defer close(done)
		_ = k.Run(ctx)
	}()
	r.keeper, r.stop = k, func() { cancel(); <-done }
	r.looked(time.Time{})
}

// look has it looked at now, and says what came of it.
func (r *rig) look() watch.Status {
	r.t.Helper()
	before, _ := r.keeper.Status("w")
	r.keeper.Look("w")
	return r.looked(before.Looked)
}

// looked waits for a look after a moment.
func (r *rig) looked(after time.Time) watch.Status {
	r.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if s, _ := r.keeper.Status("w"); s.Looked.After(after) {
			return s
		}
		select {
		case <-limit:
			r.t.Fatalf("a look took longer than %s", patience)
		case <-tick.C:
		}
	}
}

// Happened implements watch.Does.
func (r *rig) Happened(ctx context.Context, _ watch.Watch, changes []watch.Change, also func(tx *store.Tx) error) error {
	r.mu.Lock()
	fails := r.fails
	r.mu.Unlock()
	if fails {
		return errors.New("the disk is full")
	}
	if len(changes) > 200 {
		r.t.Errorf("%d changes of a look", len(changes))
	}
	err := r.db.Update(ctx, store.Write{Do: also})
	if err == nil {
		r.mu.Lock()
		r.told = append(r.told, changes...)
		r.mu.Unlock()
	}
	return err
}

// Away implements watch.Does.
func (r *rig) Away(_ context.Context, _ watch.Watch, problem error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, problem)
}

// change makes one more change.
func (r *rig) change() string {
	r.t.Helper()
	r.n++
	return r.Change(r.t, r.n)
}

// wants looks until these words were told, each once and in some order, and
// nothing else.
func (r *rig) wants(words ...string) {
	r.t.Helper()
	for range 20 {
		r.look()
		r.mu.Lock()
		enough := len(r.told) >= len(words)
		r.mu.Unlock()
		if enough {
			break
		}
	}
	r.look()
	r.mu.Lock()
	told := r.told
	r.told = nil
	r.mu.Unlock()
	var got []string
	for _, c := range told {
		got = append(got, fmt.Sprintf("%s %s %s", c.What, c.Title, c.Text))
	}
	for _, w := range words {
		at := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, w) })
		if at < 0 {
			r.t.Errorf("%q was not told; told: %q", w, got)
			continue
		}
		got = slices.Delete(got, at, at+1)
	}
	if len(got) > 0 {
		r.t.Errorf("told too: %q", got)
	}
}

func quiet(_ *testing.T, r *rig) {
	r.look()
	r.look()
	r.wants()
}

func once(_ *testing.T, r *rig) {
	r.wants(r.change())
	r.wants()
	r.wants(r.change())
	r.wants(r.change())
	r.wants()
}

func restart(_ *testing.T, r *rig) {
	r.wants(r.change())
	r.stop()
	r.up()
	r.wants()
	r.stop()
	words := r.change()
	r.up()
	r.wants(words)
	r.stop()
	r.up()
	r.wants()
}

func unkept(t *testing.T, r *rig) {
	r.look()
	words := r.change()
	r.mu.Lock()
	r.fails = true
	r.mu.Unlock()
	for range 3 {
		r.look()
	}
	r.mu.Lock()
	if len(r.told) > 0 {
		t.Errorf("told and not kept: %+v", r.told)
	}
	r.fails = false
	r.mu.Unlock()
	r.wants(words)
}

func away(t *testing.T, r *rig) {
	r.look()
	r.World.Away(t, true)
	for range 6 {
		if s := r.look(); s.Problem == "" || time.Until(s.Next) < 30*time.Second {
			t.Fatalf("it is away, and: %+v", s)
		}
	}
	r.stop()
	r.up()
	r.look()
	r.mu.Lock()
	if len(r.said) != 1 || r.said[0] == nil || len(r.told) > 0 {
		t.Errorf("said: %v, told: %+v", r.said, r.told)
	}
	r.mu.Unlock()
	r.World.Away(t, false)
	r.look()
	r.wants(r.change())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) != 2 || r.said[1] != nil {
		t.Errorf("said: %v", r.said)
	}
}

func hostile(t *testing.T, r *rig) {
	r.look()
	for i, put := range r.Hostile {
		put(t)
		began := time.Now()
		r.look()
		t.Logf("hostile %d: %s", i, time.Since(began).Round(time.Millisecond))
		r.mu.Lock()
		for _, c := range r.told {
			if len(c.Text) > watch.MaxText || len(c.Title) > 300 || len(c.Link) > 2048 {
				t.Errorf("hostile %d: a change of %d and %d bytes", i, len(c.Title), len(c.Text))
			}
		}
		r.told = nil
		r.mu.Unlock()
	}
	if r.Mend == nil {
		return
	}
	r.Mend(t)
	r.look()
	r.look()
	r.mu.Lock()
	r.told = nil
	r.mu.Unlock()
	r.wants(r.change())
}
