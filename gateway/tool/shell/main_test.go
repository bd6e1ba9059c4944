package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

const guardianArg = "__child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guardianArg {
		rerun.Exit(process.Child())
	}
	harden() // as a gateway is
	goleak.VerifyTestMain(m)
}

// bench is a home with a workspace and the tools.
type bench struct {
	t         testing.TB
	home      string
	workspace string
	wishes    []shell.Wish
	answer    func(shell.Wish) error // nil: yes
	settings  shell.Settings
	ended     chan string
	o         shell.Options
	tools     *tool.Set
}

func newBench(t testing.TB, environ ...string) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests speak to a Unix shell")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, home: home, workspace: filepath.Join(home, "Hearth"), ended: make(chan string, 8)}
	if err := os.Mkdir(b.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	var held safepath.Workspaces
	t.Cleanup(held.Close)
	k := process.New(process.Options{Helper: []string{os.Args[0], os.Args[0], guardianArg}})
	b.o = shell.Options{
		Keeper: k, Resolver: plan.New(plan.Options{Home: home, Confined: sandbox.Probe().Confined}), Home: home,
		Environ: append([]string{"LANG=C.UTF-8"}, environ...), Hide: []string{filepath.Join(home, ".local", "share", "hearth")},
		Settings: func() shell.Settings { return b.settings }, Probe: sandbox.Probe,
		Hold: held.Hold, Stay: func() []string { return []string{b.workspace} },
		Permit: func(_ context.Context, _ tool.Call, w shell.Wish) (shell.Grant, error) {
			b.wishes = append(b.wishes, w)
			if b.answer != nil {
				if err := b.answer(w); err != nil {
					return shell.Grant{}, err
				}
			}
			return shell.Grant{Unconfined: w.Unconfined}, nil
		},
		Ended: func(_ tool.Scope, i process.Info, output string) { b.ended <- i.ID + " " + output },
	}
	if b.tools, err = tool.NewSet(shell.New(b.o)...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := k.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) call(name string, args any) tool.Call {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return tool.Call{
		Scope: tool.Scope{SessionKey: "agent:main:main", AgentID: "main", Workspace: b.workspace, Owner: true},
		ID:    "c1", Args: raw, Progress: func(string) {},
	}
}

type args map[string]any

// exec runs the tool exec.
func (b *bench) exec(a args) (string, shell.Details, error) { return b.run("exec", a) }

func (b *bench) run(name string, a args) (string, shell.Details, error) {
	b.t.Helper()
	t, _ := b.tools.Lookup(name)
	res, err := t.Run(b.t.Context(), b.call(name, a))
	var d shell.Details
	if len(res.Details) > 0 {
		if jerr := json.Unmarshal(res.Details, &d); jerr != nil {
			b.t.Fatal(jerr)
		}
	}
	return res.Text, d, err
}

func (b *bench) write(name, text string, mode os.FileMode) string {
	b.t.Helper()
	name = filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return name
}

func (b *bench) must(text string, d shell.Details, err error) func(want string) shell.Details {
	b.t.Helper()
	return func(want string) shell.Details {
		b.t.Helper()
		if err != nil || !strings.Contains(text, want) {
			b.t.Errorf("%q %+v %v, want %q", text, d, err, want)
		}
		return d
	}
}

var errNo = errors.New("the owner said no")

// until polls a command until all that it printed holds a text.
func (b *bench) until(id, want string) {
	b.t.Helper()
	for range 100 {
		if text, _, err := b.run("process", args{"action": "log", "sessionId": id}); err != nil || strings.Contains(text, want) {
			return
		}
		_, _, _ = b.run("process", args{"action": "poll", "sessionId": id, "timeout": 500})
	}
	b.t.Errorf("%s never printed %q", id, want)
}
