package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

const (
	maxDatabase = 8 << 30
	copyTries   = 3
	copyChunk   = 4 << 20
	copyPause   = 300 * time.Millisecond
)

// ErrBusy means that a program wrote all the time.
var ErrBusy = errors.New("a program is writing to this database, so no whole copy of it could be taken; stop that program and try again")

// ErrUnfinished means that a program left a change half done.
var ErrUnfinished = errors.New("the program that owns this database was stopped in the middle of a change; start it once and end it, " +
	"then try again")

// Database opens a copy of a SQLite database with its write-ahead log. close
// removes the copy.
func (t *Tree) Database(ctx context.Context, name string) (db *sqlite.File, closeDB func(), err error) {
	if t.zip != nil {
		return nil, nil, fmt.Errorf("%s: a database in an archive is not read; unpack it first", name)
	}
	if f, st, err := t.file(name + "-journal"); err == nil {
		_ = f.Close()
		if st.Size() > 0 {
			return nil, nil, fmt.Errorf("%s: %w", name, ErrUnfinished)
		}
	}
	for try := range copyTries {
		if try > 0 {
			select {
			case <-time.After(copyPause):
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
		db, closeDB, err = t.copied(ctx, name)
		if !errors.Is(err, ErrBusy) {
			break
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return db, closeDB, nil
}

func (t *Tree) copied(ctx context.Context, name string) (*sqlite.File, func(), error) {
	main, size, same, err := t.copyFile(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	log, logSize, _, err := t.copyFile(ctx, name+"-wal") // it only grows: what comes later counts or not, as a whole
	if errors.Is(err, fs.ErrNotExist) {
		log, logSize, err = nil, 0, nil
	}
	if err == nil && !same() {
		err = ErrBusy
	}
	closeAll := func() {
		discard(main)
		discard(log)
	}
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	var wal io.ReaderAt
	if log != nil {
		wal = log
	}
	db, err := sqlite.Open(main, size, wal, logSize)
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return db, closeAll, nil
}

// copyFile copies a file into the scratch folder; same reports whether it is still
// what it was.
func (t *Tree) copyFile(ctx context.Context, name string) (to *os.File, size int64, same func() bool, err error) {
	from, st, err := t.file(name)
	if err != nil {
		return nil, 0, nil, err
	}
	defer func() { _ = from.Close() }()
	if st.Size() > maxDatabase {
		return nil, 0, nil, ErrTooLarge
	}
	if to, err = os.CreateTemp(t.scratch, "import-*.tmp"); err != nil {
		return nil, 0, nil, fmt.Errorf("make a copy: %w", err)
	}
	for {
		n, cerr := io.CopyN(to, from, copyChunk)
		if size += n; errors.Is(cerr, io.EOF) {
			break
		}
		if err = errors.Join(cerr, ctx.Err()); err == nil && size > maxDatabase {
			err = ErrTooLarge
		}
		if err != nil {
			discard(to)
			return nil, 0, nil, fmt.Errorf("copy it: %w", err)
		}
	}
	same = func() bool {
		now, st2, err := t.file(name)
		if err != nil {
			return false
		}
		return errors.Is(now.Close(), nil) && st2.Size() == st.Size() && st2.ModTime().Equal(st.ModTime())
	}
	return to, size, same, nil
}

// discard removes a copy: it may hold keys.
func discard(f *os.File) {
	if f != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
