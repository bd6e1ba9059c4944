package plan

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// job is one command that is really run under the eyes of strace.
type job struct {
	Path   string
	Argv   []string
	Writes bool
}

type batch struct {
	Dir  string
	Env  []string
	Keep map[string][]byte // files that are put back when a command changed them
	Jobs []job
}

const driverVar = "HEARTH_PLAN_DRIVER"

func TestMain(m *testing.M) {
	if file := os.Getenv(driverVar); file != "" {
		if err := drive(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// drive runs the jobs of a batch one after another. Each begins only when
// everything that the one before it started is gone, so that what the trace shows
// between two marks belongs to one job.
func drive(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b batch
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() // held until the end: what nobody holds is closed by the garbage collector
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	for i, j := range b.Jobs {
		for path, content := range b.Keep {
			if i == 0 || !b.Jobs[i-1].Writes {
				break
			}
			if info, err := os.Lstat(path); err != nil || info.Size() != int64(len(content)) || info.Mode().Perm() != 0o755 {
				_ = os.RemoveAll(path)
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
				if err := os.WriteFile(path, content, 0o755); err != nil {
					return err
				}
			}
		}
		_ = syscall.Exec(iAm+":"+strconv.Itoa(i), nil, nil) // the mark
		if _, err := syscall.ForkExec(j.Path, j.Argv, &syscall.ProcAttr{Dir: b.Dir, Env: b.Env, Files: files}); err != nil {
			return fmt.Errorf("%q: %w", j.Argv, err)
		}
		for {
			if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
				break
			}
		}
	}
	_ = syscall.Exec(iAm+":end", nil, nil)
	return nil
}

// needStrace skips where there is no strace, but not where build/test installed it.
func needStrace(t testing.TB) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, "-e", "trace=execve", "true").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("HEARTH_REQUIRE_STRACE") != "" {
		t.Fatalf("strace does not work: %v: %s", err, out)
	}
	t.Skipf("strace does not work here (install it; containers need the right to trace): %v", err)
}

var (
	called  = regexp.MustCompile(`^(\d+) +execve(?:at)?\((?:[A-Z_0-9]+, )?("(?:[^"\\]|\\.)*")(.*)$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. execve(?:at)? resumed>(.*)$`)
)

// trace runs a batch and returns, for each job, the images that were executed.
func trace(ctx context.Context, t testing.TB, b batch) [][]string {
	t.Helper()
	dir := t.TempDir()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "batch"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	log := filepath.Join(dir, "log")
	cmd := exec.CommandContext(ctx, "strace", "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-e", "trace=execve,execveat", "-e", "signal=none",
		"-o", log, self)
	cmd.Env = append(os.Environ(), driverVar+"="+filepath.Join(dir, "batch"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("trace: %v: %s", err, out)
	}
	return readTrace(t, log, len(b.Jobs))
}

func readTrace(t testing.TB, log string, jobs int) [][]string {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make([][]string, jobs)
	now, ended := -1, false
	waiting := map[string]string{} // pid → what it is about to become
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := resumed.FindStringSubmatch(line); m != nil {
			if strings.Contains(m[2], "= 0") && now >= 0 && now < jobs {
				out[now] = append(out[now], waiting[m[1]])
			}
			delete(waiting, m[1])
			continue
		}
		m := called.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		path, err := strconv.Unquote(m[2])
		if err != nil {
			path = m[2]
		}
		switch {
		case strings.HasPrefix(path, iAm+":"):
			if now++; path == iAm+":end" {
				ended = true
			}
		case strings.HasPrefix(path, iAm):
			out[now] = append(out[now], strings.TrimPrefix(path, iAm))
		case strings.Contains(m[3], "<unfinished"):
			waiting[m[1]] = path
		case strings.HasSuffix(m[3], "= 0") && now >= 0 && now < jobs:
			out[now] = append(out[now], path)
		}
	}
	if err := lines.Err(); err != nil || !ended || now != jobs {
		t.Fatalf("the trace ends at job %d of %d: %v", now, jobs, err)
	}
	return out
}
