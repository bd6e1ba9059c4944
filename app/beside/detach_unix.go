//go:build unix

package beside

import (
	"os/exec"
	"syscall"
)

// detach lets a program go on when this one ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func hide(*exec.Cmd) {}
