package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Windows gives links to administrators only, and lets nobody replace or remove a
// program that runs; it lets it be renamed. So there the programs in Root are second
// names of those of the version that is used, current is a file with its name, and a
// switch renames each program aside before the other takes its name.

// aside begins the names of programs that were in the way, in the folder of versions.
// They are removed when they do not run any more.
const aside = ".aside-"

// noted is the version that the file says is used.
func (i Install) noted() string {
	b, err := os.ReadFile(i.folder(current))
	version := strings.TrimSpace(string(b))
	if err != nil || !ValidVersion(version) {
		return ""
	}
	return version
}

func (i Install) note(version string) error {
	if i.noted() == version {
		return nil
	}
	tmp := i.folder(current + ".next")
	if err := os.WriteFile(tmp, []byte(version+"\n"), 0o644); err != nil {
		return fmt.Errorf("switch to %s: %w", version, err)
	}
	failpoint.Hit("update:link")
	return errors.Join(os.Rename(tmp, i.folder(current)), statedir.SyncDir(i.folder()))
}

// exchange gives a program's name in Root to that of a version. What it was is put
// aside, and back when that fails. Done again after any step, it goes on.
func (i Install) exchange(name, version string) error {
	at, from := filepath.Join(i.Root, name), i.folder(version, name)
	if same, err := sameProgram(at, from); err != nil || same {
		return err
	}
	next := at + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := second(from, next); err != nil {
		return err
	}
	old := i.folder(fmt.Sprintf("%s%d-%s", aside, time.Now().UnixNano(), name))
	if err := os.Rename(at, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	failpoint.Hit("update:entry")
	if err := os.Rename(next, at); err != nil {
		return errors.Join(err, os.Rename(old, at))
	}
	_ = os.Remove(old) // it runs, then Keep does it
	return nil
}

// sameProgram reports whether two files have the same bytes; one that is not there has
// others.
func sameProgram(a, b string) (bool, error) {
	x, err := os.Open(a)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = x.Close() }()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer func() { _ = y.Close() }()
	xs, err := x.Stat()
	ys, yerr := y.Stat()
	if err = errors.Join(err, yerr); err != nil || xs.Size() != ys.Size() || os.SameFile(xs, ys) {
		return err == nil && xs.Size() == ys.Size(), err
	}
	p, q := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(x, p)
		m, yerr := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if err != nil || yerr != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return true, nil
			}
			return false, errors.Join(err, yerr)
		}
	}
}
