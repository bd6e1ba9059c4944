package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// entry is one process; start tells it from a later one of the same number.
type entry struct {
	pid, parent, session int
	start                string
	dead                 bool
}

const zombie = 5 // SZOMB

func from(p *unix.KinfoProc) entry {
	return entry{int(p.Proc.P_pid), int(p.Eproc.Ppid), int(p.Eproc.Pgid), fmt.Sprint(p.Proc.P_starttime), p.Proc.P_stat == zombie}
}

const manyFiles = 1024

// closeOnExec keeps the files from one number on from the command.
func closeOnExec(first int) {
	for fd := first; fd < manyFiles; fd++ {
		unix.CloseOnExec(fd)
	}
}

// endGroup ends what stayed in the command's own group.
func endGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// adopt is not known to macOS: what leaves its parent and its session there is
// found only while its parent lives.
func adopt() error { return nil }

func dieWithParent(*syscall.SysProcAttr) {}

func all() []entry {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	var out []entry
	for i := range list {
		out = append(out, from(&list[i]))
	}
	return out
}

func stat(pid int) (entry, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return entry{}, false
	}
	return from(p), true
}

func (e entry) signal(sig syscall.Signal) error {
	if now, ok := stat(e.pid); !ok || now.start != e.start {
		return fmt.Errorf("process %d is another one now: %w", e.pid, os.ErrProcessDone)
	}
	return syscall.Kill(e.pid, sig)
}
