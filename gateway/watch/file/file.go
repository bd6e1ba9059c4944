// Package file watches a file or a folder. It says which files are there and how
// large they are, and never what is in them.
package file

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	maxDepth   = 16
	maxNotices = 500             // folders that the system is asked about
	busy       = 2 * time.Second // after a change: it may go on
	folder     = `"folder"`      // is kept of what was one
)

// Files are a file, or those of a folder.
type Files struct {
	path  string
	match string
	deep  bool
	now   func() time.Time
}

// New returns the source of a file or a folder; match are names like "*.pdf", ""
// for all.
func New(name, match string, deep bool, now func() time.Time) (*Files, error) {
	if !filepath.IsAbs(name) {
		return nil, fmt.Errorf("%q is not an absolute path", name)
	}
	if _, err := path.Match(match, "x"); err != nil {
		return nil, fmt.Errorf("%q is no pattern for names; write it like *.pdf", match)
	}
	return &Files{path: filepath.Clean(name), match: match, deep: deep, now: now}, nil
}

// Look implements watch.Source.
func (s *Files) Look(ctx context.Context, kept json.RawMessage) (f watch.Found, err error) {
	root, base, err := s.open()
	if err != nil {
		return f, err
	}
	defer root.Close()
	if base != "" && string(kept) == folder { // a disk that was taken out is not a folder without files
		return f, plain(s.path, fs.ErrNotExist)
	}
	if base == "" {
		f.Kept = json.RawMessage(folder)
	}
	f.Whole = true
	if base != "" {
		err = s.file(root, base, &f)
	} else {
		err = s.folder(ctx, root, ".", 0, &f)
	}
	if err != nil {
		return watch.Found{}, err
	}
	slices.SortStableFunc(f.Items, func(a, b watch.Item) int { return cmp.Compare(a.ID, b.ID) })
	return f, nil
}

// open opens the folder, or the one that the file is in.
func (s *Files) open() (root *os.Root, base string, err error) {
	st, err := os.Stat(s.path)
	if err == nil && st.IsDir() {
		root, err = os.OpenRoot(s.path)
		return root, "", plain(s.path, err)
	}
	dir := filepath.Dir(s.path)
	if root, err = os.OpenRoot(dir); err != nil {
		return nil, "", plain(dir, err)
	}
	return root, filepath.Base(s.path), nil
}

// plain says what is wrong with a path.
func plain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be read by the user that Hearth runs as", name)
	}
	return fmt.Errorf("%s cannot be read: %w", name, err)
}

func (s *Files) file(root *os.Root, base string, f *watch.Found) error {
	st, err := root.Stat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it may come
		return nil
	case err != nil:
		return plain(s.path, err)
	}
	s.add(base, st, f)
	return nil
}

func (s *Files) folder(ctx context.Context, root *os.Root, dir string, depth int, f *watch.Found) error {
	d, err := root.Open(dir)
	if err != nil {
		if depth > 0 { // one in it that is private, or gone just now
			return nil
		}
		return plain(s.path, err)
	}
	defer d.Close()
	for {
		list, err := d.ReadDir(256)
		for _, e := range list {
			name := path.Join(dir, e.Name())
			if e.IsDir() {
				if s.deep && depth < maxDepth && !strings.HasPrefix(e.Name(), ".git") {
					if err := s.folder(ctx, root, name, depth+1, f); err != nil {
						return err
					}
				}
				continue
			}
			if ok, _ := path.Match(s.match, e.Name()); s.match != "" && !ok {
				continue
			}
			if st, err := root.Lstat(name); err == nil && !st.IsDir() {
				s.add(name, st, f)
			}
			if len(f.Items) > watch.MaxItems {
				return fmt.Errorf("%s has more than %d files; watch a part of it", s.path, watch.MaxItems)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return plain(s.path, err)
		}
	}
}

func (s *Files) add(name string, st fs.FileInfo, f *watch.Found) {
	age := s.now().Sub(st.ModTime())
	it := watch.Item{
		ID: name, Version: strconv.FormatInt(st.Size(), 10) + " " + strconv.FormatInt(st.ModTime().UnixNano(), 10), Title: name,
		Text: size(st.Size()), Busy: age >= 0 && age < busy,
	}
	if it.Busy {
		f.Again = busy
	}
	f.Items = append(f.Items, it)
}

func size(n int64) string {
	const unit = 1000
	switch {
	case n < unit:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < unit*unit:
		return strconv.FormatFloat(float64(n)/unit, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/unit/unit, 'f', 1, 64) + " MB"
}

// Notices implements watch.Noticer: the system says when something changes, where
// it does. Network disks say nothing; they are looked at now and then.
func (s *Files) Notices(ctx context.Context, wake func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	dir := s.path
	if st, err := os.Stat(s.path); err != nil || !st.IsDir() {
		dir = filepath.Dir(s.path)
	}
	if err := w.Add(dir); err != nil {
		return err
	}
	if s.deep {
		s.below(w, dir)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			if st, err := os.Lstat(ev.Name); s.deep && ev.Has(fsnotify.Create) && err == nil && st.IsDir() {
				s.below(w, ev.Name)
			}
			if !ev.Has(fsnotify.Chmod) || ev.Op != fsnotify.Chmod {
				wake()
			}
		case _, ok := <-w.Errors: // too many at once
			if !ok {
				return nil
			}
			wake()
		}
	}
}

// below asks for notices of the folders in a folder.
func (s *Files) below(w *fsnotify.Watcher, dir string) {
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case !e.IsDir():
			return nil
		case len(w.WatchList()) >= maxNotices || strings.HasPrefix(e.Name(), ".git"):
			return fs.SkipDir
		}
		_ = w.Add(name) // without notices it is looked at now and then
		return nil
	})
}
