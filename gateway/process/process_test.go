package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/process"
)

func TestHowItEnds(t *testing.T) {
	k := keeper(t, process.Options{})
	for _, c := range []struct {
		text, want string
		exit       process.Exit
	}{
		{"echo out; echo err >&2", "out\nerr\n", process.Exit{}},
		{"exit 3", "", process.Exit{Code: 3}},
		{"kill -SEGV $$", "", process.Exit{Code: -1, Signal: "SIGSEGV"}},
		{"cat", "", process.Exit{}}, // nobody writes to it
		{"pwd; ls -l /proc/self/fd | wc -l", "", process.Exit{}},
	} {
		exit, out := finished(t, run(t, k, sh(t, c.text)))
		if exit != c.exit || c.want != "" && out != c.want {
			t.Errorf("%s: %+v %q", c.text, exit, out)
		}
	}
	if _, err := k.Start(t.Context(), process.Spec{Path: "/no/such", Argv: []string{"x"}, Dir: folder(t)}); err == nil ||
		!strings.Contains(err.Error(), "/no/such could not be started: no such file") {
		t.Error(err)
	}
	if n := len(k.List("o")); n != 5 || len(k.List("p")) != 0 {
		t.Errorf("%d", n)
	}
}

// Nothing of the gateway reaches a command: no open file, no variable, no
// signal that is ignored.
func TestNothingIsInherited(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc")
	}
	t.Setenv("HEARTH_SECRET", "leak")
	k := keeper(t, process.Options{})
	_, out := finished(t, run(t, k, sh(t, "ls /proc/self/fd | tr '\\n' ' '; grep -E 'SigIgn|SigBlk' /proc/self/status; env")))
	if strings.Contains(out, "leak") || strings.Contains(out, "GOMAXPROCS") {
		t.Errorf("%q", out)
	}
	if !strings.HasPrefix(out, "0 1 2 3 ") || strings.HasPrefix(out, "0 1 2 3 4") { // 3 is ls reading the folder
		t.Errorf("open files: %q", out)
	}
	for _, set := range []string{"SigBlk", "SigIgn"} {
		if !strings.Contains(out, set+":\t0000000000000000") {
			t.Errorf("%s: %q", set, out)
		}
	}
}

func TestInput(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "while read x; do echo got $x; done; echo end")
	s.Input = true
	p := run(t, k, s)
	if err := p.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	printed(t, p, "got one")
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if exit, out := finished(t, p); !exit.OK() || out != "got one\nend\n" {
		t.Errorf("%+v %q", exit, out)
	}
	q := run(t, k, sh(t, "sleep 60"))
	if err := q.Write([]byte("x")); !errors.Is(err, process.ErrInput) {
		t.Error(err)
	}
	if err := q.Resize(10, 10); !errors.Is(err, process.ErrNoTerminal) {
		t.Error(err)
	}
}

func TestTerminal(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "tty; stty size; read x; stty size; echo got $x; exec cat")
	s.TTY, s.Cols, s.Rows = true, 120, 40
	p := run(t, k, s)
	out := printed(t, p, "40 120")
	if !strings.Contains(out, "/dev/") {
		t.Errorf("%q", out)
	}
	if err := p.Resize(90, 30); err != nil {
		t.Fatal(err)
	}
	if err := p.Write([]byte("hi\n")); err != nil {
		t.Fatal(err)
	}
	printed(t, p, "got hi")
	if err := p.Write([]byte{0x03}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	exit, out := finished(t, p)
	if exit.Signal != "SIGINT" || !strings.Contains(out, "30 90") {
		t.Errorf("%+v %q", exit, out)
	}
}

func TestTimeout(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "trap '' TERM; echo on; sleep 100; sleep 100")
	s.Timeout = 300 * time.Millisecond
	if exit, _ := finished(t, run(t, k, s)); !exit.TimedOut || exit.Signal == "" {
		t.Errorf("%+v", exit)
	}
}

// Many at once is refused, not queued; ended ones are forgotten in order; each
// owner sees its own.
func TestKeeper(t *testing.T) {
	k := keeper(t, process.Options{Max: 2, KeepEnded: 1})
	a := run(t, k, sh(t, "sleep 60"))
	b := run(t, k, sh(t, "sleep 60"))
	if _, err := k.Start(t.Context(), sh(t, "true")); !errors.Is(err, process.ErrTooMany) {
		t.Error(err)
	}
	if _, err := k.Find("p", a.ID()); !errors.Is(err, process.ErrNotFound) {
		t.Error(err)
	}
	if err := k.Remove("o", a.ID()); err == nil {
		t.Error("a running one was removed")
	}
	a.Stop()
	finished(t, a)
	if exit := a.Info().Exit; !exit.Stopped || exit.Signal != "SIGTERM" {
		t.Errorf("%+v", exit)
	}
	if err := k.Remove("o", a.ID()); err != nil {
		t.Error(err)
	}
	k.StopOwner("o")
	finished(t, b)
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := k.Start(t.Context(), sh(t, "true")); !errors.Is(err, process.ErrClosed) {
		t.Error(err)
	}
}

// The folder for temporary files goes with the command.
func TestTempIsRemoved(t *testing.T) {
	k := keeper(t, process.Options{})
	s := sh(t, "touch $TMPDIR/x")
	s.Temp = filepath.Join(t.TempDir(), "tmp")
	s.Env = append(s.Env, "TMPDIR="+s.Temp)
	if err := os.Mkdir(s.Temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if exit, out := finished(t, run(t, k, s)); !exit.OK() {
		t.Errorf("%+v %q", exit, out)
	}
	if _, err := os.Stat(s.Temp); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
}
