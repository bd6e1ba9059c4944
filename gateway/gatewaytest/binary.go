package gatewaytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program is Hearth with its failpoints in it, built once for all tests of a
// package that asks for it.
var program struct {
	wanted bool // its package's TestMain is Main
	once   sync.Once
	dir    string // where it was built, "" when no test asked for it
	err    error
}

// Main is the TestMain of packages whose tests run the real program.
func Main(m *testing.M) {
	program.wanted = true
	code := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
	os.Exit(code)
}

// Binary is the real program, with the failpoints in it. build/test builds it once
// for all packages and says where it is.
func Binary(t testing.TB) string {
	t.Helper()
	if built := os.Getenv("HEARTH_FAILPOINT_PROGRAM"); built != "" {
		return built
	}
	if !program.wanted {
		t.Fatal("TestMain of this package has to be gatewaytest.Main, which removes the program again")
	}
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "hearth-crash"); program.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-tags", "failpoint", "-o", program.dir, "github.com/hearth-assistant/hearth/app/hearth")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return filepath.Join(program.dir, "hearth")
}
