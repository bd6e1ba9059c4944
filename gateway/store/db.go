package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// lockWait is long enough for a gateway that is just closing the file and
// short enough that a second one fails at once for a person.
const lockWait = 400 * time.Millisecond

var (
	metaBucket = []byte("meta")
	schemaKey  = []byte("schema")
	readerKey  = []byte("reader") // the oldest schema whose builds may use this store; absent: only its own
)

// Options for Open; the zero value is right for the gateway.
type Options struct {
	// ReserveBytes is the size of the file that is given up when the disk is
	// full, so that answers and errors can still be recorded. 0 means 4 MiB,
	// negative means none.
	ReserveBytes int64
	// OnDamage is told once when the file turns out to be damaged while it is
	// open. It must not block.
	OnDamage func(error)
	// NoSync skips the flush of each commit. Only for filling test stores.
	NoSync bool
}

// DB is an open store.
type DB struct {
	file    *handle // guarded by swapping; only the writer exchanges it
	path    string
	noSync  bool
	writes  chan *write
	turns   chan func()   // what the writer does between two commits
	done    chan struct{} // the writer has ended
	closing sync.RWMutex  // held for reading while a write is handed over
	closed  bool          // guarded by closing
	failed  atomic.Bool
	owed    atomic.Int64  // writes that were handed over and are not finished
	rounds  atomic.Uint64 // of the writer
	riding  sync.Mutex
	riders  []*write // that wait for the next commit; guarded by riding
	reserve reserve

	swapping   sync.RWMutex // held while another file comes to path; for no longer
	compacting sync.Mutex   // one at a time
	journal    *journal     // nil: nobody wants to know; the writer's alone

	restored atomic.Int64 // see Past; 0 = never

	damaged  atomic.Pointer[error]
	blemish  atomic.Pointer[error]
	onDamage func(error)
}

// Open opens or creates the store at path. It fails at once, and changes
// nothing, when the file is locked, damaged, missing where one was, or newer
// than this build.
func Open(path string, opts Options) (*DB, error) {
	if err := checkInstall(path); err != nil {
		return nil, err
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	bopts := &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, NoSync: opts.NoSync}
	if runtime.GOOS != "windows" { // there the file is stretched to the map's size
		bopts.InitialMmapSize = mapSize(path)
	}
	h, err := openHandle(path, bopts)
	if err != nil {
		return nil, err
	}
	db := &DB{file: h, path: path, noSync: opts.NoSync, writes: make(chan *write, 1024), turns: make(chan func()),
		done: make(chan struct{}), onDamage: opts.OnDamage}
	err = db.guard(func() error {
		if err := db.prepare(); err != nil {
			return err
		}
		return db.readRestored()
	})
	if err != nil {
		if db.damage() == nil { // else bbolt may hold locks that its end would wait for
			_ = h.bolt.Close()
		}
		return nil, err
	}
	_ = os.Remove(besides(path)) // of a compaction that was cut short; nobody else has the lock
	size := opts.ReserveBytes
	if size == 0 {
		size = 4 << 20
	}
	db.reserve = reserve{path: path + ".reserve", size: size}
	db.reserve.fill()
	go db.loop()
	return db, nil
}

// mapSize is how much of the address space the file gets. A commit that needs more
// waits until nobody reads, and a backup reads for long: so the file may double
// before that.
func mapSize(path string) int {
	st, err := os.Stat(path)
	if err != nil {
		return mapFor(0)
	}
	return mapFor(st.Size())
}

func mapFor(bytes int64) int { return int(max(256<<20, 2*bytes)) }

// checkFile finds out, before bbolt maps the file, whether it is cut short:
// touching a mapped page beyond the file's end would kill the process.
func checkFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	if st.Size() == 0 {
		return nil // created, then killed before the first write
	}
	need := used(f)
	if need == 0 {
		return fmt.Errorf("%w: %s does not start like one", ErrDamaged, path)
	}
	if st.Size() < need {
		return fmt.Errorf("%w: %s has %d bytes but needs %d, so its end is missing", ErrDamaged, path, st.Size(), need)
	}
	return nil
}

// Used is how many bytes the store at path has, as Usage tells of one that is open; 0
// where the file does not start like a store.
func Used(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return used(f), nil
}

// used reads where the last page of a store ends.
func used(f io.ReaderAt) (bytes int64) {
	// bbolt's page header is 16 bytes, then magic, version, pageSize, flags
	// (uint32 each), root bucket (16 bytes), freelist and high-water page id.
	for page := int64(0); page < 2; page++ {
		var h [16 + 16 + 16 + 16]byte
		ps := int64(os.Getpagesize())
		if _, err := f.ReadAt(h[:], page*ps); err != nil {
			continue
		}
		if binary.LittleEndian.Uint32(h[16:]) != 0xED0CDAED {
			continue
		}
		high := int64(binary.LittleEndian.Uint64(h[16+16+16+8:])) * int64(binary.LittleEndian.Uint32(h[16+8:]))
		bytes = max(bytes, high)
	}
	return bytes
}

// prepare checks the schema and, in a new file, writes it. It writes nothing
// when there is nothing to write, so a store opens on a full disk.
func (db *DB) prepare() error {
	var fresh bool
	err := db.file.bolt.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(metaBucket)
		if b == nil {
			if name := firstBucket(tx); name != nil {
				return fmt.Errorf("%w: it holds the table %q of another program", ErrDamaged, name)
			}
			fresh = true
			return nil
		}
		v := b.Get(schemaKey)
		if len(v) != 4 {
			return fmt.Errorf("%w: its schema number is missing", ErrDamaged)
		}
		if have, reader := schemaOf(b); reader > schemaVersion() {
			return fmt.Errorf("%w (schema %d, this build reads up to %d); update Hearth, or use the version that wrote it", ErrNewer, have,
				schemaVersion())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !fresh {
		return db.migrate(schemaVersion(), migrations())
	}
	err = db.file.bolt.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		for _, m := range migrations() {
			if err := m.run(tx); err != nil {
				return err
			}
		}
		return putSchema(b, schemaVersion(), readerOf(schemaVersion(), migrations()))
	})
	if err != nil {
		return fmt.Errorf("set up the store: %w", err)
	}
	return os.WriteFile(markerOf(db.path), []byte("Hearth keeps its messages in "+filepath.Base(db.path)+" here.\n"), 0o600)
}

func firstBucket(tx *bbolt.Tx) []byte {
	k, _ := tx.Cursor().First()
	return k
}

func markerOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".installed")
}

// Size is the store's file size in bytes.
func (db *DB) Size() int64 {
	st, err := os.Stat(db.path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// Path is where the store is.
func (db *DB) Path() string { return db.path }

// Problem is ErrDamaged, ErrFailed, ErrGone or ErrFull while writes are refused,
// nil otherwise.
func (db *DB) Problem() error {
	if err := db.damage(); err != nil {
		return err
	}
	if db.failed.Load() {
		return ErrFailed
	}
	if err := db.gone(); err != nil {
		return err
	}
	switch {
	case db.reserve.spent.Load():
		return ErrFull
	}
	return nil
}

// gone finds out whether what is written now would still be found at the next
// start: the system lets a file be written whose folder was moved or deleted.
func (db *DB) gone() error {
	if runtime.GOOS == "windows" { // where open files cannot be moved
		return nil
	}
	db.swapping.RLock()
	defer db.swapping.RUnlock()
	now, err := os.Stat(db.path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGone, err)
	case !os.SameFile(now, db.file.opened):
		return fmt.Errorf("%w: another file is at %s", ErrGone, db.path)
	}
	return nil
}

// View runs fn on a consistent snapshot. Keep it short: a long reader makes
// the file grow. Byte slices from the transaction are not valid afterwards.
func (db *DB) View(fn func(*Tx) error) error {
	db.closing.RLock()
	defer db.closing.RUnlock()
	if db.closed {
		return ErrClosed
	}
	h := db.hold()
	defer h.release()
	return db.guard(func() error { return h.bolt.View(func(tx *bbolt.Tx) error { return fn(&Tx{tx: tx}) }) })
}

// Close waits for the writes that were handed over and closes the file.
func (db *DB) Close(ctx context.Context) error {
	db.closing.Lock()
	if db.closed {
		db.closing.Unlock()
		return nil
	}
	db.closed = true
	close(db.writes)
	db.closing.Unlock()
	select {
	case <-db.done:
	case <-ctx.Done():
		return fmt.Errorf("close the store: %w", ctx.Err())
	}
	if db.damage() != nil {
		return nil // bbolt may hold locks; the process is about to end
	}
	return db.file.bolt.Close()
}
