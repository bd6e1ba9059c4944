package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

func open(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func book(db *store.DB, at *time.Time) *Book {
	return New(db, func() time.Time { return *at }, slog.New(slog.DiscardHandler))
}

// TestDo: one key is one act, whoever asks how often, and also after a restart.
func TestDo(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "h.db"), time.Date(2026, 1, 18, 12, 0, 0, 0, time.UTC)
	db := open(t, path)
	b := book(db, &now)
	var did atomic.Int32
	do := func(b *Book, key, print string, err error) (json.RawMessage, error) {
		return b.Do(t.Context(), key, print, func() (json.RawMessage, error) {
			return fmt.Appendf(nil, "%d", did.Add(1)), err
		})
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := do(b, "a", "x", nil); err != nil || string(got) != "1" {
				t.Errorf("%s %v", got, err)
			}
		})
	}
	all.Wait()
	refused := errors.New("refused")
	if _, err := do(b, "b", "x", refused); !errors.Is(err, refused) {
		t.Error(err)
	}
	if got, err := do(b, "b", "y", nil); err != nil || string(got) != "3" { // nothing had happened
		t.Errorf("%s %v", got, err)
	}
	var open3 *Unknown
	if _, err := do(b, "c", "x", &Unknown{"the line was cut"}); !errors.As(err, &open3) || did.Load() != 4 {
		t.Error(err, did.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	_, _ = b.Do(ctx, "d", "x", func() (json.RawMessage, error) { // Hearth ends in the middle
		stop()
		_ = db.Close(context.WithoutCancel(ctx))
		return nil, nil
	})
	db = open(t, path)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	b = book(db, &now)
	for key, want := range map[string]string{"a": "1", "b": "3"} {
		if got, err := do(b, key, map[string]string{"a": "x", "b": "y"}[key], nil); err != nil || string(got) != want {
			t.Errorf("%s after a restart: %s %v", key, got, err)
		}
	}
	for key, why := range map[string]string{"c": "the line was cut", "d": "Hearth stopped while it was done"} {
		if _, err := do(b, key, "x", nil); !errors.As(err, &open3) || open3.Reason != why {
			t.Errorf("%s after a restart: %v", key, err)
		}
	}
	if _, err := do(b, "a", "z", nil); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	if did.Load() != 4 {
		t.Errorf("it was done %d times", did.Load())
	}
	now = now.Add(keep + time.Hour)
	if got, err := do(b, "e", "x", nil); err != nil || string(got) != "5" {
		t.Errorf("%s %v", got, err)
	}
	left := 0
	_ = db.View(func(tx *store.Tx) error {
		for range b.acts.ScanRaw(tx, store.Range{}) {
			left++
		}
		return nil
	})
	if left != 1 {
		t.Errorf("%d are remembered after a month", left)
	}
}
