package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Child is for systems with guardians; on Windows a job object does the work.
func Child() int { return 2 }

// jobbed is a command in a job object, which ends with the last handle to it:
// ours.
type jobbed struct {
	cmd  *exec.Cmd
	job  windows.Handle
	out  *os.File
	in   io.WriteCloser
	once sync.Once
	temp string
}

func platform([]string) starter {
	return func(_ context.Context, s Spec) (child, error) {
		switch {
		case s.TTY:
			return nil, errors.New("a command in a terminal (pty) is not available on Windows in this version; run it without")
		case s.Confine != nil:
			return nil, errors.New("commands cannot be confined on Windows; approve it to run without")
		}
		if err := checkDir(s); err != nil {
			return nil, err
		}
		for _, c := range s.Copies {
			for _, n := range c.names() {
				if err := same(n, c.Data); err != nil {
					return nil, err
				}
			}
		}
		return startJob(s)
	}
}

func checkDir(s Spec) error {
	if s.CheckDir == nil {
		return nil
	}
	f, err := os.Open(s.Dir)
	if err != nil {
		return fmt.Errorf("open the working folder: %w", err)
	}
	defer func() { _ = f.Close() }()
	return s.CheckDir(f)
}

func startJob(s Spec) (*jobbed, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	j := &jobbed{job: job, temp: s.Temp, cmd: &exec.Cmd{Path: s.Path, Args: s.Argv, Env: s.Env, Dir: s.Dir}}
	j.cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	out, w, err := os.Pipe()
	if err != nil {
		j.close()
		return nil, err
	}
	defer func() { _ = w.Close() }()
	j.out, j.cmd.Stdout, j.cmd.Stderr = out, w, w
	if s.Stdout != nil {
		j.cmd.Stdout = s.Stdout
	}
	if s.Input {
		if j.in, err = j.cmd.StdinPipe(); err != nil {
			j.close()
			return nil, err
		}
	}
	if err := j.cmd.Start(); err != nil {
		j.close()
		return nil, &StartError{s.Path, err.Error()}
	}
	if err := j.enter(); err != nil {
		_ = j.cmd.Process.Kill()
		_ = j.cmd.Wait()
		j.close()
		return nil, err
	}
	return j, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job for a command: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limit a command's job: %w", err)
	}
	return job, nil
}

// enter puts the command, which stands still, into its job and lets it go.
func (j *jobbed) enter() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SUSPEND_RESUME, false,
		uint32(j.cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("open a command: %w", err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	if err := windows.AssignProcessToJobObject(j.job, h); err != nil {
		return fmt.Errorf("put a command into its job: %w", err)
	}
	if status, _, _ := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess").Call(uintptr(h)); status != 0 {
		return fmt.Errorf("let a command go: %w", windows.NTStatus(status))
	}
	return nil
}

func (j *jobbed) pid() int                   { return j.cmd.Process.Pid }
func (j *jobbed) Read(b []byte) (int, error) { return j.out.Read(b) }
func (j *jobbed) resize(int, int) error      { return ErrNoTerminal }
func (j *jobbed) stop(bool)                  { _ = windows.TerminateJobObject(j.job, 1) }

func (j *jobbed) Write(b []byte) (int, error) {
	if j.in == nil {
		return 0, ErrInput
	}
	return j.in.Write(b)
}

func (j *jobbed) closeInput() error {
	if j.in == nil {
		return ErrInput
	}
	return j.in.Close()
}

func (j *jobbed) wait() Exit {
	err := j.cmd.Wait()
	// What the command left behind ends here, so that its output does.
	_ = windows.TerminateJobObject(j.job, 1)
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return Exit{Code: -1, Lost: err.Error()}
	}
	return Exit{Code: j.cmd.ProcessState.ExitCode()}
}

func (j *jobbed) close() {
	j.once.Do(func() {
		_ = windows.CloseHandle(j.job)
		if j.out != nil {
			_ = j.out.Close()
		}
		if j.in != nil {
			_ = j.in.Close()
		}
		if j.temp != "" {
			_ = os.RemoveAll(j.temp)
		}
	})
}
