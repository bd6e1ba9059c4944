package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const noFollowAny = 0x20000000 // O_NOFOLLOW_ANY

// openDir opens a folder by a path without links, so that nobody can lead the
// command elsewhere by exchanging one of its parts.
func openDir(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|noFollowAny, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%w: %s leads through a link", ErrMoved, path)
	case err != nil:
		return nil, &os.PathError{Op: "open the working folder", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
