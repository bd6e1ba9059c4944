package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
)

// migration makes the next schema of a store, in one transaction with the new
// number: cut short, it has not happened.
type migration struct {
	what string
	run  func(tx *bbolt.Tx) error
	// additive: builds of the schema before may go on using the store, because
	// nothing that they know has changed.
	additive bool
}

// schemaOf reads what a store is, and the oldest schema whose builds may use it.
func schemaOf(meta *bbolt.Bucket) (have, reader uint32) {
	if v := meta.Get(schemaKey); len(v) == 4 {
		have = binary.BigEndian.Uint32(v)
	}
	if v := meta.Get(readerKey); len(v) == 4 {
		return have, binary.BigEndian.Uint32(v)
	}
	return have, have
}

func putSchema(meta *bbolt.Bucket, schema, reader uint32) error {
	if reader == schema { // what a store says that was never changed so
		return errors.Join(meta.Put(schemaKey, binary.BigEndian.AppendUint32(nil, schema)), meta.Delete(readerKey))
	}
	return errors.Join(meta.Put(schemaKey, binary.BigEndian.AppendUint32(nil, schema)),
		meta.Put(readerKey, binary.BigEndian.AppendUint32(nil, reader)))
}

// readerOf is the oldest schema whose builds may use a store of a schema: the
// additive steps before it are those that such a build need not know.
func readerOf(schema uint32, steps []migration) uint32 {
	for schema > 1 && int(schema)-2 < len(steps) && steps[schema-2].additive {
		schema--
	}
	return schema
}

// migrate brings the store to a schema, step by step. Before the first one a copy
// is kept beside it: BeforeSchema.
func (db *DB) migrate(to uint32, steps []migration) error {
	var have uint32
	err := db.file.bolt.View(func(tx *bbolt.Tx) error {
		have, _ = schemaOf(tx.Bucket(metaBucket))
		return nil
	})
	if err != nil || have >= to {
		return err
	}
	if err := db.keep(BeforeSchema(db.path, have)); err != nil {
		return fmt.Errorf("keep a copy of the store before it is changed for this version: %w; nothing was changed", err)
	}
	for ; have < to; have++ {
		step := steps[have-1]
		failpoint.Hit("migrate:step")
		err := db.file.bolt.Update(func(tx *bbolt.Tx) error {
			if err := step.run(tx); err != nil {
				return err
			}
			return putSchema(tx.Bucket(metaBucket), have+1, readerOf(have+1, steps))
		})
		if isFull(err) {
			err = fmt.Errorf("%w: %v", ErrFull, err)
		}
		if err != nil {
			return fmt.Errorf("change the store for this version (%s): %w", step.what, err)
		}
		failpoint.Hit("migrate:stepped")
	}
	return nil
}

// keep writes the store to path as it is, and reads the copy back.
func (db *DB) keep(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			if isFull(err) {
				err = fmt.Errorf("%w: %v", ErrFull, err)
			}
		}
	}()
	b := bufio.NewWriterSize(f, 1<<20)
	err = db.file.bolt.View(func(tx *bbolt.Tx) error { _, err := tx.WriteTo(b); return err })
	if err := errors.Join(err, b.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if _, err := Check(f.Name()); err != nil {
		return fmt.Errorf("the copy is not good: %w", err)
	}
	failpoint.Hit("migrate:copied")
	return os.Rename(f.Name(), path)
}

// BeforeSchema is where the store at path is kept as it was before it left a
// schema.
func BeforeSchema(path string, schema uint32) string {
	return fmt.Sprintf("%s.schema-%d", path, schema)
}

// Usable says whether this build may use the store at path, which nobody has open:
// nil, ErrNewer, ErrDamaged, or another reason. It changes nothing. A store that is
// not there is usable.
func Usable(path string) error {
	if st, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil
	}
	if err := checkFile(path); err != nil {
		return err
	}
	b, err := openBolt(path, &bbolt.Options{Timeout: lockWait + time.Second, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	return b.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			return nil
		}
		if have, reader := schemaOf(meta); reader > schemaVersion() {
			return fmt.Errorf("%w (schema %d, this build reads up to %d)", ErrNewer, have, schemaVersion())
		}
		return nil
	})
}

// Schema is the schema that this build writes.
func Schema() uint32 { return schemaVersion() }
