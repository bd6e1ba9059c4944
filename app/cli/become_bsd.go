//go:build !linux && !windows

package cli

import "syscall"

func watched() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
