package child_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

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

// examples are those of docs/examples, in three languages; each returns what starts
// it, or skips the test where the language is not there.
func examples() map[string]func(t *testing.T) []string {
	at := "../../../../docs/examples/"
	return map[string]func(t *testing.T) []string{
		"Python": func(t *testing.T) []string {
			t.Helper()
			text, err := os.ReadFile(at + "channel-python/lines.py")
			return []string{"python3", written(t, "lines.py", text, err)}
		},
		"TypeScript": func(t *testing.T) []string {
			t.Helper()
			text, err := os.ReadFile(at + "channel-typescript/lines.ts")
			js := api.Transform(string(text), api.TransformOptions{Loader: api.LoaderTS, Format: api.FormatESModule, Platform: api.PlatformNode})
			if len(js.Errors) > 0 {
				t.Fatal(js.Errors)
			}
			return []string{"node", written(t, "lines.mjs", js.Code, err)}
		},
		"Go": func(t *testing.T) []string {
			t.Helper()
			program := filepath.Join(t.TempDir(), "channel-go")
			if out, err := exec.Command("go", "build", "-o", program, at+"channel-go").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return []string{program}
		},
	}
}

func written(t *testing.T, name string, text []byte, err error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// account connects an example to a server.
func account(e *execution.Environment, argv []string, server string) channel.Account {
	return channel.Account{
		ID: "default", Texts: map[string]string{"command": strings.Join(argv, "\n"), "options": "server=" + server},
		Launch: child.Launcher(e, nil), Now: time.Now, Logger: slog.New(slog.DiscardHandler), MaxFile: 1 << 20,
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

// passes: an example passes the suite of every channel, as a process in its sandbox,
// and ends with it.
func passes(t *testing.T, language string) {
	t.Helper()
	e := machine(t, t.TempDir())
	argv := examples()[language](t)
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skipf("%s is not installed; on Debian: sudo apt-get install python3-minimal, and Node from nodejs.org", argv[0])
	}
	channeltest.Run(t, func(t *testing.T) *channeltest.Setup {
		s := newServer(t)
		ch, err := program.Kind().New(account(e, argv, s.at.Addr().String()))
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

func TestChannelInPython(t *testing.T)     { passes(t, "Python") }
func TestChannelInTypeScript(t *testing.T) { passes(t, "TypeScript") }
func TestChannelInGo(t *testing.T)         { passes(t, "Go") }

// TestCheck: what people try their programs with finds nothing wrong with the
// examples, and tries all of the one that offers a test network.
func TestCheck(t *testing.T) {
	for language, rows := range map[string]int{"Python": 40, "TypeScript": 10, "Go": 10} {
		t.Run(language, func(t *testing.T) {
			e := machine(t, t.TempDir())
			argv := examples()[language](t)
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skip(err)
			}
			o := check.Options{
				Argv: argv, Settings: map[string]string{"server": "127.0.0.1:1"}, Launch: child.Launcher(e, nil), Wait: 30 * time.Second,
				Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			}
			tried := 0
			failed, err := check.Run(t.Context(), o, func(r check.Result) error {
				tried++
				if r.State == check.Failed {
					t.Errorf("%+v", r)
				}
				return nil
			})
			if err != nil || failed != 0 || tried < rows {
				t.Errorf("%d of %d rows failed, %v", failed, tried, err)
			}
		})
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
	p, err := child.Launcher(e, nil)(t.Context(), "program", "default", []string{"sh", "-c",
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
