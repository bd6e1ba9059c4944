package pinned

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// start is a program that is about to be started.
type start struct {
	file *File
	// called is its path as the kernel hands it to an interpreter.
	called string
}

// start lets the call go on, and holds what comes of it before its first
// instruction.
func (w *Watcher) start(id uint64, a asked, f *File) {
	called := a.path
	if !path.IsAbs(called) && a.folder != unix.AT_FDCWD {
		called = "/dev/fd/" + strconv.Itoa(a.folder) + "/" + called
	}
	if err := seize(a.pid); err != nil {
		w.o.Tell(fmt.Sprintf("%s was not started: it cannot be compared with what was approved (%v)", a.path, err))
		w.refuse(id, unix.EACCES)
		return
	}
	if !w.waits(id) { // interrupted, and asked again if it is still wanted
		w.refuse(id, unix.EACCES)
		return
	}
	w.starting[a.pid] = start{f, called}
	w.goOn(id)
}

// seize begins to trace a process without stopping it.
func seize(pid int) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL, 0, 0)
	if e == 0 || e == unix.EPERM && ours(pid) {
		return nil
	}
	return e
}

// ours: this thread traces it already, since a start that failed.
func ours(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && bytes.Contains(b, fmt.Appendf(nil, "\nTracerPid:\t%d\n", unix.Gettid()))
}

// stop decides about a tracee that stands still.
func (w *Watcher) stop(s stop) {
	event, sig := int(s.status)>>16, s.status.StopSignal()
	if event == unix.PTRACE_EVENT_EXEC {
		thread := s.pid // one of many may have started it; then it has another number now
		if msg, err := unix.PtraceGetEventMsg(s.pid); err == nil && msg != 0 {
			thread = int(msg)
		}
		st, ok := w.starting[thread]
		delete(w.starting, thread)
		if ok {
			if err := st.check(s.pid); err != nil {
				w.o.Tell(st.called + " was not started: " + err.Error()) // first: its end may be that of all
				_ = unix.Kill(s.pid, unix.SIGKILL)
				return
			}
		}
		_ = detach(s.pid, 0)
		return
	}
	_, waiting := w.starting[s.pid]
	switch {
	case event == unix.PTRACE_EVENT_STOP && (sig == unix.SIGSTOP || sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU):
		_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_LISTEN, uintptr(s.pid), 0, 0, 0, 0)
	case event != 0:
		_ = unix.PtraceCont(s.pid, 0)
	case waiting:
		_ = unix.PtraceCont(s.pid, int(sig))
	default:
		_ = detach(s.pid, int(sig))
	}
}

func detach(pid, sig int) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(sig), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// check compares what the kernel loaded with what was approved.
func (st start) check(pid int) error {
	head := make([]byte, 256)
	n, err := st.file.Content.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read what was approved: %w", err)
	}
	exe := "/proc/" + strconv.Itoa(pid) + "/exe"
	if line, ok := shebang(head[:n]); ok {
		return st.interpreted(pid, exe, line)
	}
	same, err := equal(st.file.Content, exe)
	if err == nil && !same {
		err = errOther
	}
	return err
}

var errOther = fmt.Errorf("it is no longer what was approved; ask again")

// shebang is the interpreter of a script, and the one argument that it may have.
func shebang(head []byte) (words []string, ok bool) {
	line, ok := strings.CutPrefix(string(head), "#!")
	if !ok {
		return nil, false
	}
	line, _, _ = strings.Cut(line, "\n")
	line = strings.Trim(line, " \t")
	i := strings.IndexAny(line, " \t\x00")
	if i < 0 {
		return []string{line}, line != ""
	}
	if rest := strings.Trim(line[i:], " \t"); rest != "" && rest[0] != 0 {
		return []string{line[:i], rest}, true
	}
	return []string{line[:i]}, true
}

// interpreted: the interpreter that the approved text names was started, with
// the arguments that follow from it. What it reads is the copy.
func (st start) interpreted(pid int, exe string, words []string) error {
	argv := append(words, st.called)
	for range 5 { // interpreters may be scripts themselves
		head, err := beginning(argv[0])
		if err != nil {
			return fmt.Errorf("its interpreter %s cannot be looked at: %w", argv[0], err)
		}
		words, ok := shebang(head)
		if !ok {
			break
		}
		argv = append(words, argv...)
	}
	want, err := os.Stat(argv[0])
	if err != nil {
		return fmt.Errorf("its interpreter cannot be looked at: %w", err)
	}
	got, err := os.Stat(exe)
	if err != nil {
		return fmt.Errorf("look at what was started: %w", err)
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return fmt.Errorf("look at what was started: %w", err)
	}
	if !os.SameFile(want, got) || !bytes.HasPrefix(line, []byte(strings.Join(argv, "\x00")+"\x00")) {
		return errOther
	}
	return nil
}

func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 256)
	n, err := f.Read(b)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// equal compares an approved file with one that is there.
func equal(content *os.File, path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("look at what was started: %w", err)
	}
	defer func() { _ = f.Close() }()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := content.ReadAt(a, at)
		if err != nil && err != io.EOF {
			return false, fmt.Errorf("read what was approved: %w", err)
		}
		m, err := f.ReadAt(b, at)
		if err != nil && err != io.EOF {
			return false, fmt.Errorf("look at what was started: %w", err)
		}
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if n == 0 {
			return true, nil
		}
		at += int64(n)
	}
}
