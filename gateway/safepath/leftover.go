package safepath

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPrefix begins the names of files that are being written beside the one that they
// are to replace.
const tempPrefix = ".hearth-"

// tempRandom is how long the rest of such a name is.
const tempRandom = 26

// mostLooked bounds how many files are looked at for Leftovers.
const mostLooked = 100_000

// Leftovers are the files below a folder that a write left which was killed in the
// middle: temporary ones that nobody has touched since before.
func Leftovers(ctx context.Context, dir string, before time.Time) (paths []string, err error) {
	looked := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if looked++; looked > mostLooked || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || !isTemp(d.Name()) {
			return nil // what cannot be read is told by others
		}
		if st, err := os.Lstat(path); err == nil && st.ModTime().Before(before) {
			paths = append(paths, path)
		}
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return paths, err
}

// isTemp: a name that Replace gives, and nobody else.
func isTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(rest) == tempRandom && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
