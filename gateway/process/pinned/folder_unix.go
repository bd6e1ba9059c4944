//go:build linux || darwin

package pinned

import "golang.org/x/sys/unix"

// Folder is which folder something is, whatever it is called by now.
type Folder struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// FolderOf looks; no folder is the zero Folder.
func FolderOf(path string) Folder {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return Folder{}
	}
	return Folder{uint64(st.Dev), st.Ino} //nolint:unconvert // its type differs by machine
}
