//go:build !windows

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// become goes on as another program, in this process: whoever started it keeps
// what it started.
func become(exe string, args []string) error {
	err := syscall.Exec(exe, append([]string{exe}, args...), os.Environ())
	return fmt.Errorf("go on as %s: %w", exe, err)
}

// apart keeps the keys of a terminal from a program that is watched: Ctrl-C reaches
// the watcher alone, which ends it once and in order.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = watched() }

// end asks a program to end in order.
func end(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }

// stay keeps the thread that starts programs, with which they would end.
func stay() { runtime.LockOSThread() }
