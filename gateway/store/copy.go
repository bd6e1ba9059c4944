package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Copy writes the store as it is at one moment to path, in one step and for its
// owner only. A copy in which anything cannot be read is not kept.
func (db *DB) Copy(ctx context.Context, path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(patient{ctx, f}, 256<<10)
	if err := db.Snapshot(func(_ int64, write func(io.Writer) error) error { return write(b) }); err != nil {
		return err
	}
	if err := errors.Join(b.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if _, err := Check(f.Name()); err != nil {
		return fmt.Errorf("the copy is not good: %w", err)
	}
	return os.Rename(f.Name(), path)
}

// Snapshot hands over the store as it is at one moment: its size in bytes, and
// what writes them. Others go on writing meanwhile; the file may grow for it.
func (db *DB) Snapshot(take func(size int64, write func(io.Writer) error) error) error {
	h := db.hold()
	defer h.release()
	return db.guard(func() error {
		return h.bolt.View(func(tx *bbolt.Tx) error {
			return take(tx.Size(), func(w io.Writer) error { _, err := tx.WriteTo(w); return err })
		})
	})
}

// patient writes as long as ctx goes on.
type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Check reads all of the file at path and returns how many records it has. It
// is ErrDamaged when something cannot be read.
func Check(path string) (records int, err error) {
	s, err := OpenSalvage(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	for _, name := range s.Tables() {
		if err := s.Rows(name, func(_, _ []byte) error { records++; return nil }); err != nil {
			return records, err
		}
	}
	if s.Damaged > 0 {
		return records, fmt.Errorf("%w: %d of its pages and records (of everything that Hearth keeps) cannot be read", ErrDamaged, s.Damaged)
	}
	return records, nil
}

// ReplacedName is under which name a store is kept in whose place a copy is put at
// stamp.
func ReplacedName(path, stamp string) string { return path + ".replaced-" + stamp }

// Restore puts the copy at from in the place of the store at path, which must not be
// open. What was there, if anything, is kept under the name kept. Where the file system
// has hard links, one of the two is at path whenever the machine may stop, and what was
// there has its other name before it goes.
func Restore(path, from, kept string) error {
	if _, err := Check(from); err != nil {
		return err
	}
	tmp, err := duplicate(from, path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp)
		}
	}()
	if _, serr := os.Lstat(path); serr == nil {
		if err = keep(path, kept); err != nil {
			return err
		}
	}
	if err = os.Rename(tmp, path); err != nil {
		return err
	}
	return statedir.SyncDir(filepath.Dir(path))
}

// keep gives what is at path another name, which nothing else has.
func keep(path, kept string) error {
	if linked(path, kept) { // by who was stopped then
		return nil
	}
	if _, err := os.Lstat(kept); err == nil {
		return fmt.Errorf("keep %s: %w: %s", path, os.ErrExist, kept)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || os.Link(path, kept) != nil {
		return os.Rename(path, kept)
	}
	return statedir.SyncDir(filepath.Dir(path))
}

// linked reports whether two names are those of one file.
func linked(path, other string) bool {
	a, aerr := os.Lstat(path)
	b, berr := os.Lstat(other)
	return aerr == nil && berr == nil && os.SameFile(a, b)
}

func duplicate(from, path string) (tmp string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	out, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		_ = os.Remove(out.Name())
		return "", err
	}
	return out.Name(), nil
}

// InUse reports whether a process has the store at path open.
func InUse(path string) bool {
	if st, err := os.Stat(path); err != nil || st.Size() == 0 {
		return false
	}
	b, err := openBolt(path, &bbolt.Options{Timeout: lockWait / 4, ReadOnly: true})
	if err == nil {
		_ = b.Close()
	}
	return errors.Is(err, ErrLocked)
}
