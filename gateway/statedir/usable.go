package statedir

import (
	"errors"
	"io"
	"os"
)

// FolderError is that the state folder cannot be used, in words.
type FolderError struct {
	Dir  Dir
	What string // "cannot be read"
	Err  error  // why
}

func (e *FolderError) Error() string {
	return "the folder " + string(e.Dir) + " " + e.What + ": " + Cause(e.Err).Error()
}

func (e *FolderError) Unwrap() error { return e.Err }

// errFile is that there is a file where the folder should be.
var errFile = errors.New("it is a file")

// unusable says what keeps the folder from being used.
func (d Dir) unusable(what string, err error) error {
	if info, serr := os.Stat(string(d)); serr == nil && !info.IsDir() {
		err = errFile
	}
	return &FolderError{d, what, err}
}

// Look reports why what is in the folder cannot be looked at; one that is not there yet has
// nothing.
func (d Dir) Look() error {
	f, err := os.Open(string(d))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = f.Readdirnames(1)
		_ = f.Close()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return d.unusable("cannot be read", err)
	}
	return nil
}

// Writable reports why nothing can be written in the folder.
func (d Dir) Writable() error {
	f, err := os.CreateTemp(string(d), ".hearth-looks.*")
	if err != nil {
		return d.unusable("cannot be written", err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}
