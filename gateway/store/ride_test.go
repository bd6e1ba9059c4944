package store

import (
	"path/filepath"
	"testing"

	berrors "go.etcd.io/bbolt/errors"
)

// What rides costs no commit of its own, comes with the next one, and at the latest
// with the end.
func TestRidersBringAboutNoCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db := open(t, path)
	b := NewBucket[record]("r")
	put := func(key string) Write {
		return Write{Do: func(tx *Tx) error { return b.Put(tx, []byte(key), record{1}) }}
	}
	has := func(key string) (ok bool, commits int) {
		t.Helper()
		if err := db.View(func(tx *Tx) error {
			ok, commits = b.Has(tx, []byte(key)), tx.tx.ID()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return ok, commits
	}
	if err := db.Update(t.Context(), put("first")); err != nil {
		t.Fatal(err)
	}
	_, before := has("first")
	db.Ride(put("rider"))
	db.Ride(Write{Do: func(*Tx) error { return berrors.ErrKeyRequired }}) // one that fails costs nobody else
	db.Moves()
	if ok, now := has("rider"); ok || now != before {
		t.Errorf("there: %v, after %d commits", ok, now-before)
	}
	if err := db.Update(t.Context(), put("second")); err != nil {
		t.Fatal(err)
	}
	if ok, now := has("rider"); !ok || now != before+1 {
		t.Errorf("there: %v, after %d commits", ok, now-before)
	}
	db.Ride(put("last"))
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	if ok, _ := has("last"); !ok {
		t.Error("a rider is lost at the end")
	}
}
