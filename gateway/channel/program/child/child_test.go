package child_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/program/check"
	"github.com/hearth-assistant/hearth/gateway/channel/program/child"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

// The test program is the guardian of what it starts.
const guardianArg = "__child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guardianArg {
		rerun.Exit(process.Child())
	}
	os.Exit(m.Run())
}

// machine is this one, with a home folder of the test's.
func machine(t *testing.T, home string) *execution.Environment {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of Unix")
	}
	k := process.New(process.Options{Helper: []string{os.Args[0], os.Args[0], guardianArg}, Now: time.Now})
	t.Cleanup(func() { _ = k.Close(context.WithoutCancel(t.Context())) })
	return &execution.Environment{
		Place: launch.Place{Home: home, Environ: []string{"LANG=C.UTF-8", "HOME=" + home}}, Processes: k, Sandbox: sandbox.Probe(),
		SearchPath: "/usr/local/bin:/usr/bin:/bin",
	}
}

// account connects the example of docs/examples to a server.
func account(t *testing.T, e *execution.Environment, server string) channel.Account {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("Python is not installed; on Debian: sudo apt-get install python3-minimal")
	}
	script := filepath.Join(t.TempDir(), "lines.py")
	text, err := os.ReadFile("../../../../docs/examples/channel-python/lines.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return channel.Account{
		ID: "default", Texts: map[string]string{"command": "python3\n" + script, "options": "server=" + server},
		Launch: child.Launcher(e), Now: time.Now, Logger: slog.New(slog.DiscardHandler), MaxFile: 1 << 20,
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

// TestChannelInPython: the example of a channel in Python passes the suite of every channel,
// as a process in its sandbox, and ends with it.
func TestChannelInPython(t *testing.T) {
	e := machine(t, t.TempDir())
	channeltest.Run(t, func(t *testing.T) *channeltest.Setup {
		s := newServer(t)
		ch, err := program.Kind().New(account(t, e, s.at.Addr().String()))
		if err != nil {
			t.Fatal(err)
		}
		return &channeltest.Setup{
			Channel: ch, Net: s, Connected: true, Waits: 20 * time.Second,
			Target:  channel.Target{Account: "default", Conversation: "ada"},
			Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "ada", SenderID: "ada"},
		}
	})
	running := func(i process.Info) bool { return i.State == process.Running }
	until(t, "the end of its processes", func() bool { return !slices.ContainsFunc(e.Processes.List("channel:program:default"), running) })
}

// TestCheck: what people try their programs with finds nothing wrong with the
// example, and tries all of it.
func TestCheck(t *testing.T) {
	e := machine(t, t.TempDir())
	a := account(t, e, "127.0.0.1:1")
	rows := 0
	argv := strings.Split(a.Texts["command"], "\n")
	o := check.Options{Argv: argv, Launch: a.Launch, Wait: 30 * time.Second, Now: time.Now, Logger: a.Logger}
	failed, err := check.Run(t.Context(), o, func(r check.Result) error {
		rows++
		if r.State == check.Failed {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil || failed != 0 || rows < 40 {
		t.Errorf("%d of %d rows failed, %v", failed, rows, err)
	}
}

// TestSec_A_CH_ProgramIsConfined: a program sees no file of the person, and none of
// the gateway's environment.
func TestSec_A_CH_ProgramIsConfined(t *testing.T) {
	home := t.TempDir()
	e := machine(t, home)
	if !e.Sandbox.Confined {
		if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
			t.Fatal("there is no sandbox here, and HEARTH_REQUIRE_SANDBOX is set")
		}
		t.Skip(e.Sandbox.Summary())
	}
	private := filepath.Join(home, "diary")
	if err := os.WriteFile(private, []byte("secret words"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(home, "named")
	if err := os.WriteFile(script, []byte("named words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEARTH_TEST_CANARY", "canary")
	p, err := child.Launcher(e)(t.Context(), "program", "default", []string{"sh", "-c",
		"cat " + private + "; echo x > " + private + "; cat \"$1\"; echo x > \"$1\"; env; echo mine > file && cat file; pwd", "sh", script})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := p.Output().Read(buf)
		out.Write(buf[:n])
		if err != nil {
			break
		}
	}
	<-p.Done()
	text, _ := os.ReadFile(private)
	if strings.Contains(out.String(), "secret words") || strings.Contains(out.String(), "canary") || string(text) != "secret words" {
		t.Errorf("it saw or changed what is not its own:\n%s", out.String())
	}
	if named, _ := os.ReadFile(script); !strings.Contains(out.String(), "named words") || string(named) != "named words\n" {
		t.Errorf("what an argument names can be read and not changed: %s", out.String())
	}
	if !strings.Contains(out.String(), "mine\n"+p.Folder()+"\n") || !strings.Contains(out.String(), "HOME="+p.Folder()) {
		t.Errorf("it has no folder of its own:\n%s", out.String())
	}
}
