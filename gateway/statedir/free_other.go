//go:build !linux && !darwin && !windows

package statedir

// Free is not available here.
func (d Dir) Free() (bytes int64, ok bool) { return 0, false }
