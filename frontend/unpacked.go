package frontend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// unpacked shows files that lie there as name.gz as name, too. A file that lies
// there unpacked wins, and then its name.gz is none: it is of an earlier build.
type unpacked struct{ files fs.FS }

// maxPage is more than any file of the page has.
const maxPage = 16 << 20

// Open implements fs.FS.
func (u unpacked) Open(name string) (fs.File, error) {
	if plain := name[:len(name)-len(path.Ext(name))]; path.Ext(name) == ".gz" && fs.ValidPath(plain) {
		if _, err := fs.Stat(u.files, plain); err == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	f, err := u.files.Open(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	packed, other := fs.ReadFile(u.files, name+".gz")
	if other != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxPage))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	return &file{bytes.NewReader(b), path.Base(name), int64(len(b))}, nil
}

// file is an unpacked one. It is its own description.
type file struct {
	*bytes.Reader
	name string
	size int64
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Size() int64                { return f.size }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
