package statedir

import "golang.org/x/sys/windows"

// Free is how many bytes the folder's disk still takes; ok is false where that
// cannot be known.
func (d Dir) Free() (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(string(d))
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}
