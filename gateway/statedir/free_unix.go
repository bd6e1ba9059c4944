//go:build linux || darwin

package statedir

import "golang.org/x/sys/unix"

// Free is how many bytes the folder's disk still takes; ok is false where that
// cannot be known.
func (d Dir) Free() (bytes int64, ok bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(string(d), &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
