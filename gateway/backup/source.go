package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Source is what a backup is made of.
type Source struct {
	Version string
	Home    string // the person's folder
	Roots   []Root
	// Store hands the database over as it is at one moment, to be kept as the file
	// StorePath; nil: there is none.
	Store func(ctx context.Context, take func(size int64, write func(io.Writer) error) error) error
	// Made are files that are made for the backup, by path: small ones.
	Made map[string][]byte
}

// StorePath is the database's path in a backup.
const StorePath = "state/hearth.db"

// Root is a folder of the source.
type Root struct {
	Name string // "state", "workspace/main": what paths in the backup begin with
	Dir  string
	// Skip leaves out a file or folder directly in Dir; nil: nothing.
	Skip func(name string) bool
	// Must: a file that cannot be read fails the backup; else it is left out and told.
	Must bool
}

// found is a file of the source.
type found struct {
	File
	root *os.Root
	rel  string
	must bool
}

// walk tells every file, folder and link of the source's folders. A folder that is
// a root of its own, or the place for backups, is left out of others.
func (s Source) walk(ctx context.Context, place string, tell func(found) error) error {
	own := map[string]bool{real(place): true}
	for _, r := range s.Roots {
		own[real(r.Dir)] = true
	}
	for _, r := range s.Roots {
		root, err := os.OpenRoot(r.Dir)
		if errors.Is(err, fs.ErrNotExist) && !r.Must {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", r.Dir, err)
		}
		err = r.walk(ctx, root, own, tell)
		_ = root.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (r Root) walk(ctx context.Context, root *os.Root, own map[string]bool, tell func(found) error) error {
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := found{File: File{Path: path.Join(r.Name, rel)}, root: root, rel: rel, must: r.Must}
		if err == nil && !utf8.ValidString(rel) {
			err = errors.New("its name is not text")
		}
		if err != nil {
			return r.missing(at, err, tell, skip(d))
		}
		if rel != "." {
			if r.Skip != nil && !strings.Contains(rel, "/") && r.Skip(rel) || d.IsDir() && own[real(filepath.Join(r.Dir,
				filepath.FromSlash(rel)))] {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return r.missing(at, err, tell, nil)
		}
		at.Mode, at.ModTime = uint32(info.Mode().Perm()), info.ModTime().UTC()
		switch {
		case info.IsDir():
			at.Dir = true
		case info.Mode()&fs.ModeSymlink != 0:
			if at.Link, err = root.Readlink(rel); err != nil {
				return r.missing(at, err, tell, nil)
			}
		case info.Mode().IsRegular():
			at.Size = info.Size()
		default:
			return nil // sockets, pipes and devices hold nothing
		}
		return tell(at)
	})
}

// skip goes on behind an entry that cannot be taken.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// missing is a file that cannot be read: gone meanwhile, or not ours to read.
func (r Root) missing(at found, err error, tell func(found) error, otherwise error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return otherwise
	}
	if r.Must {
		return fmt.Errorf("read %s: %w", at.Path, err)
	}
	at.root = nil
	if err := tell(at); err != nil {
		return err
	}
	return otherwise
}

// real is a path without links, as far as it leads anywhere.
func real(dir string) string {
	if dir == "" {
		return ""
	}
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		dir = p
	}
	if p, err := filepath.Abs(dir); err == nil {
		dir = p
	}
	return dir
}
