package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// BenchmarkCompact compacts a store of 1 GB of which a fifth is in use, while others
// write and read. It tells how long the longest write and the longest read took, with
// and without it.
func BenchmarkCompact(b *testing.B) {
	skipWhereOpenFilesStay(b)
	for b.Loop() {
		b.StopTimer()
		db := sparse(b, filepath.Join(b.TempDir(), "h.db"), 1<<30)
		load := beside(b, db)
		pauseLoad(b, 5*time.Second)
		load.mark(b, "before")
		b.StartTimer()
		before := db.Usage().Bytes
		next, err := openHandle(besides(db.path), &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, NoSync: true,
			InitialMmapSize: mapFor(1 << 30)})
		if err != nil {
			b.Fatal(err)
		}
		c := &compaction{db: db, to: next, since: &journal{most: journalMost}, tell: func(int64) {}}
		old, err := c.run(b.Context())
		if err == nil {
			err = old.retire()
		}
		b.StopTimer()
		b.ReportMetric(float64(c.held)/1e6, "ms-last-step")
		after := db.Usage().Bytes
		load.mark(b, "meanwhile")
		if err != nil {
			b.Fatal(err)
		}
		load.end()
		b.ReportMetric(float64(before)/1e6, "MB-before")
		b.ReportMetric(float64(after)/1e6, "MB-after")
		if err := db.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func pauseLoad(b *testing.B, d time.Duration) {
	if err := pauseFor(b.Context(), d); err != nil {
		b.Fatal(err)
	}
}

// sparse is a store of so many bytes, of which a fifth is in use, here and there.
func sparse(b *testing.B, path string, bytes int) *DB {
	b.Helper()
	db, err := Open(path, Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	const row, batch = 3900, 5000
	all := bytes / 4096
	for _, drop := range []bool{false, true} {
		for from := 0; from < all; from += batch {
			err := db.Update(b.Context(), Write{Do: func(tx *Tx) error {
				for i := from; i < from+batch; i++ {
					var err error
					if !drop {
						err = (Table{[]byte("rows")}).PutRaw(tx, Uint64Key(uint64(i)), make([]byte, row))
					} else if i%5 > 0 {
						err = (Table{[]byte("rows")}).Delete(tx, Uint64Key(uint64(i)))
					}
					if err != nil {
						return err
					}
				}
				return nil
			}})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := db.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	if db, err = Open(path, Options{ReserveBytes: -1}); err != nil {
		b.Fatal(err)
	}
	return db
}

// besideLoad writes and reads for as long as it is there.
type besideLoad struct {
	over          context.CancelFunc
	all           sync.WaitGroup
	write, read   atomic.Int64 // the longest since the last mark, ns
	writes, reads atomic.Int64
	since         time.Time
}

func beside(b *testing.B, db *DB) *besideLoad {
	ctx, cancel := context.WithCancel(b.Context())
	l := &besideLoad{over: cancel, since: time.Now()}
	each := func(longest, n *atomic.Int64, do func() error) {
		for ctx.Err() == nil {
			began := time.Now()
			if err := do(); err != nil && !errors.Is(err, context.Canceled) {
				b.Error(err)
				return
			}
			n.Add(1)
			if took := int64(time.Since(began)); took > longest.Load() {
				longest.Store(took)
			}
		}
	}
	for w := range 20 {
		i := uint64(0)
		l.all.Go(func() {
			each(&l.write, &l.writes, func() error {
				i++
				return db.Update(ctx, Write{Do: func(tx *Tx) error {
					return (Table{[]byte("beside")}).PutRaw(tx, Uint64Key(uint64(w)<<32|i%5000), make([]byte, 300))
				}})
			})
		})
	}
	l.all.Go(func() {
		i := uint64(0)
		each(&l.read, &l.reads, func() error {
			i += 5
			err := db.View(func(tx *Tx) error { (Table{[]byte("rows")}).GetRaw(tx, Uint64Key(i%200_000)); return nil })
			return errors.Join(err, pauseFor(ctx, time.Millisecond/2))
		})
	})
	return l
}

func (l *besideLoad) mark(b *testing.B, when string) {
	took := time.Since(l.since).Seconds()
	b.ReportMetric(float64(l.write.Swap(0))/1e6, "ms-longest-write-"+when)
	b.ReportMetric(float64(l.read.Swap(0))/1e6, "ms-longest-read-"+when)
	b.ReportMetric(float64(l.writes.Swap(0))/took, "writes/s-"+when)
	b.ReportMetric(float64(l.reads.Swap(0))/took, "reads/s-"+when)
	l.since = time.Now()
}

func (l *besideLoad) end() {
	l.over()
	l.all.Wait()
}
