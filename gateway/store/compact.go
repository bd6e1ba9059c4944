package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Bounds of a compaction. Others write meanwhile: what they change is recorded, and
// taken over whenever it is more than drainAt; beyond journalMost it is given up.
// The last of it is taken over while writes wait, so that is at most lastMost.
const (
	journalMost = 64 << 20
	drainAt     = 4 << 20
	lastMost    = 64 << 10
	roundsMost  = 50
	compactRoom = 32 << 20 // that bbolt takes ahead
)

// CompactsOpen: Compact of an open store is possible here. Windows does not let an
// open file be replaced.
const CompactsOpen = runtime.GOOS != "windows"

// besides is the file that becomes the store at path, while it is written. A path
// that is a link stays one.
func besides(path string) string { return realPath(path) + ".compacting" }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Compact writes the store anew without its free pages, beside everybody who reads
// and writes it, and puts that in its place. It tells how many bytes of rows were
// written, and returns how large the store was and is. Writes wait for the last step,
// which is a flush or two; nobody who reads waits. What is cut short, by ctx, an
// error or a loss of power, leaves the store as it is.
//
// The rows are copied in small steps, each of which reads the store as it is at its
// moment. What is committed from the beginning on is recorded, and done again to the
// copy in the same order: a row that did not change since then is as it was copied,
// and of one that did the last change is the last that is done again.
func (db *DB) Compact(ctx context.Context, tell func(bytes int64)) (before, after int64, err error) {
	if !CompactsOpen {
		return 0, 0, ErrOpenHere
	}
	if !db.compacting.TryLock() {
		return 0, 0, ErrBusy
	}
	defer db.compacting.Unlock()
	if err := db.Problem(); err != nil {
		return 0, 0, err
	}
	was := db.Usage()
	if err := db.room(was.Bytes - was.Free); err != nil {
		return 0, 0, err
	}
	_ = os.Remove(besides(db.path))
	next, err := openHandle(besides(db.path), &bbolt.Options{
		Timeout: lockWait, FreelistType: bbolt.FreelistMapType, NoSync: true, InitialMmapSize: mapFor(was.Bytes - was.Free),
	})
	if err != nil {
		return 0, 0, errors.Join(fmt.Errorf("begin the new file: %w", err), removed(besides(db.path)))
	}
	c := &compaction{db: db, to: next, since: &journal{most: journalMost}, tell: tell}
	old, err := c.run(ctx)
	if err != nil {
		return 0, 0, errors.Join(fmt.Errorf("compact the store: %w", err), next.bolt.Close(), removed(besides(db.path)))
	}
	return was.Bytes, db.Usage().Bytes, old.retire()
}

// room refuses what the disk has no room for.
func (db *DB) room(used int64) error {
	free, ok := statedir.Dir(filepath.Dir(realPath(db.path))).Free()
	if need := used + used/8 + compactRoom + statedir.Full; ok && free < need {
		return fmt.Errorf("%w: compacting takes %d MB beside the store, and %d MB are free", ErrNoRoom, need>>20, free>>20)
	}
	return nil
}

// removed removes a file that may not be there.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// compaction is one under way.
type compaction struct {
	db    *DB
	to    *handle  // the new file; nobody else knows of it until the end
	since *journal // what was committed since the beginning
	rows  int      // in the new file
	bytes int64    // copied so far
	tell  func(bytes int64)
	held  time.Duration // how long writes waited for the last step
}

// run returns the file that the new one has taken the place of.
func (c *compaction) run(ctx context.Context) (old *handle, err error) {
	if err := c.db.inTurn(ctx, func() error { c.db.journal = c.since; return nil }); err != nil {
		return nil, err
	}
	// It has ended when nobody asks any more, also after the end of ctx.
	defer func() {
		_ = c.db.inTurn(context.WithoutCancel(ctx), func() error { c.db.journal = nil; return nil })
	}()
	failpoint.Hit("compact:begun")
	if err := c.copyAll(ctx); err != nil {
		return nil, err
	}
	failpoint.Hit("compact:copied")
	if err := c.readBack(ctx); err != nil {
		return nil, err
	}
	for range roundsMost {
		if _, err := c.drain(ctx); err != nil {
			return nil, err
		}
		if err := c.safely(c.to.bolt.Sync); err != nil {
			return nil, err
		}
		failpoint.Hit("compact:flushed")
		if c.since.waiting() > lastMost {
			continue
		}
		err := c.db.inTurn(ctx, func() (err error) { old, err = c.change(ctx); return err })
		if !errors.Is(err, errMore) {
			return old, err
		}
	}
	return nil, ErrBehind
}

// copyAll copies all tables, in steps.
func (c *compaction) copyAll(ctx context.Context) error {
	names, err := c.db.tables()
	if err != nil {
		return err
	}
	for _, name := range names {
		for after, more := []byte(nil), true; more; {
			began := time.Now()
			if after, more, err = c.step(name, after); err != nil {
				return err
			}
			c.tell(c.bytes)
			if c.since.waiting() > drainAt {
				if _, err := c.drain(ctx); err != nil {
					return err
				}
			}
			if err := c.db.room(0); err != nil {
				return err
			}
			if err := pauseFor(ctx, min(time.Since(began), verifyRest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// step copies some rows of a table behind one of its keys.
func (c *compaction) step(name, after []byte) (last []byte, more bool, err error) {
	var rows []change
	var seq uint64
	bytes := int64(0)
	err = c.db.View(func(tx *Tx) error {
		b := tx.tx.Bucket(name)
		if b == nil { // its table has gone, which nothing here does
			return fmt.Errorf("%w: the table %s is gone", ErrDamaged, name)
		}
		seq = b.Sequence()
		for k, v := range (Table{name}).ScanRaw(tx, Range{After: after}) {
			if v == nil {
				return fmt.Errorf("the table %s has another one in it, which this version does not know", name)
			}
			rows = append(rows, change{table: name, key: clone(k), value: clone(v)})
			if bytes += int64(len(k) + len(v)); len(rows) >= verifyRows || bytes >= verifyBytes {
				more = true
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if len(rows) > 0 {
		last = rows[len(rows)-1].key
	}
	c.bytes += bytes
	return last, more, c.redo(append(rows, change{table: name, seq: seq}))
}

// drain does to the new file what was recorded, and says how much that was.
func (c *compaction) drain(ctx context.Context) (bytes int64, err error) {
	list, bytes, err := c.since.take()
	for len(list) > 0 && err == nil {
		n, size := 0, int64(0)
		for n < len(list) && n < verifyRows && size < drainAt {
			size += list[n].size()
			n++
		}
		if err = ctx.Err(); err == nil {
			err = c.redo(list[:n])
		}
		list = list[n:]
	}
	failpoint.Hit("compact:drained")
	return bytes, err
}

// redo does changes to the new file, in one transaction that is not flushed.
func (c *compaction) redo(list []change) error {
	rows := c.rows
	err := c.safely(func() error {
		return c.to.bolt.Update(func(tx *bbolt.Tx) error {
			rows = c.rows
			for _, one := range list {
				n, err := one.do(tx)
				if err != nil {
					return fmt.Errorf("write the table %s: %w", one.table, err)
				}
				rows += n
			}
			return nil
		})
	})
	if err == nil {
		c.rows = rows
	}
	return err
}

// do does a change to a file, and says by how many rows it has more.
func (c change) do(tx *bbolt.Tx) (more int, err error) {
	b, err := tx.CreateBucketIfNotExists(c.table)
	if err != nil {
		return 0, err
	}
	b.FillPercent = 0.9 // most of it comes in order
	switch {
	case c.key == nil:
		if c.seq > b.Sequence() {
			return 0, b.SetSequence(c.seq)
		}
		return 0, nil
	case c.deleted:
		if b.Get(c.key) != nil {
			more = -1
		}
		return more, b.Delete(c.key)
	}
	if b.Get(c.key) == nil {
		more = 1
	}
	return more, b.Put(c.key, append([]byte{}, c.value...)) // which is there, though it may be empty
}

// readBack reads all of the new file, as often as it takes for everything to be seen.
func (c *compaction) readBack(ctx context.Context) error {
	found := 0
	err := c.safely(func() error {
		return c.to.bolt.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(_, v []byte) error {
					if found++; found%verifyRows == 0 {
						return ctx.Err()
					}
					return nil
				})
			})
		})
	})
	if err == nil && found != c.rows {
		err = fmt.Errorf("%w: the new file has %d of %d records", ErrDamaged, found, c.rows)
	}
	return err
}

// errMore: too much came since the last round for the writer to wait for it.
var errMore = errors.New("there is more to take over")

// change takes over the last changes and puts the new file in the place of the old
// one, on the writer's goroutine. The new one is flushed before it is at the path and
// locked from its first byte on; the folder is flushed before anybody is told of a
// write that only the new one has.
func (c *compaction) change(ctx context.Context) (old *handle, err error) {
	db, began := c.db, time.Now()
	defer func() { c.held = max(c.held, time.Since(began)) }()
	if err := db.Problem(); err != nil {
		return nil, err
	}
	if c.since.waiting() > lastMost {
		return nil, errMore
	}
	if n, err := c.drain(ctx); err != nil {
		return nil, err
	} else if n > 0 {
		if err := c.safely(c.to.bolt.Sync); err != nil {
			return nil, err
		}
	}
	failpoint.Hit("compact:ready")
	c.to.bolt.NoSync = db.noSync
	path := realPath(db.path)
	db.swapping.Lock()
	if err = os.Rename(besides(db.path), path); err == nil {
		old, db.file = db.file, c.to
	}
	db.swapping.Unlock()
	if err != nil {
		return nil, err
	}
	failpoint.Hit("compact:renamed")
	if err := statedir.SyncDir(filepath.Dir(path)); err != nil {
		// Which of the two the next start finds is not known, so nothing may be
		// acknowledged any more.
		db.failed.Store(true)
	}
	failpoint.Hit("compact:done")
	return old, nil
}

// safely runs fn, which touches the new file only: what panics there is no damage of
// the store.
func (c *compaction) safely(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the new file cannot be used: %v", r)
		}
	}()
	if err = fn(); isFull(err) {
		err = fmt.Errorf("%w: %v", ErrFull, err)
	}
	return err
}
