package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
)

// Tx is a transaction: read-only in View, writable in Update.
type Tx struct {
	tx   *bbolt.Tx
	made *changes // what it changed, while somebody wants to know
}

// OnCommit calls fn when the transaction is on disk, before anybody is told, on
// the writer's goroutine. It must not block. A transaction that comes to nothing
// calls nothing; one that is run again has forgotten what it was given before.
func (tx *Tx) OnCommit(fn func()) { tx.tx.OnCommit(fn) }

// Bucket is a typed table: keys are bytes in order, values are JSON.
type Bucket[T any] struct{ Table }

// NewBucket declares a table. It creates nothing; the first write does.
func NewBucket[T any](name string) Bucket[T] { return Bucket[T]{Table{[]byte(name)}} }

// Get returns the value at key; ok is false when there is none.
func (b Bucket[T]) Get(tx *Tx, key []byte) (v T, ok bool, err error) {
	raw := b.GetRaw(tx, key)
	if raw == nil {
		return v, false, nil
	}
	if err := b.decode(key, raw, &v); err != nil {
		return v, false, err
	}
	return v, true, nil
}

// Put sets the value at key.
func (b Bucket[T]) Put(tx *Tx, key []byte, v T) error { return b.put(tx, key, v) }

// Table is what a bucket does with bytes. It is apart from Bucket so that all
// types of values share its code.
type Table struct{ name []byte }

func (t Table) writable(tx *Tx) (*bbolt.Bucket, error) {
	bb, err := tx.tx.CreateBucketIfNotExists(t.name)
	if err != nil {
		return nil, fmt.Errorf("store bucket %s: %w", t.name, err)
	}
	return bb, nil
}

// set puts bytes that were checked, and says so to who records.
func (t Table) set(tx *Tx, key, raw []byte) error {
	bb, err := t.writable(tx)
	if err != nil {
		return err
	}
	if err := bb.Put(key, raw); err != nil {
		return err
	}
	tx.made.add(change{table: t.name, key: key, value: raw})
	return nil
}

func (t Table) put(tx *Tx, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store %s: %w", t.name, err)
	}
	return t.set(tx, key, raw)
}

func (t Table) decode(key, raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: record %s/%q: %v", ErrDamaged, t.name, key, err)
	}
	return nil
}

// Has reports whether key is there, without decoding its value.
func (t Table) Has(tx *Tx, key []byte) bool { return t.GetRaw(tx, key) != nil }

// GetRaw returns the undecoded value at key, valid until the transaction ends;
// nil when there is none.
func (t Table) GetRaw(tx *Tx, key []byte) []byte {
	bb := tx.tx.Bucket(t.name)
	if bb == nil {
		return nil
	}
	return bb.Get(key)
}

// PutRaw sets bytes that are no JSON, or are it already. They must not change until
// the transaction ends.
func (t Table) PutRaw(tx *Tx, key, raw []byte) error { return t.set(tx, key, raw) }

// Delete removes key; a missing one is no error.
func (t Table) Delete(tx *Tx, key []byte) error {
	bb := tx.tx.Bucket(t.name)
	if bb == nil {
		return nil
	}
	if err := bb.Delete(key); err != nil {
		return err
	}
	tx.made.add(change{table: t.name, key: key, deleted: true})
	return nil
}

// NextSeq returns 1, 2, 3 … for this bucket, durable with the transaction.
func (t Table) NextSeq(tx *Tx) (uint64, error) {
	bb, err := t.writable(tx)
	if err != nil {
		return 0, err
	}
	seq, err := bb.NextSequence()
	if err != nil {
		return 0, err
	}
	tx.made.add(change{table: t.name, seq: seq})
	return seq, nil
}

// Row is one key and value of a scan. Key is valid until the transaction ends.
type Row[T any] struct {
	Key   []byte
	Value T
}

// Range says which keys a scan visits and in which order.
type Range struct {
	Prefix []byte
	// Before, when set, visits only keys smaller than it.
	Before []byte
	// After, when set, visits only keys greater than it.
	After []byte
	// Reverse goes from the greatest key down.
	Reverse bool
}

// Scan yields the rows of r. A value that cannot be decoded ends the scan with
// an error that names its key.
func (b Bucket[T]) Scan(tx *Tx, r Range) iter.Seq2[Row[T], error] {
	return func(yield func(Row[T], error) bool) {
		for k, raw := range b.ScanRaw(tx, r) {
			row := Row[T]{Key: k}
			if err := b.decode(k, raw, &row.Value); err != nil {
				yield(row, err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// ScanRaw yields keys and undecoded values; both are valid until the
// transaction ends.
func (t Table) ScanRaw(tx *Tx, r Range) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		bb := tx.tx.Bucket(t.name)
		if bb == nil {
			return
		}
		c := bb.Cursor()
		k, v := r.first(c)
		for k != nil && r.holds(k) {
			if !yield(k, v) {
				return
			}
			if r.Reverse {
				k, v = c.Prev()
			} else {
				k, v = c.Next()
			}
		}
	}
}

// DeleteRange removes up to limit rows of r and returns how many they were.
func (t Table) DeleteRange(tx *Tx, r Range, limit int) (int, error) {
	var keys [][]byte
	for k := range t.ScanRaw(tx, r) {
		if keys = append(keys, append([]byte(nil), k...)); len(keys) == limit {
			break
		}
	}
	for _, k := range keys {
		if err := t.Delete(tx, k); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}

// Count returns how many rows the bucket has; it walks the pages.
func (t Table) Count(tx *Tx) int {
	bb := tx.tx.Bucket(t.name)
	if bb == nil {
		return 0
	}
	return bb.Stats().KeyN
}

// Uint64Key is a key that sorts like the number.
func Uint64Key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
