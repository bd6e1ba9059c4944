package process_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

// The test program is its own guardian, and its own gateway to be killed.
const (
	guardianArg = "__child"
	busyArg     = "__busy-child" // a guardian whose memory is collected all the time
	stuckArg    = "__stuck-child"
	gatewayEnv  = "HEARTH_TEST_COMMAND"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guardianArg {
		rerun.Exit(process.Child())
	}
	if len(os.Args) > 1 && os.Args[1] == busyArg {
		go litter()
		rerun.Exit(process.Child())
	}
	if len(os.Args) > 1 && os.Args[1] == stuckArg {
		<-time.After(time.Hour) // it reads nothing, starts nothing, and does not end
	}
	harden() // as a gateway is
	goleak.VerifyTestMain(m)
}

// litter gives the collector work until the program ends.
func litter() {
	for range time.Tick(50 * time.Microsecond) {
		runtime.KeepAlive(make([]byte, 1<<20))
	}
}

func helper(as string) []string { return []string{os.Args[0], os.Args[0], as} }

func keeper(t *testing.T, o process.Options) *process.Keeper {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests speak to a Unix shell")
	}
	if o.Helper == nil {
		o.Helper = helper(guardianArg)
	}
	k := process.New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := k.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return k
}

// sh is a command for the shell in a folder of the test.
func sh(t *testing.T, text string) process.Spec {
	t.Helper()
	return process.Spec{Owner: "o", Title: text, Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", text}, Env: []string{"PATH=/usr/bin:/bin"},
		Dir: folder(t)}
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if real, err := os.Readlink(dir); err == nil {
		return real
	}
	return dir
}

func run(t *testing.T, k *process.Keeper, s process.Spec) *process.Process {
	t.Helper()
	p, err := k.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// finished waits for a process and returns how it ended and what it printed.
func finished(t *testing.T, p *process.Process) (process.Exit, string) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		t.Fatalf("it goes on: %+v", p.Info())
	}
	o := p.Output()
	return p.Info().Exit, string(o.Head) + string(o.Tail)
}

// printed waits until a process has printed a text.
func printed(t *testing.T, p *process.Process, text string) string {
	t.Helper()
	deadline := time.After(30 * time.Second)
	var all string
	for {
		more := p.More()
		o := p.Next()
		if all += string(o.Head) + string(o.Tail); strings.Contains(all, text) {
			return all
		}
		select {
		case <-more:
		case <-p.Done():
			t.Fatalf("it ended with %q, %+v", all, p.Info().Exit)
		case <-deadline:
			t.Fatalf("it never printed %q: %q", text, all)
		}
	}
}
