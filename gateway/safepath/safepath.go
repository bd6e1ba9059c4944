// Package safepath finds the file that a path means, for everything that acts on
// files for a model. It owns how a path is read, which links are followed, what
// counts as inside of the workspace, what is protected or private, and opening,
// replacing and removing a file without being led elsewhere in between. It does
// not ask anybody and keeps no copies.
//
// A Path holds the open folder of its file: the folder was reached step by
// step without following a link, and everything is done relative to it. A
// folder that is swapped for a link after that leads nowhere.
package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxHops bounds links that lead to links.
const maxHops = 40

var (
	// ErrEscape means that a link leads out of the workspace.
	ErrEscape = errors.New("a link leads out of the workspace")
	// ErrMoved means that something changed while it was looked at.
	ErrMoved = errors.New("the file or a folder above it was changed by somebody else in this moment; look at it again")
	// ErrNotFile means that there is something else than a regular file.
	ErrNotFile = errors.New("this is not a regular file")
)

// Finder finds places.
type Finder struct {
	Home    string   // what ~/ means; "" = nobody's
	Private []string // files and folders that no tool may touch: our own state
	// Readable reports files outside of the workspace that may be read without
	// asking, by their path without links. nil: none.
	Readable func(path string) bool
	// Workspaces holds the workspaces; nil: they are found by name each time.
	Workspaces *Workspaces
}

// Path is where a file is or would be. Close it.
type Path struct {
	Path   string // absolute, without links, in the form of the system
	Inside bool   // in the workspace
	Rel    string // inside: below the workspace, slash-separated

	home    string
	open    func(path string) bool // Finder.Readable
	private []fs.FileInfo
	files   []string // Finder.Private
	ours    bool     // in a private folder
	dir     *os.Root // the deepest folder that is there
	missing []string // folders between dir and the file
	base    string
	told    fs.FileInfo // the file of which Judge said that it has other names
}

// Find returns the file that raw means. A workspace that is missing is made.
func (f Finder) Find(workspace, raw string) (*Path, error) {
	return f.FindFrom(workspace, "", raw)
}

// FindFrom is Find, with relative paths that begin in folder, an absolute path;
// "" is the workspace.
func (f Finder) FindFrom(workspace, folder, raw string) (*Path, error) {
	p, absolute, err := parse(raw, f.Home)
	if err != nil {
		return nil, err
	}
	if !absolute && folder != "" {
		p, absolute = path.Join(filepath.ToSlash(folder), p), true
	}
	root, real, err := f.openWorkspace(workspace)
	if err != nil {
		return nil, err
	}
	if !absolute {
		return f.walk(root, real, p, true)
	}
	for _, top := range []string{real, filepath.Clean(workspace)} {
		if rel, ok := below(filepath.FromSlash(p), top); ok {
			return f.walk(root, real, rel, true)
		}
	}
	_ = root.Close()
	out, err := f.FindAbs(p)
	if err != nil {
		return nil, err
	}
	if rel, ok := below(out.Path, real); ok {
		out.Inside, out.Rel = true, rel
	}
	return out, nil
}

// FindAbs returns the file of an absolute path, without a workspace.
func (f Finder) FindAbs(abs string) (*Path, error) {
	abs = filepath.Clean(filepath.FromSlash(abs))
	if kernel(abs) {
		return nil, fmt.Errorf("%w: %s belongs to the system's devices and processes", ErrNotFile, abs)
	}
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", top, err)
	}
	return f.walk(root, top, filepath.ToSlash(strings.TrimPrefix(abs, top)), false)
}

func (f Finder) openWorkspace(workspace string) (*os.Root, string, error) {
	if !filepath.IsAbs(workspace) {
		return nil, "", fmt.Errorf("the workspace %q is not an absolute path; set agents.defaults.workspace", workspace)
	}
	if f.Workspaces != nil {
		if root, real, err := f.Workspaces.open(workspace); !errors.Is(err, fs.ErrNotExist) {
			return root, real, err
		}
	}
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		return nil, "", fmt.Errorf("make the workspace: %w", err)
	}
	if f.Workspaces != nil {
		return f.Workspaces.open(workspace)
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, "", fmt.Errorf("open the workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		_ = root.Close()
		return nil, "", fmt.Errorf("open the workspace: %w", err)
	}
	return root, real, nil
}

// below returns p relative to top, slash-separated, when it is in it.
func below(p, top string) (string, bool) {
	rel, err := filepath.Rel(top, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// walk goes down from root, a folder called top, one name at a time. It closes
// root, or gives it to the Path.
func (f Finder) walk(root *os.Root, top, rel string, inside bool) (_ *Path, err error) {
	w := &walker{top: top, inside: inside, ours: f.infos(), root: root}
	defer w.close()
	for range maxHops {
		link, err := w.down(rel)
		if err != nil {
			return nil, err
		}
		if link == "" {
			p := &Path{
				Path: filepath.Join(top, filepath.FromSlash(rel)), Inside: inside, home: f.Home, open: f.Readable, private: w.ours, files: f.Private,
				ours: w.private, dir: w.take(), missing: w.missing, base: w.base,
			}
			if inside {
				p.Rel = rel
			}
			return p, nil
		}
		if rel, err = w.follow(link); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: links lead in a circle", ErrNotFile)
}

func (f Finder) infos() []fs.FileInfo {
	var out []fs.FileInfo
	for _, p := range f.Private {
		if st, err := os.Stat(p); err == nil {
			out = append(out, st)
		}
	}
	return out
}

// walker is the state of one walk.
type walker struct {
	root, dir *os.Root
	top       string
	inside    bool
	ours      []fs.FileInfo

	at      string // of dir, below top
	base    string
	missing []string
	private bool
}

func (w *walker) close() {
	if w.dir != nil && w.dir != w.root {
		_ = w.dir.Close()
	}
	if w.root != nil {
		_ = w.root.Close()
	}
}

// take gives the open folder away.
func (w *walker) take() *os.Root {
	d := w.dir
	if d == w.root {
		w.root = nil
	}
	w.dir = nil
	return d
}

// down goes as far as rel exists without following links. It returns what the
// first link says, "" when there was none.
func (w *walker) down(rel string) (link string, err error) {
	if w.dir != nil && w.dir != w.root {
		_ = w.dir.Close()
	}
	w.dir, w.at, w.missing, w.private = w.root, ".", nil, false
	if st, err := w.root.Stat("."); err == nil {
		w.private = w.same(st)
	}
	names := strings.Split(rel, "/")
	w.base = names[len(names)-1]
	for i, name := range names {
		st, err := w.dir.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.missing = names[i : len(names)-1]
			return "", nil
		case err != nil:
			return "", fmt.Errorf("look at %s: %w", path.Join(w.at, name), plain(err))
		case st.Mode()&fs.ModeSymlink != 0:
			if link, err = w.dir.Readlink(name); err != nil {
				return "", fmt.Errorf("read the link %s: %w", path.Join(w.at, name), plain(err))
			}
			rest := path.Join(names[i+1:]...)
			return path.Join(filepath.ToSlash(link), rest), nil
		}
		w.private = w.private || w.same(st)
		if i == len(names)-1 {
			return "", nil
		}
		if err := w.enter(name, st); err != nil {
			return "", err
		}
	}
	return "", nil
}

// enter goes into a folder that was seen as st.
func (w *walker) enter(name string, st fs.FileInfo) error {
	if !st.IsDir() {
		return fmt.Errorf("%w: %s is not a folder", ErrNotFile, path.Join(w.at, name))
	}
	sub, err := w.dir.OpenRoot(name)
	if err != nil {
		return fmt.Errorf("open the folder %s: %w", path.Join(w.at, name), plain(err))
	}
	now, err := sub.Stat(".")
	if err != nil || !os.SameFile(st, now) {
		_ = sub.Close()
		return ErrMoved
	}
	if w.dir != w.root {
		_ = w.dir.Close()
	}
	w.dir, w.at = sub, path.Join(w.at, name)
	return nil
}

// follow turns what a link says into the next path to walk.
func (w *walker) follow(link string) (string, error) {
	next := link
	if !isAbs(link) {
		next = path.Join(w.at, link)
		if filepath.IsLocal(filepath.FromSlash(next)) {
			return next, nil
		}
	} else {
		abs := filepath.FromSlash(path.Clean(link))
		if kernel(abs) {
			return "", fmt.Errorf("%w: a link leads to %s, which belongs to the system's devices and processes", ErrNotFile, abs)
		}
		if rel, ok := below(abs, w.top); ok {
			return rel, nil
		}
	}
	if !w.inside { // from the very top .. leads nowhere else
		return strings.TrimPrefix(path.Join("/", next), "/"), nil
	}
	return "", fmt.Errorf("%w, to %s: if that is meant, use that path itself, and the owner is asked", ErrEscape, link)
}

func (w *walker) same(st fs.FileInfo) bool {
	return slices.ContainsFunc(w.ours, func(o fs.FileInfo) bool { return os.SameFile(o, st) })
}

// Close gives the folder back.
func (p *Path) Close() { _ = p.dir.Close() }

// Name is how to call the file: short inside of the workspace.
func (p *Path) Name() string {
	if p.Inside {
		return p.Rel
	}
	return p.Path
}

// kernel reports paths whose files are no files.
func kernel(p string) bool {
	if filepath.Separator != '/' {
		return false
	}
	if strings.HasPrefix(p, "/dev/shm/") {
		return false
	}
	for _, top := range []string{"/proc", "/sys", "/dev"} {
		if p == top || strings.HasPrefix(p, top+"/") {
			return true
		}
	}
	return false
}

// plain takes the path out of an error: os.Root names things by where it
// stands, which helps nobody.
func plain(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}
