package beside

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach lets a program go on when this one ends, without a console.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// hide runs a console program without a window of its own.
func hide(cmd *exec.Cmd) { detach(cmd) }
