package gatewaytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// bundle is the building of hearth-channels, once for all tests of a package.
var bundle struct {
	once sync.Once
	err  error
}

// Channels puts the real hearth-channels beside the real program, where a gateway
// looks for it. Beside the program of build/test it was put by that.
func Channels(t testing.TB) {
	t.Helper()
	path := filepath.Join(filepath.Dir(Binary(t)), "hearth-channels")
	if os.Getenv("HEARTH_FAILPOINT_PROGRAM") != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("HEARTH_FAILPOINT_PROGRAM is set, and hearth-channels is not beside that program: %v", err)
		}
		return
	}
	bundle.once.Do(func() {
		cmd := exec.Command("go", "build", "-o", path, "github.com/hearth-assistant/hearth/app/channels")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			bundle.err = fmt.Errorf("build hearth-channels: %w\n%s", err, out)
		}
	})
	if bundle.err != nil {
		t.Fatal(bundle.err)
	}
}
