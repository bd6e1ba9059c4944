package store

import (
	"context"
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"
)

var restoredKey = []byte("restored")

// MarkRestored notes that this store, as a backup kept it, takes the place of a
// newer one at a moment.
func (db *DB) MarkRestored(ctx context.Context, at time.Time) error {
	err := db.Update(ctx, Write{Do: func(tx *Tx) error {
		return Table{metaBucket}.PutRaw(tx, restoredKey, binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())))
	}})
	if err == nil {
		db.restored.Store(at.UnixMilli())
	}
	return err
}

// Restored is when a backup became this store; zero: never.
func (db *DB) Restored() time.Time {
	ms := db.restored.Load()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Past reports whether what was to be done at a moment (Unix milliseconds) belongs
// to the time before a backup became this store. The store that it replaced may
// have done it, so whoever takes up what an earlier start left open does not:
// nothing is sent, asked or run a second time because its owner went back in
// time.
func (db *DB) Past(ms int64) bool { return ms > 0 && ms < db.restored.Load() }

// readRestored reads the mark when the store is opened.
func (db *DB) readRestored() error {
	return db.file.bolt.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(metaBucket).Get(restoredKey); len(v) == 8 {
			db.restored.Store(int64(binary.BigEndian.Uint64(v)))
		}
		return nil
	})
}
