package database

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
)

// What is worth writing anew: more than half, and more than 64 MB.
func TestWasteful(t *testing.T) {
	for _, c := range []struct {
		bytes, free int64
		want        bool
	}{
		{100 << 20, 90 << 20, true}, {100 << 20, 60 << 20, false}, {60 << 20, 59 << 20, false}, {1 << 30, 500 << 20, false},
		{1 << 30, 600 << 20, true}, {0, 0, false},
	} {
		if got := wasteful(store.Usage{Bytes: c.bytes, Free: c.free}); got != c.want {
			t.Errorf("%d of %d MB: %v", c.free>>20, c.bytes>>20, got)
		}
	}
}

// TestCompactedByItself: while nobody waits for an answer, once a day at most, and only
// what is worth it.
func TestCompactedByItself(t *testing.T) {
	if !store.CompactsOpen {
		t.Skip("an open file cannot be replaced here")
	}
	synctest.Test(t, func(t *testing.T) {
		dir := statedir.Dir(t.TempDir())
		db, err := store.Open(dir.Store(), store.Options{ReserveBytes: -1, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		tasks, err := task.Open(task.Options{DB: db, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		work, ended := background.New(ctx), make(chan struct{})
		var answers atomic.Int64
		answers.Store(1)
		feature := New(Options{Store: db, Dir: dir, Tasks: tasks, Work: work, Load: func() (active, queued int) { return int(answers.Load()), 0 },
			Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		go func() { defer close(ended); _ = feature.Run(ctx) }()
		defer func() { cancel(); <-ended; work.Close(); _ = db.Close(context.WithoutCancel(ctx)) }()
		// after says how much of the database is not in use, in MB, after a time.
		after := func(d time.Duration) int64 {
			<-time.After(d)
			synctest.Wait()
			return db.Usage().Free >> 20
		}
		waste(t, db)
		if free := after(time.Hour); free < 70 {
			t.Errorf("compacted while an answer was written: %d MB are not in use", free)
		}
		answers.Store(0)
		if free := after(lookEvery + time.Minute); free > 10 {
			t.Errorf("not compacted: %d MB are not in use", free)
		}
		waste(t, db)
		if free := after(compactEvery - time.Hour); free < 70 {
			t.Errorf("compacted again within a day: %d MB are not in use", free)
		}
		if free := after(2 * time.Hour); free > 10 {
			t.Errorf("not compacted on the next day: %d MB are not in use", free)
		}
	})
}

// waste writes 80 MB and deletes them.
func waste(t *testing.T, db *store.DB) {
	t.Helper()
	rows, text := store.NewBucket[string]("waste"), bytes.Repeat([]byte("x"), 1<<20)
	for _, drop := range []bool{false, true} {
		for n := range uint64(80) {
			err := db.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
				if drop {
					return rows.Delete(tx, store.Uint64Key(n))
				}
				return rows.PutRaw(tx, store.Uint64Key(n), text)
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
