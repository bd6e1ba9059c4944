package safepath

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Open opens the file for reading: a regular one only, and never one of ours
// under another name. It does not block.
func (p *Path) Open() (*os.File, fs.FileInfo, error) {
	if len(p.missing) > 0 {
		return nil, nil, fs.ErrNotExist
	}
	seen, err := p.dir.Lstat(p.base)
	if err != nil {
		return nil, nil, plain(err)
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, notFile(seen)
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, plain(err)
	}
	st, err := f.Stat()
	if err == nil {
		err = p.check(f, seen, st)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

func (p *Path) check(f *os.File, seen, st fs.FileInfo) error {
	switch {
	case !st.Mode().IsRegular():
		return notFile(st)
	case !os.SameFile(seen, st):
		return ErrMoved
	case kernelFile(f):
		return fmt.Errorf("%w: it belongs to the system's devices and processes", ErrNotFile)
	case p.Inside && !(p.told != nil && os.SameFile(p.told, st)) && p.elsewhere(f, st):
		return ErrMoved // it was not when it was judged
	case p.privateLink(f, st):
		return fmt.Errorf("%w: it is a second name of a file with secrets", ErrPrivate)
	}
	return nil
}

func notFile(st fs.FileInfo) error {
	what := "a device"
	switch m := st.Mode(); {
	case m.IsDir():
		what = "a folder"
	case m&fs.ModeSymlink != 0:
		what = "a link"
	case m&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	}
	return fmt.Errorf("%w, it is %s", ErrNotFile, what)
}

// Stat looks at the file, nil when there is none. It follows no link.
func (p *Path) Stat() (fs.FileInfo, error) {
	if len(p.missing) > 0 {
		return nil, nil
	}
	st, err := p.dir.Lstat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, plain(err)
	}
	return st, nil
}

// Missing returns the folders, outermost first, that Replace will make.
func (p *Path) Missing() []string {
	top := filepath.Dir(p.Path)
	out := make([]string, len(p.missing))
	for i := len(p.missing) - 1; i >= 0; i-- {
		out[i], top = top, filepath.Dir(top)
	}
	return out
}

// Names lists the folder of the file, up to n names, to help with a wrong name.
func (p *Path) Names(n int) []string {
	d, err := p.dir.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(n) // what there is
	return names
}

// List lists the folder itself when the path is one; folders end with a slash.
func (p *Path) List(n int) ([]string, error) {
	if len(p.missing) > 0 {
		return nil, fs.ErrNotExist
	}
	d, err := p.dir.OpenFile(p.base, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, plain(err)
	}
	defer d.Close()
	entries, err := d.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, plain(err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		if out[i] = e.Name(); e.IsDir() {
			out[i] += "/"
		}
	}
	return out, nil
}

// Replace puts content in the file's place as a whole: nobody sees half of it.
// old is what Stat or Open said before; when something else is there by now,
// nothing is changed and the error is ErrMoved. Missing folders are made.
//
// It survives the end of the process at any moment. It does not wait for the
// disk, as no editor of many files does: what was there before is what must not
// be lost when the power goes, and whoever keeps that has waited.
func (p *Path) Replace(content []byte, mode fs.FileMode, old fs.FileInfo) (err error) {
	if old == nil {
		if err := checkNew(p.base); err != nil {
			return err
		}
	}
	if err := p.makeFolders(); err != nil {
		return err
	}
	temp := tempPrefix + rand.Text()
	f, err := p.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write beside %s: %w", p.base, plain(err))
	}
	defer func() {
		if err != nil {
			_ = p.dir.Remove(temp)
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode.Perm())
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p.base, plain(err))
	}
	if err := p.Unchanged(old); err != nil {
		return err
	}
	if err := p.dir.Rename(temp, p.base); err != nil {
		return fmt.Errorf("put %s in place: %w", p.base, plain(err))
	}
	return nil
}

// Unchanged is ErrMoved when there is something else than old by now.
func (p *Path) Unchanged(old fs.FileInfo) error {
	now, err := p.Stat()
	switch {
	case err != nil:
		return err
	case now == nil && old == nil:
		return nil
	case now == nil || old == nil || !os.SameFile(now, old) || now.Size() != old.Size() || !now.ModTime().Equal(old.ModTime()):
		return ErrMoved
	}
	return nil
}

// Remove removes the file, when it still is what old says.
func (p *Path) Remove(old fs.FileInfo) error {
	if old == nil {
		return fs.ErrNotExist
	}
	if !old.Mode().IsRegular() {
		return notFile(old)
	}
	if err := p.Unchanged(old); err != nil {
		return err
	}
	if err := p.dir.Remove(p.base); err != nil {
		return fmt.Errorf("remove %s: %w", p.base, plain(err))
	}
	return nil
}

// RemoveFolder removes the folder when it is empty.
func (p *Path) RemoveFolder() error {
	st, err := p.Stat()
	if err != nil || st == nil || !st.IsDir() {
		return err
	}
	return plain(p.dir.Remove(p.base))
}

// makeFolders makes what is missing above the file, and goes there.
func (p *Path) makeFolders() error {
	for len(p.missing) > 0 {
		name := p.missing[0]
		if err := checkNew(name); err != nil {
			return err
		}
		if err := p.dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the folder %s: %w", path.Join(p.missing...), plain(err))
		}
		st, err := p.dir.Lstat(name)
		if err != nil || !st.IsDir() {
			return ErrMoved
		}
		w := walker{dir: p.dir, root: p.dir}
		if err := w.enter(name, st); err != nil {
			return err
		}
		_ = p.dir.Close()
		p.dir, p.missing = w.dir, p.missing[1:]
	}
	return nil
}
