//go:build desktop && linux

package window

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// compiled are the programs, built once.
var compiled = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-window-")
	if err != nil {
		return "", err
	}
	for name, args := range map[string][]string{
		"hearth":        {"../hearth"},
		"hearth-window": {"-tags", "desktop,production,webkit2_41", "../.."},
	} {
		cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(dir, name)}, args...)...)
		if name == "hearth" {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("DISPLAY") != "" {
		if dir, err := compiled(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// built are the programs, beside each other as an installation has them.
func built(t *testing.T, names ...string) string {
	t.Helper()
	from, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	dir := desktoptest.Folder(t)
	for _, name := range names {
		if err := os.Link(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shown is a window of ours on the screen.
type shown struct {
	t         *testing.T
	home      string
	bin       string
	inspector string
	cmd       *exec.Cmd
	done      chan error
}

func show(t *testing.T, bin, home string, args ...string) *shown {
	t.Helper()
	s := &shown{t: t, home: home, bin: bin, inspector: "127.0.0.1:" + desktoptest.Port(t)}
	s.cmd = exec.Command(filepath.Join(bin, "hearth-window"), args...)
	s.cmd.Env = append(s.env(), "WEBKIT_INSPECTOR_HTTP_SERVER="+s.inspector)
	// A file: WebKit's processes hold it too, and one may take ten seconds to end.
	log, err := os.CreateTemp(t.TempDir(), "said")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.done = make(chan error, 1)
	go func() { s.done <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.gateway("KILL")
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("hearth-window said:\n%s", said)
		}
	})
	return s
}

func (s *shown) env() []string {
	return desktoptest.Environ(s.home, filepath.Join(s.home, "state"))
}

// gateway signals the gateway of this home, if there is one.
func (s *shown) gateway(signal string) {
	b, err := os.ReadFile(filepath.Join(s.home, "state", "gateway.json"))
	if err != nil {
		return
	}
	var r struct{ PID int }
	if json.Unmarshal(b, &r) == nil && r.PID > 0 {
		_ = exec.Command("kill", "-"+signal, fmt.Sprint(r.PID)).Run()
	}
}

func home(t *testing.T) string {
	t.Helper()
	h, _ := desktoptest.Home(t, fmt.Sprintf(`{ gateway: { port: %s }, agents: { defaults: { model: "guide/guide" } } }`, desktoptest.Port(t)))
	return h
}
