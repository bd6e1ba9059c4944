package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// PermissionError means that the file may have been changed by somebody else,
// so nothing in it is believed. Fix is a command for the person's terminal.
type PermissionError struct{ Path, Reason, Fix string }

func (e *PermissionError) Error() string {
	return fmt.Sprintf("the settings in %s are not used: %s; if its content is yours, run: %s", e.Path, e.Reason, e.Fix)
}

// SaveError means that the file could not be written.
type SaveError struct {
	Path string
	Err  error
}

func (e *SaveError) Error() string {
	todo := "make its folder writable for you"
	if statedir.IsFull(e.Err) {
		todo = "make some room on the disk"
	}
	return fmt.Sprintf("the settings were not saved and nothing was changed: %s cannot be written: %v; %s", e.Path,
		statedir.Cause(e.Err), todo)
}

func (e *SaveError) Unwrap() error { return e.Err }

// content is the file at one moment.
type content struct {
	raw      string
	exists   bool
	readable bool  // others can read it
	err      error // it is there but cannot be read
}

func (c content) hash() string { return hashOf(c.raw) }

// hashOf names a content; a missing file counts as empty.
func hashOf(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:])
}

// target follows symlinks, so that an edit replaces the file that is meant and
// not the link to it. A link to nothing gives the place it names.
func target(path string) string {
	for range 16 {
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return path
}

// readFile reads the file once. A *PermissionError is returned; other trouble
// is part of the content.
func readFile(path string) (content, error) {
	real := target(path)
	info, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{exists: true, err: unreadable(path, err)}, nil
	}
	if !info.Mode().IsRegular() {
		return content{exists: true, err: fmt.Errorf("%s is not a file; move it away or name another with HEARTH_CONFIG", path)}, nil
	}
	f, err := os.Open(real)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{exists: true, err: unreadable(path, err)}, nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return content{exists: true, err: unreadable(path, err)}, nil
	}
	if err := checkPermissions(real, info); err != nil {
		return content{exists: true}, err
	}
	if dir, err := os.Stat(filepath.Dir(real)); err == nil {
		if err := checkPermissions(filepath.Dir(real), dir); err != nil {
			return content{exists: true}, err
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return content{exists: true, err: unreadable(path, err)}, nil
	}
	return content{raw: string(raw), exists: true, readable: readableByOthers(info)}, nil
}

func unreadable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s cannot be read: %w; make it readable for your user", path, err)
}
