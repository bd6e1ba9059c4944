package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// launch starts a guardian. One that has to lay copies over files needs the
// right to mount, which a user who is not root has in a namespace of its own,
// where the system allows that; without it the guardian finds another way.
func launch(cmd *exec.Cmd, mounts bool) error {
	if !mounts || os.Geteuid() == 0 {
		return cmd.Start()
	}
	again := *cmd
	attr := *cmd.SysProcAttr
	attr.Cloneflags = syscall.CLONE_NEWUSER
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // in there only; the command does not get it
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	cmd.SysProcAttr = &attr
	err := cmd.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EACCES) {
		*cmd = again
		return cmd.Start()
	}
	return err
}
