//go:build desktop && linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// built are the two programs, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-desktop-")
	if err != nil {
		return "", err
	}
	for _, b := range [][]string{{"hearth", "../hearth"}, {"hearth-tray", "-tags", "desktop", "."}} {
		args := append([]string{"build", "-o", filepath.Join(dir, b[0])}, b[1:]...)
		cmd := exec.Command("go", args...)
		if b[0] == "hearth" {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); os.Getenv("DISPLAY") != "" && err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// program is a running hearth-tray with a home of its own.
type program struct {
	t    *testing.T
	home string
	dir  statedir.Dir
	bin  string   // where the programs lie; empty: where they were built
	env  []string // instead of the tests' own
	cmd  *exec.Cmd
	done chan error
	log  *strings.Builder
}

func newProgram(t *testing.T) *program {
	t.Helper()
	home, state := desktoptest.Home(t, fmt.Sprintf(`{ gateway: { port: %s }, agents: { defaults: { skipBootstrap: true } } }`,
		desktoptest.Port(t)))
	return &program{t: t, home: home, dir: statedir.Dir(state)}
}

// newProgramIn is another program in the home of p.
func newProgramIn(t *testing.T, p *program) *program {
	return &program{t: t, home: p.home, dir: p.dir}
}

func (p *program) start(more ...string) {
	p.t.Helper()
	dir, err := built()
	if err != nil {
		p.t.Fatal(err)
	}
	if p.bin != "" {
		dir = p.bin
	}
	p.cmd = exec.Command(filepath.Join(dir, "hearth-tray"), more...)
	p.cmd.Env = append(desktoptest.Environ(p.home, string(p.dir)), p.env...)
	p.log = &strings.Builder{}
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.done = make(chan error, 1)
	go func() { p.done <- p.cmd.Wait() }()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if p.t.Failed() {
			p.t.Logf("hearth-tray said:\n%s", p.log)
		}
	})
}

// ended waits for the end of the program.
func (p *program) ended() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("it did not end")
	}
	return nil
}

// gatewayPID is the gateway's, 0: none runs.
func (p *program) gatewayPID() int {
	r, err := p.dir.ReadRuntime()
	if err != nil {
		return 0
	}
	return r.PID
}

func (p *program) call(method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	c, err := client.Open(ctx, p.dir, client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"},
		Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Call(ctx, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

func running(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

func kill(t *testing.T, pid int) {
	t.Helper()
	pr, err := os.FindProcess(pid)
	if err == nil {
		err = pr.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}
