//go:build linux

package process_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// family is a shell's text that starts every kind of child that tries to get
// away. Each carries a mark in its arguments, by which survivors are found.
func family(mark string) string {
	long := "sleep 1000." + mark
	return strings.Join([]string{
		"(trap '' TERM INT HUP; while :; do " + long + "; done) &",
		"setsid " + long + " </dev/null >/dev/null 2>&1 &",
		"nohup " + long + " >/dev/null 2>&1 &",
		"(setsid sh -c '(setsid " + long + " &) &' </dev/null >/dev/null 2>&1 &)", // a daemon, forked twice
		"(" + long + " & kill -STOP $!) ",
		"trap '' TERM",
		"echo ready",
	}, "\n") + "\n"
}

func marked(t *testing.T, mark string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range dirs {
		b, _ := os.ReadFile(d)
		if bytes.Contains(b, []byte("1000."+mark)) {
			out = append(out, filepath.Base(filepath.Dir(d))+" "+string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// gone waits until nothing marked is left, and says how long that took.
func gone(t *testing.T, mark string) {
	t.Helper()
	begin := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left := marked(t, mark)
		if len(left) == 0 {
			t.Logf("gone after %v", time.Since(begin))
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("survivors: %q", left)
		}
		<-tick.C
	}
}

func mark() string { return strconv.FormatInt(time.Now().UnixNano()%1e12, 10) }

func TestSec_A_EXEC_24_StopTakesTheWholeTree(t *testing.T) {
	k := keeper(t, process.Options{})
	m := mark()
	p := run(t, k, sh(t, family(m)+"while :; do sleep 1000."+m+"; done"))
	printed(t, p, "ready")
	if n := len(marked(t, m)); n < 5 {
		t.Fatalf("only %d children: %q", n, marked(t, m))
	}
	p.Stop()
	exit, _ := finished(t, p)
	if left := marked(t, m); len(left) > 0 { // at once: Done says that nothing is left
		t.Errorf("survivors: %q", left)
	}
	if !exit.Stopped || exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

// What a command leaves behind ends with it, and is counted.
func TestSec_A_EXEC_24_NothingStaysBehind(t *testing.T) {
	k := keeper(t, process.Options{})
	m := mark()
	exit, out := finished(t, run(t, k, sh(t, family(m)+"exit 4")))
	if left := marked(t, m); len(left) > 0 {
		t.Errorf("survivors: %q", left)
	}
	if exit.Code != 4 || exit.Left < 4 || !strings.Contains(out, "ready") {
		t.Errorf("%+v %q", exit, out)
	}
}

// TestGatewayToKill is a gateway as far as the next test needs one: it runs a
// command and waits to be killed.
func TestGatewayToKill(t *testing.T) {
	text := os.Getenv(gatewayEnv)
	if text == "" {
		t.Skip("only as a part of another test")
	}
	k := process.New(process.Options{Helper: helper(guardianArg)})
	p, err := k.Start(t.Context(), process.Spec{
		Path: "/bin/sh", Argv: []string{"sh", "-c", text}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: os.Getenv("DIR"),
		TTY: os.Getenv("TTY") != "",
	})
	if err != nil {
		t.Fatal(err)
	}
	printed(t, p, "ready")
	fmt.Println("ready")
	select {}
}

func TestSec_A_EXEC_24_KilledGateway(t *testing.T) {
	for _, kind := range []string{"pipe", "tty"} {
		dir, m := folder(t), mark()
		effect := filepath.Join(dir, "x")
		text := family(m) + "sleep 1000." + m + "; touch " + effect
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGatewayToKill$")
		cmd.Env = []string{gatewayEnv + "=" + text, "DIR=" + dir, "TMPDIR=" + os.TempDir()}
		if kind == "tty" {
			cmd.Env = append(cmd.Env, "TTY=1")
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			t.Fatalf("%q %v", line, err)
		}
		if n := len(marked(t, m)); n < 5 {
			t.Fatalf("%s: only %d children", kind, n)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		gone(t, m)
		if _, err := os.Stat(effect); err == nil {
			t.Error("the effect happened after the kill")
		}
	}
}

// F-CRASH-08 as far as processes go; the state of the call is the session's.
func TestFault_F_CRASH_08_ChildrenDieWithTheGateway(t *testing.T) {
	TestSec_A_EXEC_24_KilledGateway(t)
}

// Somebody kills the guardian: the command dies with it, and nobody claims to
// know how.
func TestGuardianIsKilled(t *testing.T) {
	k := keeper(t, process.Options{})
	m := mark()
	p := run(t, k, sh(t, "sleep 1000."+m+" & sleep 1000."+m+" & echo ready; wait"))
	printed(t, p, "ready")
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Info().PID))
	if err != nil {
		t.Fatal(err)
	}
	guardian, err := strconv.Atoi(strings.Fields(string(b))[3])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(guardian, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if exit, _ := finished(t, p); exit.Lost == "" || exit.OK() {
		t.Errorf("%+v", exit)
	}
	gone(t, m)
}

// 1 GB costs what is kept of it, and the command is not slowed down for it.
func TestSec_A_EXEC_25_Flood(t *testing.T) {
	k := keeper(t, process.Options{})
	size := 1 << 30
	if testing.Short() || raceEnabled {
		size = 1 << 27
	}
	before := resident(t)
	p := run(t, k, sh(t, "printf begin; head -c "+strconv.Itoa(size)+" /dev/zero; printf end"))
	peak := before
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !p.Ended() {
		peak = max(peak, resident(t))
		<-tick.C
	}
	exit, _ := finished(t, p)
	o := p.Output()
	if !exit.OK() || o.Total != int64(size+8) || !bytes.HasPrefix(o.Head, []byte("begin")) || !bytes.HasSuffix(o.Tail, []byte("end")) {
		t.Errorf("%+v, %d bytes", exit, o.Total)
	}
	if int64(len(o.Head)+len(o.Tail))+o.Dropped != o.Total || len(o.Head)+len(o.Tail) > 200<<10 {
		t.Errorf("%d and %d kept, %d dropped", len(o.Head), len(o.Tail), o.Dropped)
	}
	t.Logf("%d MB more memory at the peak", (peak-before)>>20)
	if grown := peak - before; grown > 32<<20 {
		t.Errorf("%d MB", grown>>20)
	}
}

// resident is this program's memory in use.
func resident(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// Commands that print forever are stopped like any other.
func TestSec_A_EXEC_25_Endless(t *testing.T) {
	k := keeper(t, process.Options{})
	for _, text := range []string{"yes", "cat /dev/urandom", "trap '' TERM PIPE; while :; do echo x; done"} {
		s := sh(t, text)
		s.Timeout = 200 * time.Millisecond
		if exit, _ := finished(t, run(t, k, s)); !exit.TimedOut {
			t.Errorf("%s: %+v", text, exit)
		}
	}
}

// The folder is opened without following links, and it is the one that was
// looked at.
func TestSec_A_EXEC_16_FolderIsExchanged(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "pwd")
	base := folder(t)
	for _, d := range []string{"a/b", "evil/b"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.Dir = filepath.Join(base, "a", "b")
	if _, out := finished(t, run(t, k, s)); strings.TrimSpace(out) != s.Dir {
		t.Errorf("%q", out)
	}
	if err := os.Rename(filepath.Join(base, "a"), filepath.Join(base, "was")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("evil", filepath.Join(base, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "leads through a link") {
		t.Errorf("%v", err)
	}
	s.Dir, s.CheckDir = base, func(*os.File) error { return process.ErrMoved }
	if _, err := k.Start(t.Context(), s); err == nil {
		t.Error("another folder was taken")
	}
}

// A command gets no right that its guardian needed.
func TestRightsAreNotPassedOn(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status")
	name := filepath.Join(s.Dir, "s")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, plain := finished(t, run(t, k, s))
	s.Argv = append(s.Argv, name)
	s.Copies, s.Pin = []process.Copy{{Path: name, Data: []byte("x")}}, true
	if _, out := finished(t, run(t, k, s)); out != plain || plain == "" {
		t.Errorf("%q, without a copy %q", out, plain)
	}
}
