package plan

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// where is what was found for a name.
type where struct {
	path   string // links followed
	named  string // before that
	hash   [32]byte
	kind   kind
	system bool // only root can change it
	setuid bool
	err    error
}

var (
	errNotFound   = errors.New("not found in the system's folders")
	errNotProgram = errors.New("not a program")
	errShifting   = errors.New("its path stands for something else in every process")
	errNowhere    = errors.New("its folder is decided only when it runs")
)

// find looks a program up the way that the shell and execvp will: a name with a
// slash from the folder dir, any other along the search path. There is no other
// place, above all not the working folder.
func (r *Resolver) find(ctx context.Context, seen *folders, name, dir string) where {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			if dir == "" {
				return where{err: errNowhere}
			}
			// Not cleaned: "x/../y" is the kernel's to follow, through links.
			name = dir + string(filepath.Separator) + name
		}
		return r.look(ctx, seen, name, name)
	}
	for _, folder := range r.own {
		if w := r.search(ctx, seen, folder, name, ""); !absent(w.err) {
			return w
		}
	}
	if w, ok := r.looks.get(name, seen); ok {
		return w
	}
	for _, folder := range r.path {
		if w := r.search(ctx, seen, folder, name, name); !absent(w.err) {
			return w
		}
	}
	return where{err: errNotFound}
}

func (r *Resolver) search(ctx context.Context, seen *folders, folder, name, key string) where {
	for _, full := range candidates(filepath.Join(folder, name)) {
		if w := r.look(ctx, seen, full, key); !absent(w.err) {
			return w
		}
	}
	return where{err: errNotFound}
}

// absent: shells go on to the next folder.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotProgram) || errors.Is(err, errNotFound)
}

// look follows one path to a program, and keeps what it finds under key.
func (r *Resolver) look(ctx context.Context, seen *folders, full, key string) where {
	if w, ok := r.looks.get(key, seen); ok {
		return w
	}
	id, ok := identifyPath(full)
	w := r.lookNow(ctx, seen, full)
	// Only what stands in the searched folders is kept: their state is looked at
	// for every plan, so that a new program, link or owner is noticed.
	if ok && w.err == nil && w.system && key != "" && id.old(r.now()) && seen.settled && slices.Contains(r.kept, filepath.Dir(full)) {
		r.looks.put(key, looked{full, id, w}, seen)
	}
	return w
}

func (r *Resolver) lookNow(ctx context.Context, seen *folders, full string) where {
	if shifting(full) {
		return where{err: errShifting}
	}
	info, err := os.Stat(full)
	if err != nil {
		return where{err: err}
	}
	if !info.Mode().IsRegular() || !executable(full, info) {
		return where{err: errNotProgram}
	}
	path, err := filepath.EvalSymlinks(full)
	if err != nil {
		return where{err: err}
	}
	w := where{path: path, named: full, setuid: info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0}
	if w.hash, w.kind, w.err = r.hash(ctx, seen, path); w.err != nil {
		return w
	}
	// With ".." a path may lead through a link that others own, wherever it ends.
	w.system = !strings.Contains(full, "..") && r.trusted(path) && r.trusted(filepath.Dir(full))
	return w
}

// shifting: the path leads through /proc or /dev, where names stand for something
// else in every process.
func shifting(path string) bool {
	for range 40 {
		clean := filepath.ToSlash(filepath.Clean(path))
		if strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/dev/") {
			return true
		}
		next := followed(filepath.Clean(path))
		if next == "" {
			return false
		}
		path = next
	}
	return true
}

// followed replaces the first link in a path by what it says, "" without one.
func followed(path string) string {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && !os.IsPathSeparator(path[i]) {
			continue
		}
		target, err := os.Readlink(path[:i])
		if err != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path[:i]), target)
		}
		return target + path[i:]
	}
	return ""
}

// kind is what the kernel makes of a file.
type kind byte

const (
	kindUnknown kind = iota
	kindNative       // runs as it is
	kindScript       // begins with #!
)

func sniff(head []byte) kind {
	s := string(head)
	switch {
	case strings.HasPrefix(s, "#!"):
		return kindScript
	case strings.HasPrefix(s, "\x7fELF"), strings.HasPrefix(s, "MZ"),
		strings.HasPrefix(s, "\xcf\xfa\xed\xfe"), strings.HasPrefix(s, "\xce\xfa\xed\xfe"),
		strings.HasPrefix(s, "\xca\xfe\xba\xbe"):
		return kindNative
	}
	return kindUnknown
}
