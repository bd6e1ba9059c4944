//go:build !linux && !darwin

package plan

import "io/fs"

// identify: without a change time nothing is kept, every look reads the file.
func identify(info fs.FileInfo) (identity, bool) {
	return identity{size: info.Size(), mtime: info.ModTime().UnixNano()}, false
}
