package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// sealed puts bytes where nobody can change them any more.
func sealed(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("hearth-copy", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	f := os.NewFile(uintptr(fd), "copy")
	_, err = f.Write(data)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	return f, nil
}

// bindCopies lays the copies over the files of the same name, for this thread
// and what it starts. Where the system does not allow that, the copies take
// the files' places among the arguments.
func bindCopies(j *job) error {
	if len(j.Copies) == 0 {
		return nil
	}
	// The right to mount was for this only.
	defer passNothingOn()
	// This thread leaves the others' view of the file system, and its working
	// folder goes with it.
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return substitute(j, "/proc/self/fd/")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep a script as it was approved: %w", err)
	}
	for i, path := range j.Copies {
		if err := bind(fdCopies+i, path); err != nil {
			return fmt.Errorf("keep %s as it was approved: %w", path, err)
		}
	}
	return nil
}

// passNothingOn takes rights from what this thread starts; clearing the
// inheritable ones clears the ambient ones.
func passNothingOn() {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&head, &sets[0]) == nil {
		sets[0].Inheritable, sets[1].Inheritable = 0, 0
		_ = unix.Capset(&head, &sets[0])
	}
}

// bind lays the content of a descriptor over a file, for reading.
func bind(fd int, path string) error {
	at, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", ".hearth-copy-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the mount keeps what it needs
	name := filepath.Join(dir, "copy")
	if err := duplicate(fd, name, os.FileMode(st.Mode&0o777)); err != nil {
		return err
	}
	target := "/proc/self/fd/" + strconv.Itoa(at)
	if err := unix.Mount(name, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	err = unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	if errors.Is(err, unix.EPERM) {
		return nil // a stricter mount lies below; the copy is in its place all the same
	}
	return err
}

func duplicate(fd int, name string, mode os.FileMode) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	b := make([]byte, st.Size)
	for n := 0; n < len(b); {
		k, err := unix.Pread(fd, b[n:], int64(n))
		if err != nil {
			return err
		}
		if k == 0 {
			return io.ErrUnexpectedEOF
		}
		n += k
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}
