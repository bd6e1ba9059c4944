package process

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// entry is one process; start tells it from a later one of the same number.
type entry struct {
	pid, parent, session int
	start                string
	dead                 bool // its first thread is; others of it may go on
}

// adopt makes this process the parent of whatever its descendants orphan.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	return nil
}

func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// closeOnExec keeps all files from one number on from the command, also those
// that the gateway itself was started with.
func closeOnExec(first int) {
	if err := unix.CloseRange(uint(first), math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err == nil {
		return
	}
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// endGroup is not needed where orphans are adopted.
func endGroup(int) {}

// stat reads one process; ok is false when there is none.
func stat(pid int) (entry, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	// pid (name) state ppid … starttime is field 22; a name may hold anything.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return entry{}, false
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 20 {
		return entry{}, false
	}
	parent, err := strconv.Atoi(string(f[1]))
	if err != nil {
		return entry{}, false
	}
	session, err := strconv.Atoi(string(f[3]))
	return entry{pid, parent, session, string(f[19]), f[0][0] == 'Z' || f[0][0] == 'X'}, err == nil
}

func all() []entry {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	var out []entry
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if e, ok := stat(pid); ok {
			out = append(out, e)
		}
	}
	return out
}

// signal sends to exactly this process: the descriptor holds on to it while
// its start time is compared, so that a number given to another in between
// does no harm.
func (e entry) signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(e.pid, 0)
	if err != nil {
		return fmt.Errorf("hold process %d: %w", e.pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := stat(e.pid); !ok || now.start != e.start {
		return fmt.Errorf("process %d is another one now: %w", e.pid, os.ErrProcessDone)
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}
