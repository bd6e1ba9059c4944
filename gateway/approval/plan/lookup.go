package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// where is what was found for a name.
type where struct {
	path   string // links followed
	hash   [32]byte
	kind   kind
	system bool // only root can change it
	setuid bool
	err    error
}

var errNotFound = errors.New("not found in the system's folders")

// find looks a program up the way that the shell and execvp will: a name with a
// slash from the folder dir, any other along the search path. There is no other
// place, above all not the working folder.
func (r *Resolver) find(name, dir string) where {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			if dir == "" {
				return where{err: errors.New("its folder is decided only when it runs")}
			}
			name = filepath.Join(dir, name)
		}
		return r.look(name)
	}
	for _, list := range [][]string{r.own, r.path} {
		for _, folder := range list {
			for _, full := range candidates(filepath.Join(folder, name)) {
				if w := r.look(full); !errors.Is(w.err, fs.ErrNotExist) && !errors.Is(w.err, errNotProgram) {
					return w
				}
			}
		}
	}
	return where{err: errNotFound}
}

var errNotProgram = errors.New("not a program")

func (r *Resolver) look(full string) where {
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
	w := where{path: path, setuid: info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0}
	if w.hash, w.kind, w.err = r.hashes.hash(path); w.err != nil {
		return w
	}
	w.system = r.trusted(path) && r.trusted(filepath.Dir(full))
	return w
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
