package store

import "context"

// SmallTable keeps values of one kind of which there are few: all are read once, at
// the start, and each is written under its id when it changes. What it keeps is
// somebody's decision, so a full disk does not stop it.
type SmallTable[T any] struct {
	db   *DB
	rows Bucket[T]
	id   func(T) string
}

// NewSmallTable keeps values in the bucket called name.
func NewSmallTable[T any](db *DB, name string, id func(T) string) SmallTable[T] {
	return SmallTable[T]{db: db, rows: NewBucket[T](name), id: id}
}

// Load returns all values, in the order of their ids.
func (s SmallTable[T]) Load(context.Context) (all []T, err error) {
	err = s.db.View(func(tx *Tx) error {
		for row, err := range s.rows.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			all = append(all, row.Value)
		}
		return nil
	})
	return all, err
}

// Save returns when the value is durable.
func (s SmallTable[T]) Save(ctx context.Context, v T) error {
	return s.db.Update(ctx, Write{Must: true, Do: func(tx *Tx) error { return s.rows.Put(tx, []byte(s.id(v)), v) }})
}

// Forget returns when there durably is no value of this id; a missing one is no
// error.
func (s SmallTable[T]) Forget(ctx context.Context, id string) error {
	return s.db.Update(ctx, Write{Must: true, Do: func(tx *Tx) error { return s.rows.Delete(tx, []byte(id)) }})
}
