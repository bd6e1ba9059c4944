package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Compact writes the store at path, which nobody has open, anew without its free
// pages, and puts that in its place once every record of it can be read. What is cut
// short leaves the store as it is.
func Compact(path string) (before, after int64, err error) {
	had, err := Check(path)
	if err != nil {
		return 0, 0, err
	}
	src, err := openBolt(path, &bbolt.Options{Timeout: lockWait})
	if err != nil {
		return 0, 0, err
	}
	open := true // and so nobody else can open it
	release := func() (err error) {
		if open {
			err = src.Close()
		}
		open = false
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	tmp := besides(path)
	_ = os.Remove(tmp)
	defer func() { err = errors.Join(err, removed(tmp)) }()
	if err := compactInto(tmp, src); err != nil {
		return 0, 0, fmt.Errorf("compact the store: %w", err)
	}
	has, err := Check(tmp)
	if err != nil || has != had {
		return 0, 0, errors.Join(fmt.Errorf("the compacted store has %d of %d records; nothing was changed", has, had), err)
	}
	was, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	is, err := os.Stat(tmp)
	if err != nil {
		return 0, 0, err
	}
	if runtime.GOOS == "windows" { // where an open file cannot be replaced
		if err := release(); err != nil {
			return 0, 0, err
		}
	}
	return was.Size(), is.Size(), errors.Join(os.Rename(tmp, realPath(path)), statedir.SyncDir(filepath.Dir(realPath(path))))
}

func compactInto(to string, src *bbolt.DB) error {
	dst, err := bbolt.Open(to, 0o600, &bbolt.Options{Timeout: lockWait, NoSync: true})
	if err != nil {
		return err
	}
	return errors.Join(bbolt.Compact(dst, src, 4<<20), dst.Sync(), dst.Close())
}
