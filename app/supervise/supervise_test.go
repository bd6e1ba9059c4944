package supervise

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/sleep"
)

// The test program is its own gateway: it says that it is there by a file and
// ends when its standard input does.
func TestMain(m *testing.M) {
	switch os.Getenv("SUPERVISE_CHILD") {
	case "":
		os.Exit(m.Run())
	case "crash":
		fmt.Fprintln(os.Stderr, "error: the port is taken")
		os.Exit(3)
	case "gateway":
		_ = os.WriteFile(os.Getenv("SUPERVISE_FILE"), nil, 0o600)
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = os.Remove(os.Getenv("SUPERVISE_FILE"))
	case "parent":
		os.Exit(m.Run())
	}
}

// TestParent starts a gateway and waits to be killed, in a process of its own.
func TestParent(t *testing.T) {
	if os.Getenv("SUPERVISE_CHILD") != "parent" {
		t.Skip("runs in a process that another test starts")
	}
	Run(t.Context(), options(os.Getenv("SUPERVISE_FILE"), nil))
}

func child(kind, file string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SUPERVISE_CHILD="+kind, "SUPERVISE_FILE="+file)
	return cmd
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// options attach as long as the file is there.
func options(file string, attached chan<- struct{}) Options {
	return Options{
		Command: func() *exec.Cmd { return child("gateway", file) },
		Attach: func(ctx context.Context) error {
			if !there(file) {
				return ErrNotRunning
			}
			if attached != nil {
				attached <- struct{}{}
			}
			for there(file) && sleep.For(ctx, 5*time.Millisecond) == nil {
			}
			return errors.New("lost")
		},
	}
}

func gone(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for there(file) {
		if sleep.For(ctx, 5*time.Millisecond) != nil {
			t.Fatal("the gateway is still there")
		}
	}
}

func TestStartsAGatewayAndEndsItWithItself(t *testing.T) {
	file := t.TempDir() + "/there"
	attached := make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { Run(ctx, options(file, attached)); close(done) }()
	<-attached
	cancel()
	<-done
	if there(file) {
		t.Error("the gateway outlived its supervisor")
	}
}

func TestAttachesToAGatewayThatIsThere(t *testing.T) {
	file := t.TempDir() + "/there"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	attached := make(chan struct{}, 10)
	o := options(file, attached)
	o.Command = func() *exec.Cmd { t.Error("a second gateway was started"); return child("crash", file) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { Run(ctx, o); close(done) }()
	<-attached
	cancel()
	<-done
	if !there(file) {
		t.Error("it ended a gateway that it had not started")
	}
}

// Twenty times the gateway is killed, and twenty times there is another.
func TestFault_F_GW_GatewayKilledTwentyTimes(t *testing.T) {
	file := t.TempDir() + "/there"
	attached := make(chan struct{}, 30)
	var current atomic.Pointer[exec.Cmd]
	o := options(file, attached)
	o.Command = func() *exec.Cmd {
		c := child("gateway", file)
		current.Store(c)
		return c
	}
	o.Wait = func(ctx context.Context, _ time.Duration) error { return sleep.For(ctx, time.Millisecond) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { Run(ctx, o); close(done) }()
	for range 20 {
		<-attached
		killed := current.Load()
		_ = os.Remove(file)
		_ = killed.Process.Kill()
	}
	<-attached
	cancel()
	<-done
}

func TestFault_F_CRASH_22_ACrashLoopWaitsLongerEachTimeAndSaysWhy(t *testing.T) {
	var waits []time.Duration
	ctx, cancel := context.WithCancel(t.Context())
	Run(ctx, Options{
		Command: func() *exec.Cmd { return child("crash", "") },
		Attach:  func(context.Context) error { return ErrNotRunning },
		OnDown: func(why error, next time.Duration) {
			if !strings.Contains(why.Error(), "the port is taken") {
				t.Errorf("it does not say why: %v", why)
			}
			if waits = append(waits, next); len(waits) == 9 {
				cancel()
			}
		},
		Wait: func(ctx context.Context, _ time.Duration) error { return sleep.For(ctx, time.Millisecond) },
	})
	if waits[0] != minBackoff || waits[1] != 2*minBackoff || waits[8] != maxBackoff {
		t.Errorf("waited %v", waits)
	}
}

// The supervisor is killed: the lifeline ends the gateway.
func TestFault_F_GW_NoOrphanWhenTheSupervisorIsKilled(t *testing.T) {
	file := t.TempDir() + "/there"
	parent := child("parent", file)
	parent.Args = append(parent.Args, "-test.run=^TestParent$")
	out, err := parent.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = bufio.NewReader(out).WriteTo(io.Discard) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !there(file) {
		if sleep.For(ctx, 5*time.Millisecond) != nil {
			t.Fatal("no gateway was started")
		}
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	gone(t, file)
}
