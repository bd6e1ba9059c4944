package safepath

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxSearch is how many entries of a workspace are looked through for the other
// names of one file.
const maxSearch = 20_000

// shared reports whether the file has another name (a hard link) that is not
// known to be in the workspace: then it is a file of somewhere else as well.
func (p *Path) shared() bool {
	if !p.Inside || len(p.missing) > 0 {
		return false
	}
	seen, err := p.dir.Lstat(p.base)
	if err != nil || !seen.Mode().IsRegular() {
		return false
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return false // nor can anybody read it
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || p.privateLink(f, st) || !p.elsewhere(f, st) {
		return false // Open refuses other names of files with secrets
	}
	p.told = st
	return true
}

// elsewhere counts the names of a file that are in the workspace.
func (p *Path) elsewhere(f *os.File, st fs.FileInfo) bool {
	n := links(f, st)
	if !p.Inside || n < 2 {
		return false
	}
	top := strings.TrimSuffix(p.Path, filepath.FromSlash(p.Rel))
	left := maxSearch
	_ = filepath.WalkDir(top, func(_ string, d fs.DirEntry, err error) error {
		if left--; left < 0 || n == 0 {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return nil // what cannot be listed is not counted
		}
		if info, err := d.Info(); err == nil && os.SameFile(info, st) {
			n--
		}
		return nil
	})
	return n > 0
}
