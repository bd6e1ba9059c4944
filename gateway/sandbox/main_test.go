package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

const confinedArg = "__confined"

// The test program confines itself and becomes a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == confinedArg {
		runtime.LockOSThread()
		fmt.Fprintln(os.Stderr, confined(os.Args[2], os.Args[3:]))
		os.Exit(99)
	}
	os.Exit(m.Run())
}

func confined(rules string, argv []string) error {
	var r sandbox.Rules
	if err := json.Unmarshal([]byte(rules), &r); err != nil {
		return err
	}
	argv, err := sandbox.Wrap(r, argv)
	if err != nil {
		return err
	}
	if err := sandbox.Enter(r); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, []string{"PATH=/usr/bin:/bin"})
}

// inside returns a shell's text as a command under the rules.
func inside(t *testing.T, r sandbox.Rules, argv ...string) *exec.Cmd {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{confinedArg, string(b)}, argv...)...)
	if len(r.Write) > 0 {
		cmd.Dir = r.Write[0]
	}
	return cmd
}

func need(t *testing.T) {
	t.Helper()
	r := sandbox.Probe()
	if r.Confined {
		return
	}
	if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
		t.Fatal("no sandbox here: ", r.Summary())
	}
	t.Skip("no sandbox here: ", r.Summary())
}
