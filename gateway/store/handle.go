package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// handle is the open file. Compact puts another one in its place; whoever reads the
// old one reads it to the end.
type handle struct {
	bolt    *bbolt.DB
	opened  os.FileInfo // the file itself, wherever it lies by now
	readers sync.WaitGroup
}

// hold returns the file as it is now, which stays open until release.
func (db *DB) hold() *handle {
	db.swapping.RLock()
	defer db.swapping.RUnlock()
	db.file.readers.Add(1)
	return db.file
}

func (h *handle) release() { h.readers.Done() }

// retire closes a file that another one has taken the place of, when nobody reads it
// any more.
func (h *handle) retire() error {
	h.readers.Wait()
	return h.bolt.Close()
}

// openHandle opens the file at path and locks it. It turns bbolt's panics on damaged
// pages into ErrDamaged. A file that was exchanged between opening and locking it
// is somebody else's: who holds the one at the path now.
func openHandle(path string, opts *bbolt.Options) (h *handle, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			h, err = nil, fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	var file *os.File
	with := *opts
	with.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	b, err := bbolt.Open(path, 0o600, &with)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	case isFull(err):
		return nil, fmt.Errorf("%w: %v", ErrFull, err)
	case err != nil:
		return nil, fmt.Errorf("open the store: %w", err)
	}
	opened, err := file.Stat()
	if err == nil {
		var now os.FileInfo
		if now, err = os.Stat(path); err == nil && !os.SameFile(opened, now) {
			err = ErrLocked
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store: %w", err), b.Close())
	}
	return &handle{bolt: b, opened: opened}, nil
}

// openBolt is openHandle for whoever needs no more than the tables.
func openBolt(path string, opts *bbolt.Options) (*bbolt.DB, error) {
	h, err := openHandle(path, opts)
	if err != nil {
		return nil, err
	}
	return h.bolt, nil
}
