package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// halfEmpty is an open store with rows in two tables, half of which were removed again.
func halfEmpty(t *testing.T, rows int) (*DB, Bucket[string]) {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "hearth.db"), Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	a, b := NewBucket[string]("a"), NewBucket[string]("b")
	put := func(do func(*Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), Write{Do: do}); err != nil {
			t.Fatal(err)
		}
	}
	put(func(tx *Tx) (err error) {
		for n := range rows {
			key := fmt.Appendf(nil, "%08d", n)
			err = errors.Join(err, a.Put(tx, key, fmt.Sprintf("%0500d", n)), b.Put(tx, key, fmt.Sprintf("%0500d", n)))
		}
		return err
	})
	put(func(tx *Tx) error { _, err := b.DeleteRange(tx, Range{}, rows); return err })
	return db, a
}

// All rows are read, in steps that leave the store to others.
func TestVerifyReadsAllWhileOthersWrite(t *testing.T) {
	db, a := halfEmpty(t, 20_000)
	told, last := 0, int64(0)
	done, worst := make(chan struct{}), time.Duration(0)
	go func() {
		defer close(done)
		for n := range 50 {
			began := time.Now()
			_ = db.Update(t.Context(), Write{Do: func(tx *Tx) error { return a.Put(tx, fmt.Appendf(nil, "x%d", n), "y") }})
			worst = max(worst, time.Since(began))
		}
	}()
	n, err := db.Verify(t.Context(), func(bytes int64) {
		if bytes < last {
			t.Errorf("it goes back from %d to %d", last, bytes)
		}
		told, last = told+1, bytes
	})
	<-done
	if err != nil || n < 20_000 || n > 20_060 || told < 10 {
		t.Errorf("%d records, told %d times, %v", n, told, err)
	}
	t.Logf("the longest write meanwhile took %v", worst)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := db.Verify(ctx, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not end when it shall: %v", err)
	}
}

// What cannot be read is told as damage.
func TestVerifyFindsDamage(t *testing.T) {
	db, _ := halfEmpty(t, 5000)
	f, err := os.OpenFile(db.Path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, _ := f.Stat()
	if _, err := f.WriteAt(make([]byte, st.Size()-8192), 8192); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if n, err := db.Verify(t.Context(), func(int64) {}); err == nil && n >= 5000 {
		t.Errorf("%d records were read", n)
	}
}

// A compacted store has every row and no free pages; what is open is left alone.
func TestCompact(t *testing.T) {
	db, a := halfEmpty(t, 20_000)
	if u := db.Usage(); u.Free < u.Bytes/4 {
		t.Fatalf("nothing is free: %+v", u)
	}
	if _, _, err := Compact(db.Path()); !errors.Is(err, ErrLocked) {
		t.Errorf("an open store: %v", err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, after, err := Compact(db.Path())
	if err != nil || after > before*3/4 {
		t.Fatalf("%d bytes became %d, %v", before, after, err)
	}
	again, err := Open(db.Path(), Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close(t.Context()) }()
	_ = again.View(func(tx *Tx) error {
		v, ok, err := a.Get(tx, []byte("00019999"))
		if n := a.Count(tx); n != 20_000 || !ok || err != nil || v != fmt.Sprintf("%0500d", 19_999) {
			t.Errorf("%d rows, %v %v", n, ok, err)
		}
		return nil
	})
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(db.Path()), ".hearth.db.[0-9]*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// A store has as many bytes when nobody has it open as while somebody does.
func TestUsedIsWhatUsageTells(t *testing.T) {
	db, _ := halfEmpty(t, 100)
	want := db.Usage().Bytes
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := Used(db.Path()); got != want || got == 0 || err != nil {
		t.Errorf("%d bytes (%v), want %d", got, err, want)
	}
}
