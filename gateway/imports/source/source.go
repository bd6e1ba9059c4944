// Package source opens what an import reads: a folder, a file, or a zip archive.
// It opens for reading only and never leaves the folder that was named, whatever
// links are in it; it bounds how many files there may be and how much is read of
// each, so that nothing that a stranger made can fill memory or disk. A database
// is copied first, so that the program that owns it is not disturbed and nothing
// moves while it is read.
package source

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of what is read.
const (
	maxFiles     = 100_000 // of a folder with what is below it
	maxDepth     = 12
	maxDirectory = 16 << 20 // bytes of an archive's list of files
)

// Errors that callers tell apart.
var (
	ErrTooLarge = errors.New("it is larger than what is read of such a file")
	ErrNotFile  = errors.New("it is no file")
	ErrTooMany  = errors.New("there are too many files")
	ErrArchive  = errors.New("the archive is damaged or not whole; get it anew")
)

// Tree is what was named: a folder and what is below it, one file, or an archive.
type Tree struct {
	Path    string // for people
	Name    string // of the one file; "" for a folder or an archive
	scratch string // where copies go
	root    *os.Root
	zip     map[string]*zip.File
	archive *os.File
}

// missingError is that nothing is where a path leads.
type missingError struct{ name string }

func (e *missingError) Error() string { return "there is no file or folder " + e.name }
func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// Open opens what a path names. scratch is a folder of ours for copies.
func Open(name, scratch string) (*Tree, error) {
	st, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{name}
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	t := &Tree{Path: name, scratch: scratch}
	dir := name
	if !st.IsDir() {
		if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: %w", name, ErrNotFile)
		}
		dir, t.Name = filepath.Split(name)
		if dir == "" {
			dir = "."
		}
	}
	if t.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if t.Name != "" {
		if err := t.openArchive(); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), t.Close())
		}
	}
	return t, nil
}

// Close gives everything back.
func (t *Tree) Close() error {
	var err error
	if t.archive != nil {
		err = t.archive.Close()
	}
	return errors.Join(err, t.root.Close())
}

// openArchive looks whether the one file is a zip archive.
func (t *Tree) openArchive() error {
	f, err := t.root.Open(t.Name)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return errors.Join(err, f.Close())
	}
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil || string(magic[:2]) != "PK" {
		return f.Close()
	}
	at := &bounded{r: f, left: maxDirectory}
	z, err := zip.NewReader(at, st.Size())
	if errors.Is(err, ErrTooMany) {
		return errors.Join(err, f.Close())
	}
	if err != nil {
		return errors.Join(ErrArchive, f.Close())
	}
	at.left = -1
	if len(z.File) > maxFiles {
		return errors.Join(ErrTooMany, f.Close())
	}
	t.archive, t.Name, t.zip = f, "", map[string]*zip.File{}
	for _, e := range z.File {
		name := path.Clean(e.Name)
		if e.Mode().IsRegular() && fs.ValidPath(name) && !strings.Contains(name, `\`) && t.zip[name] == nil {
			t.zip[name] = e
		}
	}
	return nil
}

// bounded lets so much be read; below zero: any.
type bounded struct {
	r    io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, ErrTooMany
		}
	}
	return b.r.ReadAt(p, off)
}

// Handle is an open file.
type Handle struct {
	io.ReadCloser
	Size int64
	At   time.Time
}

// Open opens a file, named with slashes from the tree's top. A link is followed as
// long as it stays inside.
func (t *Tree) Open(name string) (*Handle, error) {
	if t.zip != nil {
		e := t.zip[name]
		if e == nil {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		r, err := e.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &Handle{r, int64(min(e.UncompressedSize64, 1<<62)), e.Modified}, nil
	}
	f, st, err := t.file(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Handle{f, st.Size(), st.ModTime()}, nil
}

// file opens a plain file: a pipe would wait for ever.
func (t *Tree) file(name string) (*os.File, fs.FileInfo, error) {
	if t.Name != "" && name != t.Name {
		return nil, nil, fs.ErrNotExist
	}
	name = filepath.FromSlash(name)
	if st, err := t.root.Stat(name); err != nil {
		return nil, nil, err
	} else if !st.Mode().IsRegular() {
		return nil, nil, ErrNotFile
	}
	f, err := t.root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotFile
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// Has reports whether there is a file of this name.
func (t *Tree) Has(name string) bool {
	if t.zip != nil {
		return t.zip[name] != nil
	}
	if t.Name != "" && name != t.Name {
		return false
	}
	st, err := t.root.Stat(filepath.FromSlash(name))
	return err == nil && st.Mode().IsRegular()
}

// Read is a whole file of at most so many bytes.
func (t *Tree) Read(name string, most int64) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: %w (%d MB)", name, ErrTooLarge, most>>20)
	}
	return b, nil
}

// Files are the names of all files below a folder ("." for all), in their order.
// Links, pipes and what is too deep are not among them; skip says which folders
// are passed over.
func (t *Tree) Files(dir string, skip func(name string) bool) (out []string, err error) {
	if t.zip != nil {
		for name := range t.zip {
			if dir == "." || strings.HasPrefix(name, dir+"/") {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out, nil
	}
	if t.Name != "" {
		return []string{t.Name}, nil
	}
	err = fs.WalkDir(t.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // what may not be read is not there; the rest is
		case d.IsDir() && name != dir && (strings.Count(name, "/") >= maxDepth || skip != nil && skip(name)):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		case len(out) >= maxFiles:
			return fmt.Errorf("%s: %w", dir, ErrTooMany)
		}
		out = append(out, name)
		return nil
	})
	return out, err
}

// Folders are the names of the folders in a folder.
func (t *Tree) Folders(dir string) (out []string) {
	if t.zip != nil || t.Name != "" {
		return nil
	}
	list, err := fs.ReadDir(t.root.FS(), dir)
	if err != nil {
		return nil
	}
	for _, d := range list {
		if d.IsDir() && len(out) < maxFiles {
			out = append(out, d.Name())
		}
	}
	return out
}
