package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openDir opens a folder by a path without links, so that nobody can lead the
// command elsewhere by exchanging one of its parts.
func openDir(path string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case err == unix.ELOOP:
		return nil, fmt.Errorf("%w: %s leads through a link", ErrMoved, path)
	case err != nil:
		return nil, &os.PathError{Op: "open the working folder", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
