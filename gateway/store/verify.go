package store

import (
	"context"
	"hash/crc32"
	"time"

	"go.etcd.io/bbolt"
)

// Bounds of one step of Verify: others write and read between two of them, and pages
// that are given up meanwhile can be used again.
const (
	verifyRows  = 2000
	verifyBytes = 1 << 20
	verifyRest  = 100 * time.Millisecond // at most, between two steps
)

// Usage is how much of the file is in use.
type Usage struct {
	Bytes int64 // of the file, without what the system keeps ready behind its end
	Free  int64 // of them: pages that hold nothing, which new rows will use
}

// Usage tells it.
func (db *DB) Usage() (u Usage) {
	_ = db.View(func(tx *Tx) error { // a failure is told by whatever meets it next
		u.Bytes = tx.tx.Size()
		s := tx.tx.DB().Stats()
		u.Free = int64(s.FreePageN+s.PendingPageN) * int64(tx.tx.DB().Info().PageSize)
		return nil
	})
	return u
}

// Verify reads every row of an open store, in small steps that rest for as long as
// they took, and returns how many there are. tell is told how many bytes of rows were
// read. It is ErrDamaged when something cannot be read.
func (db *DB) Verify(ctx context.Context, tell func(bytes int64)) (records int, err error) {
	read, sum := int64(0), crc32.NewIEEE() // of which only matters that all is read
	err = db.Walk(ctx, func(_ string, key, value []byte) {
		_, _ = sum.Write(value)
		records, read = records+1, read+int64(len(key)+len(value))
	}, func() { tell(read) })
	return records, err
}

// Walk shows every row of an open store, in steps like those of Verify, after each of
// which step is called. A row that is written meanwhile is shown or not. Key and value
// are valid for the call.
func (db *DB) Walk(ctx context.Context, row func(table string, key, value []byte), step func()) error {
	names, err := db.tables()
	if err != nil {
		return err
	}
	for _, name := range names {
		for after, more := []byte(nil), true; more; {
			began := time.Now()
			if after, more, err = db.walkStep(name, after, row); err != nil {
				return err
			}
			step()
			if err := pauseFor(ctx, min(time.Since(began), verifyRest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tables are the names of those that there are.
func (db *DB) tables() (names [][]byte, err error) {
	err = db.View(func(tx *Tx) error {
		return tx.tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if b != nil {
				names = append(names, clone(name))
			}
			return nil
		})
	})
	return names, err
}

// walkStep shows some rows of a table behind one of its keys.
func (db *DB) walkStep(name, after []byte, row func(table string, key, value []byte)) (last []byte, more bool, err error) {
	n, bytes := 0, 0
	err = db.View(func(tx *Tx) error {
		for k, v := range (Table{name}).ScanRaw(tx, Range{After: after}) {
			row(string(name), k, v)
			last = append(last[:0], k...)
			if n, bytes = n+1, bytes+len(k)+len(v); n >= verifyRows || bytes >= verifyBytes {
				more = true
				return nil
			}
		}
		return nil
	})
	return last, more, err
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
