package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ErrReplaced means that something else stands where a folder was that Hearth
// works in.
var ErrReplaced = errors.New("it is not the folder any more that it was when Hearth first used it: somebody moved it, or put a link or " +
	"another folder in its place. " +
	"Nothing was done. Put it back, or restart Hearth to use what is there now")

// Workspaces are folders that are found by their names once, and held open from
// then on: whatever stands under such a name later is another folder. The zero
// value is ready.
type Workspaces struct {
	mu   sync.Mutex
	held map[string]held
}

type held struct {
	root *os.Root // also keeps its number from being given to another folder
	real string
	info fs.FileInfo
}

// Hold returns where a folder really is, and which one; it must still be the
// one that was first held by this path. One that was removed is made again.
func (w *Workspaces) Hold(path string) (real string, which fs.FileInfo, err error) {
	h, err := w.hold(path)
	return h.real, h.info, err
}

// open returns the folder for the caller to close.
func (w *Workspaces) open(path string) (*os.Root, string, error) {
	h, err := w.hold(path)
	if err != nil {
		return nil, "", err
	}
	root, err := h.root.OpenRoot(".")
	if err != nil {
		return nil, "", fmt.Errorf("open the workspace: %w", plain(err))
	}
	return root, h.real, nil
}

func (w *Workspaces) hold(path string) (held, error) {
	path = filepath.Clean(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	was, known := w.held[path]
	if known {
		same, err := was.still(path)
		switch {
		case err != nil:
			return held{}, fmt.Errorf("the folder %s: %w", path, err)
		case same:
			return was, nil
		}
		_ = was.root.Close()
		delete(w.held, path)
	}
	h, err := take(path)
	if err != nil {
		return held{}, err
	}
	if w.held == nil {
		w.held = map[string]held{}
	}
	w.held[path] = h
	return h, nil
}

// still reports whether the path leads to the same folder. false without an
// error: there is nothing there, and one was made in its place.
func (h held) still(path string) (bool, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent, err := filepath.EvalSymlinks(filepath.Dir(h.real))
		if _, gone := os.Lstat(h.real); err != nil || parent != filepath.Dir(h.real) || !errors.Is(gone, fs.ErrNotExist) || path != h.real {
			return false, ErrReplaced
		}
		if err := os.Mkdir(h.real, 0o755); err != nil {
			return false, fmt.Errorf("make it again: %w", plain(err))
		}
		return false, nil
	case err != nil:
		return false, plain(err)
	}
	now, err := os.Lstat(real)
	if err != nil || real != h.real || !os.SameFile(now, h.info) {
		return false, ErrReplaced
	}
	return true, nil
}

func take(path string) (h held, err error) {
	if h.real, err = filepath.EvalSymlinks(path); err != nil {
		return held{}, fmt.Errorf("find the workspace: %w", err)
	}
	if h.root, err = os.OpenRoot(h.real); err != nil {
		return held{}, fmt.Errorf("open the workspace: %w", err)
	}
	seen, err := os.Lstat(h.real)
	if err == nil {
		h.info, err = h.root.Stat(".")
	}
	if err != nil || !os.SameFile(seen, h.info) {
		_ = h.root.Close()
		return held{}, fmt.Errorf("the folder %s: %w", path, ErrReplaced)
	}
	return h, nil
}

// Close lets all of them go.
func (w *Workspaces) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		_ = h.root.Close()
	}
	w.held = nil
}
